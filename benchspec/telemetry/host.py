"""Processor time around a cell: what the engine took, what benchspec took, and everything else."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import psutil

from benchspec.store.records import QuietRecord

QUIET_SHARE = 0.10
"""Foreign share of all cores below which a machine counts as quiet: the timer of /proc/stat ticks
every 10 ms, and an idle desktop or cloud machine stays below this."""

SHORTEST_LOOK_S = 0.5
"""How long a look takes at least while quiet is waited for: fifty ticks of that timer."""

PATIENCE_S = 20.0

NOT_FOREIGN_FIELDS = frozenset({"idle", "iowait", "guest", "guest_nice"})
"""Fields of the system's processor times that are no work, or are counted in another field."""

UNSEEN = "the engine runs on this machine, but its processes cannot be seen"

Pids = Callable[[], Iterable[int]]


@dataclass(frozen=True)
class Reading:
    """Seconds of processor time since boot (whole machine) or since start (processes)."""

    at_s: float
    busy_s: float
    steal_s: float | None
    engine_s: float | None
    own_s: float

    def foreign_s(self, since: Reading) -> float:
        """Busy time since `since` that was neither the engine's nor ours, never below zero.

        The three are read one after the other and counted in ticks, hence the bound.
        """
        engine_s = (self.engine_s or 0.0) - (since.engine_s or 0.0)
        own_s = self.own_s - since.own_s
        return max(0.0, self.busy_s - since.busy_s - engine_s - own_s)


class Host:
    """Reads this machine's processor times for one engine, whose processes `pids` lists.

    A process that ended keeps the last time that was seen of it. `local` is False for an engine on
    another machine; a local one without visible processes cannot be told from foreign work.
    """

    def __init__(self, pids: Pids, *, local: bool = True) -> None:
        self.cores = os.cpu_count() or 1
        self.unseen = local and not pids()
        self._pids = pids
        self._engine_s: dict[int, float] = {}
        self._own_s: dict[int, float] = {}
        self.idle_s: tuple[float, float] | None = None
        """Begin and end of the last idle window, on CLOCK_MONOTONIC."""

    def read(self) -> Reading:
        system = psutil.cpu_times()
        fields = system._asdict()
        busy_s = sum(time_s for name, time_s in fields.items() if name not in NOT_FOREIGN_FIELDS)
        engine = set(self._pids())
        _update(self._engine_s, engine)
        _update(self._own_s, _own_pids() - engine)
        return Reading(
            at_s=time.monotonic(),
            busy_s=busy_s,
            steal_s=fields.get("steal"),
            engine_s=sum(self._engine_s.values()) if self._engine_s else None,
            own_s=sum(self._own_s.values()),
        )

    def share(self, begin: Reading, end: Reading) -> float:
        """Foreign share of all cores between two readings, 0 to 1; an unseen engine's included."""
        wall_s = max(end.at_s - begin.at_s, 1e-9)
        return min(1.0, end.foreign_s(begin) / (wall_s * self.cores))

    def idle_share(self, window_s: float) -> float:
        """Foreign share of all cores while nothing is asked of the engine, for `window_s`."""
        begin = self.read()
        time.sleep(window_s)
        end = self.read()
        self.idle_s = begin.at_s, end.at_s
        return self.share(begin, end)

    def settle(
        self, window_s: float, patience_s: float, last: float | None, stop: Callable[[], bool]
    ) -> tuple[float | None, float]:
        """Look until the machine is quiet, `patience_s` are over, or `stop` says so.

        `last` is the share of a window that has just ended; None looks first. Returns the share of
        the last window, and how long was waited after the first one. A window of zero length means
        that the spec wants no idle baseline: nothing is looked at, and nothing waited for.
        """
        if window_s <= 0:
            return None, 0.0
        share = self.idle_share(window_s) if last is None else last
        begin_s = time.monotonic()
        waited_s = 0.0
        while share > QUIET_SHARE and waited_s < patience_s and not stop():
            share = self.idle_share(max(window_s, SHORTEST_LOOK_S))
            waited_s = time.monotonic() - begin_s
        return share, waited_s

    def quiet_record(
        self,
        begin: Reading,
        end: Reading,
        *,
        before: float | None,
        after: float | None,
        waited_s: float,
    ) -> QuietRecord:
        """Processor time between two readings taken around a cell; `before` and `after` are the
        idle shares next to it."""
        engine_s = _difference(begin.engine_s, end.engine_s)
        return QuietRecord(
            wall_s=end.at_s - begin.at_s,
            cores=self.cores,
            foreign_cpu_s=None if self.unseen else end.foreign_s(begin),
            engine_cpu_s=engine_s,
            client_cpu_s=end.own_s - begin.own_s,
            steal_s=_difference(begin.steal_s, end.steal_s),
            waited_s=waited_s,
            idle_before_share=before,
            idle_after_share=after,
            reason=UNSEEN if self.unseen else None,
        )


def _difference(begin: float | None, end: float | None) -> float | None:
    return None if begin is None or end is None else end - begin


def _own_pids() -> set[int]:
    own = psutil.Process()
    with contextlib.suppress(psutil.Error):
        return {own.pid, *(child.pid for child in own.children(recursive=True))}
    return {own.pid}


def _update(times_s: dict[int, float], pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            times = psutil.Process(pid).cpu_times()
            times_s[pid] = times.user + times.system


def listeners(port: int) -> list[int]:
    """Processes of this machine that listen on a TCP port, and their children.

    Empty when there are none, or the system does not show them to this user.
    """
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.Error, OSError):
        return []
    found: set[int] = set()
    for connection in connections:
        here = getattr(connection.laddr, "port", None) == port
        listens = here and connection.status == psutil.CONN_LISTEN
        if listens and connection.pid is not None:
            found.add(connection.pid)
            with contextlib.suppress(psutil.Error):
                children = psutil.Process(connection.pid).children(recursive=True)
                found.update(child.pid for child in children)
    return sorted(found)
