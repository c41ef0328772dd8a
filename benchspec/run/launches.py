"""What the spec asks of each arm's engine: flags as that engine spells them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from benchspec.errors import UsageError
from benchspec.knowledge import engines as knowledge
from benchspec.spec.arms import ResolvedArm
from benchspec.spec.models import EngineSpec

Scalar = str | int | float | bool | None

READY_TIMEOUT_S = 120.0

OURS = frozenset({"model", "host", "port"})
"""Settings that the adapter gives itself: the fetched model, loopback, a free port."""


@dataclass(frozen=True)
class PlannedLaunch:
    """How one arm's engine is started or attached; equal launches share one start.

    `argv` holds the engine's own flags, without executable, model, host and port; `log` is the file
    of an attached server, as the spec names it.
    """

    kind: str
    binary: str | None
    attach: str | None
    log: str | None
    argv: tuple[str, ...]
    env: Mapping[str, str]
    asked: Mapping[str, Scalar]
    model_source: str | None
    model_sha256: str | None
    model_name: str | None
    slots: int | None
    api_key_env: str | None
    dialect: str
    ready_timeout_s: float
    command: str | None = field(default=None, compare=False)

    @property
    def executable(self) -> str:
        """What will be executed, in words."""
        if self.attach is not None:
            return f"nothing; attaches to {self.attach}"
        if self.binary in (None, "embedded"):
            return f"the embedded {self.kind} server"
        return str(self.binary)


def plan_launch(arm: ResolvedArm) -> PlannedLaunch:
    """The launch of one arm.

    Raises UsageError without an engine, or when its flags cannot be spelled for that engine.
    """
    engine = _engine(arm)
    if engine.command is not None:
        binary, argv, env, source = _from_command(arm)
    else:
        binary, argv, env, source = (
            engine.binary,
            _spelled(engine),
            dict(engine.env),
            arm.model.source,
        )
    uses = knowledge.effective(
        engine.kind, flags=engine.flags, command=engine.command, env=engine.env
    )
    timeout = engine.ready_timeout
    return PlannedLaunch(
        kind=engine.kind,
        binary=binary,
        attach=engine.attach,
        log=engine.log if engine.attach is not None else None,
        argv=tuple(argv),
        env=env,
        asked={name: _scalar(use.value) for name, use in uses.items() if name not in OURS},
        model_source=source,
        model_sha256=arm.model.sha256,
        model_name=arm.model.name,
        slots=engine.slots,
        api_key_env=engine.api_key_env,
        dialect=engine.endpoint or "completions",
        ready_timeout_s=READY_TIMEOUT_S if timeout is None else float(timeout.low),
        command=engine.command,
    )


def _engine(arm: ResolvedArm) -> EngineSpec:
    if arm.engine is None:
        raise UsageError(
            f"Arm {arm.id} names no engine, so nothing can be measured.",
            hint="Add `engine: {kind: llama.cpp, binary: embedded}`, or judge figures that you "
            "have with `benchspec audit`.",
        )
    return arm.engine


def _spelled(engine: EngineSpec) -> list[str]:
    stated = {
        name: value
        for name, value in engine.flags.items()
        if knowledge.canonical(engine.kind, name) not in OURS
    }
    return knowledge.to_argv(engine.kind, stated)


def _from_command(arm: ResolvedArm) -> tuple[str | None, list[str], dict[str, str], str | None]:
    """Program, flags, environment and model of a pasted command line, with the flags added to it."""
    engine = _engine(arm)
    parsed = knowledge.parse_command(engine.kind, engine.command or "")
    binary = engine.binary or parsed.executable or None
    source = arm.model.source
    stated = parsed.settings.get("model")
    if source is None and stated is not None and isinstance(stated.value, str):
        source = f"file:{stated.value}"
    argv = [*_without(parsed.argv, _spellings(engine.kind, OURS)), *_spelled(engine)]
    return binary, argv, {**engine.env, **parsed.env}, source


def _spellings(kind: str, names: Iterable[str]) -> frozenset[str]:
    known = knowledge.engine(kind)
    if known is None:
        return frozenset()
    return frozenset(
        flag for name in names if name in known.settings for flag in known.settings[name].flags
    )


def _without(argv: Sequence[str], flags: frozenset[str]) -> list[str]:
    """The words but these flags and the value that follows each."""
    kept: list[str] = []
    words = iter(argv)
    for word in words:
        if word in flags:
            next(words, None)
        elif word.partition("=")[0] not in flags:
            kept.append(word)
    return kept


def _scalar(value: object) -> Scalar:
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)
