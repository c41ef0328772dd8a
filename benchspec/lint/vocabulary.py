"""The checks that a hypothesis may name, and the readings of each: a closed vocabulary.

The judge owns both; the linter must not import it, so this is a copy, and a test compares them.
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
    "control": ("net-cost", "unresolved"),
    "decomposition": ("explained", "identity", "remainder"),
    "effective-settings": ("as-asked", "refused", "changed", "on-but-unused"),
    "expected-traffic": ("explained", "other-path", "other-traffic"),
    "gate": ("triggered", "not-triggered", "undecided"),
    "identities": ("agree", "violated"),
    "identity": ("comparable", "not-comparable"),
    "link-load": ("fraction", "impossible"),
    "link-share": ("negligible", "minor", "material", "hidden"),
    "output-agreement": ("agrees", "diverges"),
    "output-sanity": ("sane", "degenerate"),
    "parallel-efficiency": ("fraction", "impossible"),
    "parity": ("differs", "no-difference-shown", "equivalent-within-margin"),
    "prefix-cache": ("effective", "not-effective", "partial", "contaminating"),
    "queueing": ("queued", "saturated", "parallel", "unresolved"),
    "repeats": ("stable", "noisy", "drifting", "bimodal"),
    "sampling": ("adequate", "order-of-magnitude", "blind"),
    "scaling": ("flat", "scales", "plateau-at-slots", "plateau-below-slots"),
    "slots-moved": ("slots", "hardware"),
    "speculation": ("gain", "loss", "break-even"),
    "thermal": ("steady", "throttled", "power-capped", "not-steady"),
    "time-budget": ("accounted", "unexplained"),
    "traffic-symmetry": ("pipeline", "tensor"),
    "turn-taking": ("taking-turns", "idle-together", "partial", "concurrent", "consistent-with"),
}

RATES = frozenset({"control", "aggregate", "scaling", "slots-moved", "speculation"})
"""Checks of a rate: their verdict needs three repeats. The others show a shape or a state."""
