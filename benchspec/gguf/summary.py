"""A model in a few numbers, from its header: what a spec may leave out."""

from __future__ import annotations

from dataclasses import dataclass

from benchspec.gguf.bytes_per_token import Round, reads
from benchspec.gguf.header import Header
from benchspec.gguf.hyperparameters import Hyperparameters


@dataclass(frozen=True)
class Summary:
    """Counts are elements of all tensors; `parameters_active` are those that one token uses."""

    architecture: str
    layers: int
    hidden_size: int | None
    context_length: int | None
    experts: int | None
    experts_used: int | None
    parameters_total: int
    parameters_active: int
    bits_per_weight: float
    stored_bytes: int


def summarise(header: Header) -> Summary:
    """Geometry, parameters and bits per weight. Raises as `bytes_per_token.reads`."""
    model = Hyperparameters(header)
    total = sum(tensor.elements for tensor in header.tensors)
    by_name = {tensor.name: tensor for tensor in header.tensors}
    active = 0.0
    for read in reads(header, Round(tokens=1)).tensors:
        share = min(1.0, read.read_bytes / read.stored_bytes)
        used = 1.0 if read.use == "lookup" else share  # the table counts, though a row is read
        active += by_name[read.name].elements * used
    return Summary(
        architecture=model.architecture,
        layers=model.layers,
        hidden_size=model.number("embedding_length"),
        context_length=model.number("context_length"),
        experts=model.number("expert_count"),
        experts_used=model.number("expert_used_count"),
        parameters_total=total,
        parameters_active=round(active),
        bits_per_weight=8 * header.stored_bytes / total,
        stored_bytes=header.stored_bytes,
    )
