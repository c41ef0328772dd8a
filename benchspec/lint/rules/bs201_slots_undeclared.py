"""How many requests are served at once is left to the engine.

## What it checks
With more than one request in flight, the number of slots is stated: `parallel` (`np`,
`LLAMA_ARG_N_PARALLEL`) for llama.cpp, `max-num-seqs` for vLLM, `max-running-requests` for SGLang,
`OLLAMA_NUM_PARALLEL` for Ollama, `decode-concurrency` for mlx-lm, and `engine.slots` for a server
that benchspec only attaches to. A negative `parallel` is automatic, too.

## Why it misleads
Requests beyond the slots wait, and the aggregate stops growing exactly there. Whoever does not know
the slots takes that plateau for the hardware. Unset, llama.cpp serves 4 at once from one shared KV
pool; other engines choose by version, memory or model.

## Bad
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags:  # error: BS201
    ctx-size: 8192
    n-gpu-layers: 99
    fit: "off"
```

## Good
```yaml
engine:
  kind: llama.cpp
  binary: llama-server
  version: b11434
  flags:
    parallel: 4
    ctx-size: 8192
    n-gpu-layers: 99
    fit: "off"
```

## Fix
Add the setting with the number you mean. With llama.cpp each slot then gets its share of
`ctx-size`.

## References
llama.cpp, tools/server/server.cpp: a negative `n_parallel` becomes 4 slots with a unified KV cache.
"""

from collections.abc import Iterator

from benchspec.lint.arm import Arm
from benchspec.lint.capacity import declared_slots
from benchspec.lint.fixes import Fix
from benchspec.lint.rule import Fact, Rule
from benchspec.lint.subject import Subject, by_place, names

RULE = Rule("BS201", "slots-undeclared", "error")

_DEFAULT = {
    "llama.cpp": "unset means automatic, 4 slots that share one KV pool",
    "vllm": "unset means 256 or 1024 by GPU memory",
    "sglang": "unset means a number derived from the memory",
    "ollama": "unset means 1 in the current version and was more in others",
}


def check(subject: Subject) -> Iterator[Fact]:
    """One fact per line where slots have to be declared."""
    if not subject.may_queue:
        return
    undeclared = [arm for arm in subject.arms if arm.serves and declared_slots(arm) is None]
    for path, arms in by_place(undeclared, lambda arm: arm.place(arm.slot_setting or "")):
        yield Fact(
            f"The number of slots is not declared ({_default(arms[0])}), so a plateau of the "
            "throughput cannot be told from a queue.",
            path,
            _advice(arms[0]),
            related=((subject.sweep_place, "more than one request is in flight here"),),
            arms=names(arms),
            affects=subject.affected(arms),
            fix=_fix(arms[0]),
            word=_spelled(arms[0]),
        )


def _fix(arm: Arm) -> Fix | None:
    """llama.cpp gets the number of slots that it had all along."""
    if arm.kind != "llama.cpp" or not arm.stated_in_full or not arm.knowledge:
        return None
    return arm.fix_for("parallel", str(arm.knowledge.default_slots))


def _spelled(arm: Arm) -> str:
    """The flag in a command line that leaves it automatic."""
    use = arm.settings.get(arm.slot_setting or "")
    return use.spelled if use is not None and use.origin == "command" else ""


def _default(arm: Arm) -> str:
    use = arm.settings.get(arm.slot_setting or "")
    if use is not None:
        return f"{use.spelled} {use.raw} means automatic"
    if arm.attached and not arm.stated_in_full:
        return "the server that answers there has its own"
    slots = arm.knowledge.default_slots if arm.knowledge else None
    own = f"unset means {slots}" if slots else "the engine has its own default"
    return _DEFAULT.get(arm.kind, own)


def _advice(arm: Arm) -> str:
    if arm.slot_setting is None or (arm.attached and not arm.stated_in_full):
        return "add `engine.slots: N` with the number that the server was started with"
    if arm.kind == "ollama":
        return "add `OLLAMA_NUM_PARALLEL: N` to engine.env"
    if arm.slot_setting in arm.settings:
        return "write the number that you mean in its place"
    return arm.how_to_set(arm.slot_setting, "N")
