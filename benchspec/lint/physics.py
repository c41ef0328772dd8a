"""What a model must read for a token, and how fast the devices of an arm can read it.

Decode at one stream reads every active weight once per token; a device cannot read faster than its
memory. Layer splits read one card after the other, tensor splits all at once.
"""

from benchspec.lint import figures
from benchspec.lint.arm import Arm
from benchspec.lint.figures import Interval
from benchspec.spec.models import Device
from benchspec.spec.quantity import Quantity, parse_quantity

MOE_REACH = 0.65
"""Largest fraction of the memory bandwidth that decode of a mixture of experts is known to reach
(llama.cpp and MLX on shared-memory machines, batch 1: 60-65 %)."""
DENSE_REACH = 0.9
"""The same for dense models: measured reads reach 85-96 % of the datasheet on GPUs."""


def is_moe(arm: Arm) -> bool:
    """True when the spec says that only part of the weights is read for a token."""
    parameters = arm.model.parameters
    if parameters and parameters.total and parameters.active:
        return parameters.active < parameters.total
    return arm.model.experts is not None or "moe" in (arm.model.architecture or "").lower()


def bytes_per_token(arm: Arm) -> Interval | None:
    """Bytes of weights read for one decoded token; None where the spec does not say."""
    model = arm.model
    if model.bytes_per_token:
        return figures.of(model.bytes_per_token)
    parameters, bits = model.parameters, model.bits_per_weight
    if not parameters or not bits or (is_moe(arm) and not parameters.active):
        return None
    read = parameters.active or parameters.total
    return Interval(read * bits / 8, read * bits / 8) if read else None


def split(arm: Arm) -> str:
    """`one` device, `layer` (one after the other), `tensor` (all at once), or `unknown`."""
    if len(arm.devices) <= 1:
        return "one"
    if arm.kind == "llama.cpp":
        mode = str(arm.value("split-mode") or "layer")
        return {"none": "one", "layer": "layer", "tensor": "tensor"}.get(mode, "unknown")
    if (arm.number("tensor-parallel-size") or 1) >= len(arm.devices):
        return "tensor"
    return "layer" if (arm.number("pipeline-parallel-size") or 1) > 1 else "unknown"


def bandwidth(arm: Arm) -> Interval | None:
    """Bytes per second at which the arm's devices together read the weights once.

    Layer split: 1 / sum(share / bandwidth); tensor split: the slowest card times their number.
    """
    rates = [_device_bandwidth(device, arm.model.resident) for device in arm.devices]
    known = [rate for rate in rates if rate]
    how = split(arm)
    if not known or len(known) < len(rates) or how == "unknown":
        return None
    if how == "one":
        return known[0]
    if how == "tensor":
        return Interval(
            min(r.low for r in known) * len(known), min(r.high for r in known) * len(known)
        )
    shares = [device.share.mid if device.share else 1 / len(known) for device in arm.devices]
    total = sum(shares)
    low = total / sum(s / r.low for s, r in zip(shares, known, strict=True))
    high = total / sum(s / r.high for s, r in zip(shares, known, strict=True))
    return Interval(low, high)


def _device_bandwidth(device: Device, resident: Quantity | None) -> Interval | None:
    """The stated bandwidth, or that of the curve's smallest buffer that holds the model."""
    if device.memory_bandwidth:
        return figures.of(device.memory_bandwidth)
    sizes = sorted((parse_quantity(size, "size").mid, size) for size in device.bandwidth_curve)
    if not sizes:
        return None
    wanted = resident.mid if resident else sizes[-1][0]
    size = next((name for bytes_, name in sizes if bytes_ >= wanted), sizes[-1][1])
    return figures.of(device.bandwidth_curve[size])
