"""The base of every kind of named thing, and its catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from functools import cache
from inspect import Parameter, Signature
from typing import Annotated, Any, ClassVar, Self, dataclass_transform, get_args, get_origin, get_type_hints

from rankscope.declared.param import Param, brief, check_value, plain
from rankscope.errors import InputError


class _Family(type):
    """Lets the class take a cutoff: ``nDCG @ 10`` is ``nDCG() @ 10``."""

    def __matmul__(cls, value: Any) -> Any:
        return cut(cls, {}, value)

    @property
    def __signature__(cls) -> Signature:
        return Signature(
            [
                Parameter(
                    f.name,
                    Parameter.KEYWORD_ONLY,
                    default=Parameter.empty if _default(f) is MISSING else _default(f),
                    annotation=f.type,
                )
                for f in _fields(cls)
            ]
        )


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Declared(metaclass=_Family):
    """Base of every kind of named thing. ``at`` names the parameter that ``@`` sets; ``listed_by`` is the command that lists all."""

    kind: ClassVar[str] = "thing"
    catalogue: ClassVar[dict[str, Any]] = {}
    aliases: ClassVar[tuple[str, ...]] = ()
    at: ClassVar[str] = "cutoff"
    listed_by: ClassVar[str] = ""

    def __init_subclass__(cls, *, kind: str = "", aliases: tuple[str, ...] = (), at: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if kind:
            cls.kind, cls.catalogue = kind, {}
        cls.aliases = aliases
        cls.at = at or cls.at
        # the methods that a dataclass would write and compile for every class stand once below: a hundred
        # metrics are then declared in a few milliseconds
        dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
        if not kind and not cls.__name__.startswith("_"):
            for name in (cls.__name__, *aliases):
                cls._register(name)

    @classmethod
    def _register(cls, name: str) -> None:
        known = cls.catalogue.get(name)
        if known and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise NameError(f"two of kind {cls.kind} are called {name}: {known.__module__} and {cls.__module__}")
        cls.catalogue[name] = cls

    def __init__(self, **values: Any) -> None:
        cls = type(self)
        known = parameters(cls)
        strange = next((name for name in values if name not in known), None)
        if strange is not None:
            raise TypeError(f"{cls.__name__}.__init__() got an unexpected keyword argument {strange!r}")
        for f in _fields(cls):
            value = values.get(f.name, _default(f))
            if value is MISSING:
                raise TypeError(f"{cls.__name__}.__init__() missing the keyword-only argument {f.name!r}")
            hint, param = known[f.name]
            called = f"{cls.__name__}({f.name}={brief(value, quoted=True)})"
            object.__setattr__(self, f.name, check_value(called, f.name, value, hint, param))
        self.check()

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, f.name) for f in _fields(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Declared) or type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def check(self) -> None:
        """Refuse parameters that do not go together; override it where some do not."""

    def ready(self) -> Self:
        """The thing itself, or an error where a required parameter is missing."""
        missing = [name for name in required(type(self)) if getattr(self, name) is None]
        if missing:
            how = f"{self}@10" if missing == [self.at] == ["cutoff"] else f"{type(self).__name__}({missing[0]}=...)"
            raise InputError(f"{self} needs {missing[0]}: write {how}")
        return self

    def __matmul__(self, value: Any) -> Self:
        said = {f.name: getattr(self, f.name) for f in _fields(self)}
        return cut(type(self), said, value)  # type: ignore[no-any-return]

    def __str__(self) -> str:
        said = {f.name: getattr(self, f.name) for f in _fields(self) if getattr(self, f.name) != _default(f)}
        cut = said.pop(self.at, None)
        inside = ", ".join(f"{name}={plain(value)}" for name, value in said.items())
        return type(self).__name__ + (f"({inside})" if inside else "") + (f"@{plain(cut)}" if cut is not None else "")

    __repr__ = __str__

    def having(self, **changes: Any) -> Self:
        """The same with other parameters."""
        return type(self)(**{f.name: getattr(self, f.name) for f in _fields(self)} | changes)


def _fields(thing: Any) -> tuple[Any, ...]:
    return fields(thing)  # every subclass is made a dataclass, which the type checker cannot see


def _default(f: Any) -> Any:
    return f.default if f.default_factory is MISSING else f.default_factory()


def cut(cls: Any, said: Mapping[str, Any], value: Any) -> Any:
    """A thing with the parameter that ``@`` sets."""
    if cls.at not in parameters(cls):
        raise InputError(
            f"{cls.kind} '{cls.__name__}@{brief(value)}': {cls.__name__} has no cutoff, write it without @{brief(value)}"
        )
    return cls(**{**said, cls.at: value})


@cache
def parameters(cls: type[Declared]) -> dict[str, tuple[Any, Param]]:
    """The parameters of a class: type and meaning of each."""
    hints = get_type_hints(cls, include_extras=True)
    out = {}
    for f in _fields(cls):
        hint = hints[f.name]
        said, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        out[f.name] = (said, next((n for n in notes if isinstance(n, Param)), Param("")))
    return out


def required(cls: type[Declared]) -> list[str]:
    """The required parameters: those without a default, and those marked as needed."""
    known = parameters(cls)
    return [f.name for f in _fields(cls) if _default(f) is MISSING or known[f.name][1].needed]
