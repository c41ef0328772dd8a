"""A node of the spec language: typed keys, frozen, validated by pydantic-core.

pydantic's BaseModel takes 60 ms to import and 30 ms to build these classes, at every start of a
linter that works for 5 ms. Its compiled core, which does the validating, takes 5. So a node hands
its annotations to the core itself; the few methods that it shares with BaseModel do the same.
"""

from __future__ import annotations

from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self, Union, get_args, get_origin

from pydantic_core import SchemaSerializer, SchemaValidator, core_schema

_REQUIRED: Any = object()


class Form(Protocol):
    """What an annotation may carry to change how its value is read, and how editors see it."""

    def core(self, inner: Any) -> Any:
        """The core schema, given that of the annotated type."""

    def json(self, inner: dict[str, Any]) -> dict[str, Any]:
        """The JSON Schema, given that of the annotated type."""


class Key:
    """One key of a node: its type, its hover text, its default and its limits."""

    __slots__ = ("annotation", "default", "description", "limits")

    def __init__(self, default: Any, description: str, limits: dict[str, Any]) -> None:
        self.annotation: Any = None
        self.default = default
        self.description = description
        self.limits = limits

    def is_required(self) -> bool:
        """True when a node without this key is refused."""
        return self.default is _REQUIRED


def key(default: Any = _REQUIRED, *, description: str = "", **limits: Any) -> Any:
    """Declare a key of a node, or (inside Annotated) the limits of a type.

    Limits are those of pydantic-core: gt, ge, le, min_length, max_length, pattern. The default of
    a node-valued key is `{}`, which is validated like a map that was written.
    """
    return Key(default, description, limits)


class Node:
    """Frozen; unknown keys are refused; nothing is converted silently.

    Built from keyword arguments, or from a map by `model_validate`; both raise
    pydantic_core.ValidationError.
    """

    __slots__ = (
        "__dict__",
        "__pydantic_extra__",
        "__pydantic_fields_set__",
        "__pydantic_private__",
    )
    model_fields: ClassVar[dict[str, Key]] = {}
    _parts: ClassVar[tuple[SchemaValidator, SchemaSerializer]]

    def __init_subclass__(cls) -> None:
        own = {}
        for name, annotation in cls.__annotations__.items():
            own[name] = cls.__dict__[name]
            own[name].annotation = annotation
            delattr(cls, name)
        cls.model_fields = own

    def __init__(self, /, **values: Any) -> None:
        self._compiled()[0].validate_python(values, self_instance=self)

    @classmethod
    def _compiled(cls) -> tuple[SchemaValidator, SchemaSerializer]:
        if "_parts" not in cls.__dict__:
            schema = node_core(cls)
            cls._parts = SchemaValidator(schema), SchemaSerializer(schema)
        return cls._parts

    @classmethod
    def model_validate(cls, data: object) -> Self:
        """`data` (a map, or a node of this class) as a node."""
        node: Self = cls._compiled()[0].validate_python(data)
        return node

    @property
    def model_fields_set(self) -> set[str]:
        """The keys that were written, as against those that have their default."""
        return self.__pydantic_fields_set__  # type: ignore[attr-defined, no-any-return]

    def stated(self) -> dict[str, Any]:
        """The keys that were written, in the order of the language, with their values."""
        written = self.model_fields_set
        return {name: getattr(self, name) for name in self.model_fields if name in written}

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """The node as maps and lists; options as exclude_none, exclude_unset, mode='json'."""
        data: dict[str, Any] = self._compiled()[1].to_python(self, **options)
        return data

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__} holds lists and maps, which cannot be hashed")

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self.stated().items())
        return f"{type(self).__name__}({inside})"

    def __reduce__(self) -> tuple[Callable[[object], Node], tuple[dict[str, Any]]]:
        return type(self).model_validate, (self.stated(),)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
        return node_core(cls)


def node_core(model: type[Node]) -> Any:
    """The core schema of a node class."""
    fields = {
        name: core_schema.model_field(_with_default(declared))
        for name, declared in model.model_fields.items()
    }
    return core_schema.model_schema(
        model,
        core_schema.model_fields_schema(fields),
        config={"strict": True, "extra_fields_behavior": "forbid", "title": model.__name__},
    )


def _with_default(declared: Key) -> Any:
    schema = _core(declared.annotation, declared.limits)
    if declared.is_required():
        return schema
    made_anew = isinstance(declared.default, list | dict)
    return core_schema.with_default_schema(
        schema, default=declared.default, validate_default=made_anew
    )


def annotated(extras: tuple[Any, ...], limits: dict[str, Any]) -> tuple[list[Form], dict[str, Any]]:
    """The forms in an Annotated type, and the limits in it under those of the key itself."""
    inner: dict[str, Any] = {}
    for extra in extras:
        inner |= extra.limits if isinstance(extra, Key) else {}
    return [extra for extra in extras if not isinstance(extra, Key)], inner | limits


def _core(annotation: Any, limits: dict[str, Any]) -> Any:
    """The core schema of a type; `limits` go to the innermost type that can have them."""
    parts, origin = get_args(annotation), get_origin(annotation)
    if origin is Annotated:
        forms, limits = annotated(parts[1:], limits)
        schema = _core(parts[0], limits)
        for form in forms:
            schema = form.core(schema)
        return schema
    if origin in (Union, UnionType):
        return _union_core(parts, limits)
    if origin is list:
        return core_schema.list_schema(_core(parts[0], {}), **limits)
    if origin is dict:
        return core_schema.dict_schema(_core(parts[0], {}), _core(parts[1], {}), **limits)
    if origin is Literal:
        return core_schema.literal_schema(list(parts))
    if isinstance(annotation, type) and issubclass(annotation, Node):
        return node_core(annotation)
    plain = _PLAIN.get(annotation)
    return plain(**limits) if plain else core_schema.any_schema()


def _union_core(parts: tuple[Any, ...], limits: dict[str, Any]) -> Any:
    wanted = [part for part in parts if part is not type(None)]
    if len(wanted) > 1:  # a Form decides; the core's unions give one error for each member
        return core_schema.any_schema()
    return core_schema.nullable_schema(_core(wanted[0], limits))


# Any other type is left to its Form: Annotated[Quantity, ...].
_PLAIN: dict[Any, Callable[..., Any]] = {
    str: core_schema.str_schema,
    bool: core_schema.bool_schema,
    int: core_schema.int_schema,
    float: core_schema.float_schema,
}
