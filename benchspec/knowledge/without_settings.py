"""Kinds of which nothing is known but how to talk to them: any OpenAI server, any command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchspec.knowledge.model import EngineKnowledge, Origin, Reading


def knowledge(kind: str) -> EngineKnowledge:
    """An engine without settings: nothing on its command line is judged."""
    return EngineKnowledge(kind, {}, _no_args, _no_env)


def _no_args(program: str, argv: Sequence[str], origin: Origin) -> Reading:
    return Reading()


def _no_env(env: Mapping[str, str]) -> Reading:
    return Reading()
