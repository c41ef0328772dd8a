"""Several processes that send one cell together, where one core cannot bear it."""

from __future__ import annotations

import math
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from benchspec.errors import EnvironmentFailure
from benchspec.load.cell import Load, Progress, Stop, Work
from benchspec.load.clock import now_ns
from benchspec.load.driver import signals_to
from benchspec.load.limits import Limits
from benchspec.load.orders import Broke, Go, Halt, Job, Order, Ready, Result
from benchspec.load.target import Target
from benchspec.load.trace import CellTrace, Share, assemble

# From the last process that is ready to the start: longer than an order takes to arrive.
_HEAD_START_NS = 100_000_000
_TICK_S = 0.05
_ENDS_S = 5.0

_Mail = queue.SimpleQueue[tuple[int, Result | None]]


def processes_for(events_s: float, bears_events_s: float, cores: int) -> int:
    """How many processes read `events_s` if one bears `bears_events_s`.

    At least one, and one core is left to everything else: a measuring process without a core of its
    own bears nothing, and what is then missing the judge calls `client-limited`.
    """
    return max(1, min(math.ceil(events_s / bears_events_s), cores - 1))


def split(work: Sequence[Work], load: Load, parts: int) -> list[tuple[Sequence[Work], Load]]:
    """What each of `parts` processes sends; every piece of work goes to exactly one of them.

    Places in flight are dealt like cards, and work to the place that would take it if all requests
    were equally long; a schedule is dealt with its work.
    """
    if load.mode == "open":
        return [
            (work[n::parts], replace(load, schedule_ns=load.schedule_ns[n::parts]))
            for n in range(parts)
        ]
    places = load.concurrency or len(work)
    return [
        (
            [one for index, one in enumerate(work) if index % places % parts == n],
            replace(load, concurrency=len(range(n, places, parts))),
        )
        for n in range(parts)
    ]


class Workers:
    """Measuring processes that live while this is entered, so that what they cost can be told from
    foreign work; started when a cell first needs them."""

    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []
        self._mail: _Mail = queue.SimpleQueue()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *exc: object) -> None:
        self._end()

    def start(self, count: int) -> None:
        """Have at least so many processes."""
        while len(self._children) < count:
            # In a session of its own, so that Ctrl-C reaches it only through us.
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "benchspec.load.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            number = len(self._children)
            self._children.append(child)
            read = threading.Thread(target=_read, args=(number, child, self._mail), daemon=True)
            read.start()

    def run(
        self,
        count: int,
        target: Target,
        work: Sequence[Work],
        load: Load,
        *,
        origin_ns: int,
        limits: Limits,
        on_progress: Callable[[Progress], None] | None = None,
        stop: Stop | None = None,
        ceiling_events_s: float | None = None,
    ) -> CellTrace:
        """As `driver.run_cell`, by `count` processes; `ceiling_events_s` is that of one of them.

        Raises EnvironmentFailure when one of them ends before its part is done.
        """
        self.start(count)
        bare = replace(target, tls=None)
        for number, (part, its_load) in enumerate(split(work, load, count)):
            job = Job(bare, target.tls is not None, part, its_load, origin_ns, limits)
            self._order(number, job)
        stop = stop or Stop()
        with signals_to(stop):
            shares = self._shares(count, on_progress, stop)
        if any(share.aborted for share in shares):
            self._end()  # one of them may still wait to be told to go
        return assemble(shares, ceiling_events_s and ceiling_events_s * count)

    def _shares(
        self, count: int, on_progress: Callable[[Progress], None] | None, stop: Stop
    ) -> list[Share]:
        shares: dict[int, Share] = {}
        progress: dict[int, Progress] = {}
        ready, halts = 0, 0
        while len(shares) < count:
            if halts < stop.level:
                self._all(count, Halt())
                halts += 1
            try:
                number, result = self._mail.get(timeout=_TICK_S)
            except queue.Empty:
                continue
            if isinstance(result, Share):
                shares[number] = result
            elif isinstance(result, Progress):
                progress[number] = result
                if on_progress is not None:
                    on_progress(_together(list(progress.values())))
            elif isinstance(result, Ready):
                ready += 1
                if ready == count and not stop.level:
                    self._all(count, Go(now_ns() + _HEAD_START_NS))
            else:
                self._end()
                raise _ended(result)
        return [shares[number] for number in range(count)]

    def _all(self, count: int, order: Order) -> None:
        for number in range(count):
            self._order(number, order)

    def _order(self, number: int, order: Order) -> None:
        stdin = self._children[number].stdin
        assert stdin is not None
        try:
            pickle.dump(order, stdin)
            stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and the reader says so

    def _end(self) -> None:
        children, self._children = self._children, []
        self._mail = queue.SimpleQueue()
        for child in children:
            assert child.stdin is not None
            child.stdin.close()
        for child in children:
            try:
                child.wait(_ENDS_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def _read(number: int, child: subprocess.Popen[bytes], mail: _Mail) -> None:
    """Pass on what a process says, and None when it has ended."""
    assert child.stdout is not None
    with child.stdout as stdout:
        while True:
            try:
                mail.put((number, pickle.load(stdout)))
            except (EOFError, pickle.UnpicklingError):
                mail.put((number, None))
                return


def _ended(last: Broke | None) -> EnvironmentFailure:
    said = f" ({last.reason})" if last else ""
    return EnvironmentFailure(
        f"A measuring process ended before its part of a cell was done{said}.",
        hint=None if last else "The system's log may say why; memory is the usual reason.",
    )


def _together(parts: Sequence[Progress]) -> Progress:
    planned = [part.planned for part in parts]
    return Progress(
        planned=None if None in planned else sum(one for one in planned if one is not None),
        sent=sum(part.sent for part in parts),
        done=sum(part.done for part in parts),
        failed=sum(part.failed for part in parts),
        elapsed_s=max(part.elapsed_s for part in parts),
    )
