"""The measured path: requests, the socket client, arrival schedules, the driver, calibration."""
