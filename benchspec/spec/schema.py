"""The spec language as JSON Schema 2020-12, for completion and hover text in editors.

It accepts what the loader accepts, and a little more: what needs two places to decide (ids that
must exist, units) is the loader's.
"""

from __future__ import annotations

import json
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from benchspec.spec.keys import slots
from benchspec.spec.models import VERSION, Arm, Device, Spec
from benchspec.spec.node import Key, Node, annotated

_LIMITS = {"gt": "exclusiveMinimum", "ge": "minimum", "le": "maximum", "pattern": "pattern"}
_LENGTHS = {"string": "Length", "array": "Items", "object": "Properties"}
_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number"}


def json_schema() -> dict[str, Any]:
    """The schema of a spec file; `docs/schema/spec-1.json` is this, written out."""
    writer = _Writer()
    root = writer.node(Spec, partial=False)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:benchspec:schema:spec-{VERSION}",
        "title": f"benchspec specification, version {VERSION}",
        **root,
        "$defs": dict(sorted(writer.defs.items())),
    }


def schema_text() -> str:
    """The schema as the text of a file; the same bytes for the same language."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


class _Writer:
    """Collects one definition for each node; a partial one (in an arm) requires nothing."""

    def __init__(self) -> None:
        self.defs: dict[str, dict[str, Any]] = {}

    def node(self, model: type[Node], partial: bool) -> dict[str, Any]:
        """The schema of `model` as a map."""
        properties = {
            name: self._property(model, name, declared, partial)
            for name, declared in model.model_fields.items()
        }
        required = [name for name, declared in model.model_fields.items() if declared.is_required()]
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required and not partial:
            schema["required"] = required
        return schema | {"additionalProperties": False}

    def _property(
        self, model: type[Node], name: str, declared: Key, partial: bool
    ) -> dict[str, Any]:
        slot = slots(model)[name]
        if model is Arm and slot.model is not None:
            schema = self._override(name, slot.model)
        else:
            schema = self._type(declared.annotation, declared.limits, partial)
        if partial or slot.shape != "value":  # null removes; an empty key is an empty map or list
            schema = _nullable(schema)
        if declared.default not in ([], {}, None) and not declared.is_required():
            schema = schema | {"default": declared.default}
        return {"description": declared.description} | schema

    def _override(self, name: str, model: type[Node]) -> dict[str, Any]:
        """What an arm may state of a section: any part of it; of devices, ids or whole ones."""
        if name == "devices":
            device = self._type(Device, {}, False)
            return {"type": "array", "items": {"anyOf": [{"type": ["string", "number"]}, device]}}
        return self._type(model, {}, True)

    def _type(self, annotation: Any, limits: dict[str, Any], partial: bool) -> dict[str, Any]:
        parts, origin = get_args(annotation), get_origin(annotation)
        if origin is Annotated:
            forms, limits = annotated(parts[1:], limits)
            schema = self._type(parts[0], limits, partial)
            for form in forms:
                schema = form.json(schema)
            return schema
        if origin in (Union, UnionType):
            inner = next(part for part in parts if part is not type(None))
            return _nullable(self._type(inner, limits, partial))
        if origin is list:
            items = self._type(parts[0], {}, False)
            return _limited({"type": "array", "items": items}, limits)
        if origin is dict:
            values = self._type(parts[1], {}, partial)
            values = _nullable(values) if partial and values else values
            return _limited({"type": "object", "additionalProperties": values or True}, limits)
        if origin is Literal:
            return {"enum": list(parts)}
        if isinstance(annotation, type) and issubclass(annotation, Node):
            return self._reference(annotation, partial)
        plain = _PLAIN.get(annotation)
        return _limited({"type": plain}, limits) if plain else {}

    def _reference(self, model: type[Node], partial: bool) -> dict[str, Any]:
        name = model.__name__ + ("Override" if partial else "")
        if name not in self.defs:
            self.defs[name] = {}  # a place, so that a node within itself would end
            self.defs[name] = self.node(model, partial)
        return {"$ref": f"#/$defs/{name}"}


def _limited(schema: dict[str, Any], limits: dict[str, Any]) -> dict[str, Any]:
    for limit, value in limits.items():
        word = _LIMITS.get(limit) or limit.removesuffix("_length") + _LENGTHS[schema["type"]]
        schema[word] = value
    return schema


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = schema.get("type")
    if kinds is not None and "anyOf" not in schema:
        listed = kinds if isinstance(kinds, list) else [kinds]
        return schema | {"type": [*listed, "null"]} if "null" not in listed else schema
    if "enum" in schema:
        return schema if None in schema["enum"] else {"enum": [*schema["enum"], None]}
    options = schema.get("anyOf", [schema])
    return schema if {"type": "null"} in options else {"anyOf": [*options, {"type": "null"}]}
