"""The checks that a hypothesis may name, and the readings of each: a closed vocabulary.

The judge owns both; the linter must not import it, so this is a copy, and a test compares them. A
check whose result is a number alone has no readings here.
"""

READINGS: dict[str, tuple[str, ...]] = {
    "ablation": ("accounted", "unexplained"),
    "aggregate": ("rate", "inflated"),
    "bandwidth-ceiling": ("fraction", "at-least", "impossible"),
    "baseline": ("quiet", "contaminated"),
    "break-even": ("crossing", "never"),
    "burst": ("steady", "bursty"),
    "client": ("fine", "client-limited"),
    "completion-shape": ("staircase", "batches", "parallel", "time-sliced", "S-at-least-C"),
    "compute-ceiling": ("fraction", "at-least", "impossible"),
    "conservation": ("holds", "violated"),
    "context-slope": ("fit", "odd"),
    "control": ("net-cost",),
    "decomposition": ("explained", "identity", "remainder"),
    "effective-settings": ("as-asked", "refused", "changed", "on-but-unused"),
    "expected-traffic": ("explained", "other-path", "other-traffic"),
    "gate": ("triggered", "not-triggered", "undecided"),
    "identities": ("agree", "violated"),
    "identity": ("comparable", "not-comparable"),
    "link-load": ("fraction",),
    "link-share": ("negligible", "minor", "material", "hidden"),
    "output-agreement": ("agrees", "diverges"),
    "output-sanity": ("sane", "degenerate"),
    "parallel-efficiency": ("fraction",),
    "parity": ("differs", "no-difference-shown", "equivalent-within-margin", "insufficient"),
    "prefix-cache": ("effective", "not-effective", "partial", "contaminating"),
    "queueing": ("queued", "saturated", "parallel", "unresolved"),
    "repeats": ("stable", "noisy", "drifting", "bimodal", "insufficient"),
    "sampling": ("adequate", "order-of-magnitude", "blind"),
    "scaling": ("scales", "flat", "plateau-at-slots", "plateau-below-slots"),
    "slots-moved": ("slots", "hardware"),
    "speculation": ("gain", "loss", "break-even"),
    "thermal": ("steady", "throttled", "power-capped"),
    "time-budget": ("accounted", "unexplained"),
    "traffic-symmetry": ("pipeline", "tensor"),
    "turn-taking": ("taking-turns", "idle-together", "partial", "concurrent", "consistent-with"),
}

STRUCTURAL = frozenset(
    {
        "baseline", "client", "completion-shape", "conservation", "effective-settings",
        "identities", "identity", "queueing", "repeats", "slots-moved", "traffic-symmetry",
    }
)  # fmt: skip
"""Checks whose reading is a shape or a state: one repeat can show it."""
