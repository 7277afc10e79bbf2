"""`record`: a frozen, keyword-only dataclass that is defined without generating code.

`dataclasses.dataclass` writes and compiles six methods per class, a millisecond each class, and
every step of every thread would pay for all records of the contract. A record has the same fields,
defaults, equality, order of fields and text; `dataclasses.fields`, `replace`, `asdict` and
`is_dataclass` work on it, and type checkers see a dataclass. Making an instance takes a little
longer.
"""

import dataclasses
import inspect
from collections.abc import Callable, Set
from typing import Any, NoReturn, TypeVar, dataclass_transform

_Class = TypeVar("_Class", bound=type)
_Record = TypeVar("_Record")


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(dataclasses.field,)
)
def record(cls: _Class) -> _Class:
    """Make `cls` a frozen dataclass with keyword-only fields.

    Raises:
        dataclasses.FrozenInstanceError: (an instance) when a field is set or deleted.
    """
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        members |= getattr(base, "__dataclass_fields__", {})
    for name, annotation in inspect.get_annotations(cls).items():
        members[name] = _field(cls, name, annotation)
    setattr(cls, "__dataclass_fields__", members)  # noqa: B010 (no attribute of `type`)
    setattr(cls, "__dataclass_params__", _PARAMETERS)  # noqa: B010
    setattr(cls, "__record_unset__", _unset(cls, members))  # noqa: B010
    setattr(cls, "__signature__", _SIGNATURE)  # noqa: B010
    for name, method in _METHODS.items():
        setattr(cls, name, method)
    return cls


def _unset(
    cls: type, members: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Callable[[], Any]], Set[str], bool]:
    """What making an instance needs: the defaults, and the factories of defaults, by the names of
    their fields; all names; whether the class checks its instances.
    """
    nothing = dataclasses.MISSING
    made = {each: key.default_factory for each, key in members.items()}
    plain = {each: key.default for each, key in members.items()}
    return (
        {name: each for name, each in plain.items() if each is not nothing},
        {name: each for name, each in made.items() if each is not nothing},
        members.keys(),
        hasattr(cls, "__post_init__"),
    )


class _Signature:
    """The signature of a record, made when somebody asks: `help()` and editors show it."""

    def __get__(self, _instance: object, cls: type) -> "inspect.Signature":
        named = inspect.Parameter.KEYWORD_ONLY
        return inspect.Signature(
            [
                inspect.Parameter(each.name, named, default=_default(each), annotation=each.type)
                for each in dataclasses.fields(cls)
            ],
            return_annotation=None,
        )


def _default(field: "dataclasses.Field[Any]") -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default


class _Parameters:
    """The parameters that `dataclasses` reads from a dataclass."""

    init = repr = eq = frozen = True
    order = unsafe_hash = False


_PARAMETERS, _SIGNATURE = _Parameters(), _Signature()


def _field(cls: type, name: str, annotation: Any) -> "dataclasses.Field[Any]":
    default = cls.__dict__.get(name, dataclasses.MISSING)
    if isinstance(default, dataclasses.Field):
        made = default
        if made.default is dataclasses.MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, made.default)
    else:
        made = dataclasses.field(default=default)
    made.name, made.type, made.kw_only = name, annotation, True
    made._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
    return made


def _init(self: Any, **given: Any) -> None:
    values, (defaults, factories, names, is_checked) = self.__dict__, self.__record_unset__
    values.update(defaults, **given)
    for name in factories:
        if name not in given:
            values[name] = factories[name]()
    if values.keys() != names:
        fields = self.__dataclass_fields__
        unknown, missing = values.keys() - fields.keys(), fields.keys() - values.keys()
        raise _bad_call(
            type(self),
            [name for name in given if name in unknown],
            [name for name in fields if name in missing],
        )
    if is_checked:
        self.__post_init__()


def replace(record: _Record, /, **changes: Any) -> _Record:
    """`dataclasses.replace` for a record, in a quarter of the time.

    Raises:
        TypeError: it has no such field.
    """
    values = record.__dict__
    fields = type(record).__dataclass_fields__  # type: ignore[attr-defined]
    return type(record)(**{name: values[name] for name in fields} | changes)


def given_fields(record: Any) -> list[tuple[str, Any]]:
    """The names and values of the fields that are not at their defaults."""
    defaults = record.__record_unset__[0]
    return [
        (name, value)
        for name, value in record.__dict__.items()
        if name not in defaults or value is not defaults[name]
    ]


def _bad_call(cls: type, unknown: list[str], missing: list[str]) -> TypeError:
    parts = [f"no field is called {', '.join(map(repr, unknown))}"] if unknown else []
    parts += [f"missing: {', '.join(map(repr, missing))}"] if missing else []
    return TypeError(f"{cls.__name__}(): {'; '.join(parts)}")


def _values(self: Any) -> tuple[Any, ...]:
    values = self.__dict__
    return tuple([values[name] for name in self.__dataclass_fields__])


def _repr(self: Any) -> str:
    names = (name for name, each in self.__dataclass_fields__.items() if each.repr)
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
    return f"{type(self).__qualname__}({inside})"


def _eq(self: Any, other: object) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self: Any) -> int:
    return hash(_values(self))


def _set(self: Any, name: str, value: Any) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: Any, name: str) -> NoReturn:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


_METHODS: dict[str, Callable[..., Any]] = {
    "__init__": _init,
    "__repr__": _repr,
    "__eq__": _eq,
    "__hash__": _hash,
    "__setattr__": _set,
    "__delattr__": _delete,
}
