"""Every number that a check compares with, in one table, each with where it comes from.

"this project" marks a choice of ours, with the reason; the others name what they follow from.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Threshold:
    name: str
    value: float
    unit: str
    source: str


_TABLE = (
    Threshold("shape.serial", 1.15, "decoding at once", "this project: 1 plus hand-over slack"),
    Threshold("shape.parallel", 0.85, "of the slots", "this project: 1 less ramp and drain"),
    Threshold("shape.gap", 0.5, "of the first completion", "this project: half a batch"),
    Threshold("shape.equal", 0.02, "sd / mean of tokens", "this project: forced output is equal"),
    Threshold("shape.staircase", 0.15, "of T(1)", "this project: run spread of one stream"),
    Threshold("shape.waves", 0.10, "of ceil(C/S)", "this project: cross-check by mean in flight"),
    Threshold("queueing.low", 0.93, "ratio", "refill of a slot overlaps the next prefill"),
    Threshold("queueing.high", 1.10, "ratio", "partial waves and hand-over"),
    Threshold("queueing.near-low", 0.85, "ratio", "this project: with two discriminators"),
    Threshold("queueing.near-high", 1.20, "ratio", "this project: with two discriminators"),
    Threshold("queueing.far-low", 0.70, "ratio", "half way to S/C = 1/2: three discriminators"),
    Threshold("queueing.far-high", 1.43, "ratio", "1 / 0.70"),
    Threshold("queueing.rate-kept", 0.85, "r(C)/r(S)", "saturation would give S/C <= 0.5"),
    Threshold("queueing.saturated", 0.15, "of S/C", "run spread of one stream"),
    Threshold("queueing.jump", 0.5, "of T(S)", "a smaller, linear growth is prefill in series"),
    Threshold("scaling.flat", 0.05, "of X(1)", "this project: run spread that reads stable"),
    Threshold("scaling.plateau", 1.05, "X(2C)/X(C)", "this project: under 5 % for twice the load"),
    Threshold("scaling.falls", 0.9, "X(C)/X(1)", "below a queue's 1.0 by more than run spread"),
    Threshold("admission.arrived", 0.95, "of C", "this project: a counter may miss one in twenty"),
    Threshold("admission.kv", 0.15, "of what fits", "blocks are not full, and answers still grow"),
    Threshold("latency.first-token", 0.5, "of the latency", "this project: the larger half"),
    Threshold("latency.decode", 0.1, "of the latency", "this project: what is left is minor"),
    Threshold(
        "tokens.buffered", 10, "tokens a piece", "drafting sends a few tokens at once, not ten"
    ),
    Threshold("tokens.same-rate", 0.25, "of the rate", "decoding slows a little as context grows"),
    Threshold("tokens.miscounted", 0.1, "of the count", "another tokenizer's view of one text"),
    Threshold("tokens.length", 0.05, "of the length", "this project: above run spread"),
    Threshold("inflation.flag", 1.25, "ratio", "one stream alone reads about 1.1: prefill is in T"),
    Threshold("inflation.over-single", 1.1, "of the C=1 figure", "this project: above run spread"),
    Threshold("failed.share", 0.05, "of the requests", "this project: above run spread"),
    Threshold("conservation.in-flight", 0.10, "of C", "Little's law, ramp and drain allowed for"),
    Threshold("conservation.tokens", 0.02, "of the median", "forced output has equal lengths"),
    Threshold("repeats.stable", 0.05, "range / median", "pyperf warns of 10 % standard deviation"),
    Threshold("repeats.noisy", 0.15, "range / median", "this project: thrice stable"),
    Threshold("repeats.magnitude", 0.50, "range / median", "pyperf: extremes within half the mean"),
    Threshold("repeats.verdict", 3, "repeats", "3 against 3, complete separation: one-sided 0.05"),
    Threshold(
        "repeats.unregistered", 4, "repeats", "4 against 4, complete separation: two-sided 0.029"
    ),
    Threshold("repeats.first", 1.5, "first / later", "this project: beyond any run spread"),
    Threshold("repeats.drift", 5, "repeats", "below 5 no order reaches p 0.05 (Mann-Kendall)"),
    Threshold(
        "repeats.drift-p", 0.05, "p, two-sided", "Mann 1945, Nonparametric tests against trend"
    ),
    Threshold("repeats.modes", 10, "repeats", "two modes of three and more"),
    Threshold("arrivals.random", 2, "sd of the mean gap", "95 % of schedules stray less"),
    Threshold("arrivals.constant", 0.05, "of the rate asked for", "as client.share"),
    Threshold("baseline.foreign", 0.25, "of engine + client CPU time", "this project"),
    Threshold("baseline.idle", 5.0, "MB/s", "counters of an idle card read below this"),
    Threshold("baseline.net", 0.10, "of the smallest net effect", "this project"),
    Threshold("baseline.spike", 10, "times the idle limit", "this project"),
    Threshold("client.core", 0.9, "of one core", "an event loop uses one core"),
    Threshold("client.other", 1.1, "ratio", "two clients of one server agree within run spread"),
    Threshold("client.share", 0.05, "of a figure", "this project: the instrument's error budget"),
    Threshold("client.load", 0.5, "of its ceiling", "lateness grows steeply above half load"),
    Threshold("client.inexact", 0.01, "of reads", "p99 of the stamps is then the p99 of read lag"),
    Threshold("client.kernel-ms", 0.05, "ms", "p99 lateness of a kernel stamp at 64 streams: 0.04"),
    Threshold("client.sampling", 0.01, "of one core", "watching must cost less than it explains"),
    Threshold("client.busy", 0.9, "of all cores", "client and engine compete for the same cores"),
    Threshold("settings.unused", 0.1, "of the expected traffic", "the rest takes another path"),
    Threshold("slots.moved", 1.05, "X with 2S slots / X with S", "as scaling.plateau"),
    Threshold("turns.idle", 80, "% summed", "below: time in which no device works"),
    Threshold("turns.taking", 110, "% summed", "one device at a time gives 100 %"),
    Threshold("turns.partial", 150, "% summed", "half way between one and two at a time"),
    Threshold("turns.share", 5, "points", "this project: device against 100 x its share"),
    Threshold("sampling.windows", 10, "samples", "standard error of a mean is known to a quarter"),
    Threshold("sampling.few", 4, "samples", "fewer tell nothing of a mean"),
    Threshold("sampling.error", 0.10, "of the mean", "this project"),
    Threshold("sampling.gapless", 0.99, "of the time", "readings come a little early or late"),
    Threshold("sampling.coverage", 0.1, "of the time", "a burst may fall between two looks"),
    Threshold("burst.peak", 3, "peak / mean", "this project: a few samples carry the mean"),
    Threshold(
        "burst.stall", 2, "mean / median", "times above the median are then three quarters of all"
    ),
    Threshold("ceiling.impossible", 1.02, "measured / datasheet", "2 % for clocks and rounding"),
    Threshold("ceiling.context", 1024, "tokens of all streams", "this project: 0.1 GB of KV cache"),
    Threshold("link.negligible", 0.01, "of the step", "this project: below run spread"),
    Threshold("link.material", 0.10, "of the step", "this project"),
    Threshold("link.payload", 0.85, "of the standard", "payload after packet headers: 81-90 %"),
    Threshold("link.broken", 5, "direct / host", "this project: beyond any choice of protocol"),
    Threshold("link.skew", 0.10, "of the median", "as link.material"),
    Threshold("split.none", 0.05, "of the time", "as repeats.stable"),
    Threshold("split.half", 0.5, "of the extra", "this project: the larger half"),
    Threshold(
        "treatment.binds", 0.95, "of the limit", "regulators hold a few percent below a limit"
    ),
    Threshold("placement.busy", 80, "% of the time", "a kernel runs nearly always"),
    Threshold("placement.reading", 10, "% of the time", "decoding reads memory all the time"),
    Threshold("placement.full", 0.97, "of the memory", "this project: drivers keep a few percent"),
    Threshold(
        "placement.fallback", 5, "ratio of prefill", "no cache setting costs that on a device"
    ),
    Threshold("memory.same", 0.02, "of the tokens", "whole blocks round the size of a pool"),
    Threshold("traffic.low", 0.7, "measured / expected", "below: the traffic takes another path"),
    Threshold("traffic.high", 1.4, "measured / expected", "above: other traffic shares the link"),
    Threshold("symmetry.pipeline", 5, "ratio of sends", "a pipeline sends one way"),
    Threshold("symmetry.tensor", 2, "ratio of sends", "a collective sends both ways"),
    Threshold("slope.residual", 0.10, "of the time", "this project: a line fits or it does not"),
    Threshold("control.quotable", 0.15, "half width / net", "as repeats.noisy"),
    Threshold("decomposition.remainder", 0.05, "of the ratio", "as repeats.stable"),
    Threshold("identity.off", 0.05, "of the figure", "beyond any rounding of three digits"),
    Threshold("speculation.even", 0.02, "gain", "this project: below run spread"),
    Threshold("cache.effective", 0.5, "later / first", "half of a prompt's work was saved"),
    Threshold("cache.none", 0.9, "later / first", "this project"),
    Threshold("cache.share", 0.5, "of the prompt", "half of the prompt came from the cache"),
    Threshold("cache.hits", 0.01, "of the prompt", "random prompts share nothing but a template"),
    Threshold("cache.contaminating", 0.1, "of the prompt", "unique prompts share no such prefix"),
    Threshold("identity.probe", 0.10, "of the best read", "two cards of one name: 14 % apart"),
    Threshold("identity.memory", 0.01, "of the footprint", "this project: another configuration"),
    Threshold(
        "band.range",
        1,
        "ranges at each end",
        "the median of 3 further normal repeats then falls inside with probability 0.92; between "
        "the ends of 3 themselves with 0.60, whatever the distribution",
    ),
    Threshold("band.least", 0.05, "of the median", "MLPerf rules: replicated results within 5 %"),
    Threshold("thermal.own", 0.95, "of the first tenth", "this project: clocks step by 1-2 %"),
    Threshold("thermal.ramp", 1.05, "of the first tenth", "as thermal.own, the other way"),
    Threshold("thermal.peer", 0.93, "of the fastest peer", "this project"),
    Threshold("thermal.reason", 1, "% of the looks", "this project: set now and then is no state"),
    Threshold("thermal.drift", 0.03, "first to last third", "this project: above run spread"),
    Threshold("interference.none", 1.15, "ratio of p99", "as repeats.noisy"),
    Threshold("interference.blocked", 0.5, "of the prompt", "this project: the larger half"),
    Threshold("interference.few", 10, "times between tokens", "as sampling.windows"),
    Threshold("sanity.degenerate", 0.10, "of the answers", "this project"),
    Threshold("sanity.chars", 16, "characters", "this project: no loop is counted below that"),
    Threshold("sanity.looped", 0.5, "of the characters", "this project: the larger half"),
    Threshold("sanity.characters", 1.5, "bits a character", "two characters by chance have 1"),
    Threshold("sanity.word", 2.5, "bits a character", "`the the the` has 2, prose in circles 3.3"),
    Threshold("sanity.truncated", 0.02, "of the answers", "truncation decides questions"),
    Threshold("agreement.prefix", 100, "tokens", "numeric noise flips a token after hundreds"),
    Threshold("agreement.share", 0.5, "of the answers", "noise parts few early, an error most"),
    Threshold("agreement.acceptance", 0.03, "points / 100", "an error in an engine shows here"),
    Threshold("parity.p", 0.05, "p, two-sided", "exact McNemar test"),
    Threshold("parity.discordant", 6, "pairs", "six to nothing: p = 0.031; five: 0.063"),
    Threshold("what-if.memory", 1.2, "times", "two cards of one name: 1058 and 878 GB/s"),
    Threshold("what-if.compute", 1.23, "times", "the same two: units x clock"),
    Threshold("what-if.link", 2, "times", "one generation of PCIe"),
    Threshold("what-if.acceptance", 0.10, "points / 100", "between two texts of one kind"),
    Threshold("unfinished.jump", 1.5, "per-token time, step to step", "this project"),
    Threshold("unfinished.remainder", 0.10, "of the whole", "this project"),
)

THRESHOLDS = {t.name: t for t in _TABLE}


def limit(name: str) -> float:
    """The value of the threshold `name`. Raises KeyError for a name that is not in the table."""
    return THRESHOLDS[name].value
