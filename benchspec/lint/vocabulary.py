"""The checks that a hypothesis may name, and the readings of each: a closed vocabulary.

The judge owns both; the linter must not import it, so this is a copy, and a test compares them.
"""

READINGS: dict[str, tuple[str, ...]] = {
    "ablation": ("accounted", "unexplained"),
    "admission": ("fits", "slots-bound", "kv-bound", "below-slots", "capped-before-server"),
    "aggregate": ("rate", "inflated"),
    "bandwidth-ceiling": ("fraction", "at-least", "impossible"),
    "baseline": ("quiet", "contaminated"),
    "break-even": ("crossing", "never"),
    "burst": ("steady", "bursty"),
    "cache-gain": ("bounded", "above"),
    "client": ("fine", "client-limited"),
    "completion-shape": ("staircase", "batches", "parallel", "time-sliced", "S-at-least-C"),
    "compute-ceiling": ("fraction", "at-least", "impossible"),
    "conservation": ("holds", "violated"),
    "context-slope": ("fit", "odd"),
    "control": ("net-cost", "unresolved"),
    "decomposition": ("explained", "identity", "remainder"),
    "effective-settings": ("as-asked", "refused", "changed", "on-but-unused"),
    "expected-traffic": ("explained", "other-path", "other-traffic"),
    "gate": ("triggered", "not-triggered", "undecided"),
    "goodput": ("all", "some", "none"),
    "identities": ("agree", "violated"),
    "identity": ("comparable", "not-comparable"),
    "latency-share": ("first-token-bound", "decode-bound", "mixed"),
    "link-load": ("fraction", "impossible"),
    "link-probe": ("sound", "no-gain", "broken-direct", "even", "waits"),
    "link-share": ("negligible", "minor", "material", "hidden"),
    "memory-share": ("weights", "contexts", "fewer", "more", "unchanged"),
    "output-agreement": ("agrees", "diverges"),
    "output-sanity": ("sane", "degenerate"),
    "parallel-efficiency": ("fraction", "impossible"),
    "parity": ("differs", "no-difference-shown", "equivalent-within-margin"),
    "placement": ("spilled", "starved", "fell-back", "on-device"),
    "prefill-interference": ("undisturbed", "slowed", "blocked"),
    "prefix-cache": ("effective", "not-effective", "partial", "contaminating", "recomputed"),
    "queueing": ("queued", "saturated", "parallel", "unresolved"),
    "rate-per-price": ("rate",),
    "repeats": ("stable", "noisy", "first-apart", "drifting", "bimodal"),
    "sampling": ("adequate", "order-of-magnitude", "blind"),
    "scaling": ("flat", "scales", "falls", "plateau-at-slots", "plateau-below-slots"),
    "slots-moved": ("slots", "hardware"),
    "speculation": ("gain", "loss", "break-even"),
    "split-cost": ("none", "latency", "bandwidth", "overhead", "unattributed"),
    "thermal": ("steady", "throttled", "power-capped", "ramping", "not-steady"),
    "time-budget": ("accounted", "unexplained"),
    "token-count": ("empty", "buffered", "late-first-token", "miscounted", "short", "agree"),
    "traffic-symmetry": ("pipeline", "tensor"),
    "treatment": ("binds", "never-binds"),
    "turn-taking": ("taking-turns", "idle-together", "partial", "concurrent", "consistent-with"),
    "what-if": ("gain", "no-gain"),
}

RATES = frozenset(
    {"aggregate", "control", "goodput", "rate-per-price", "scaling", "slots-moved", "speculation"}
)
"""Checks of a rate: their verdict needs three repeats. The others show a shape or a state."""
