"""The policies as keyword arguments of verbs: their types for editors, their names in signatures and help."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

from rankscope import words
from rankscope.scoring.policies import POLICIES

if TYPE_CHECKING:
    from rankscope.dialects import base as kinds

Function = TypeVar("Function", bound=Callable[..., Any])


class PolicyOptions(TypedDict, total=False):
    """The policies as keyword arguments of every verb that scores rankings."""

    ties: kinds.Ties
    queries: kinds.Population | Iterable[str]
    depth: int | None
    duplicates: Literal["error", "first", "best"]
    self_match: Literal["keep", "drop"]
    fold: Any
    fold_by: str | None
    fold_score: Literal["max", "sum", "first"] | None
    fold_cutoffs: Literal["documents", "chunks", "both"] | None
    relevance_level: float | None
    no_relevant: kinds.NoRelevant
    nothing_found: kinds.NothingFound
    weights: Any
    mean: kinds.Mean
    dialect: str | None
    columns: Mapping[str, str] | str | None
    grades: Mapping[str, float] | str | None
    items: Any
    history: Any
    lengths: Any
    candidates: Literal["sampled"] | None
    seed: int
    ignore: str | Iterable[str] | None


def with_policies(function: Function) -> Function:
    """A function that takes policies as keyword arguments, with each in its signature and its help."""
    signature = inspect.signature(function)
    plain = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    types = PolicyOptions.__annotations__
    own = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=policy.default, annotation=types.get(name, Any))
        for name, policy in POLICIES.items()
    ]
    function.__signature__ = signature.replace(parameters=[*plain, *own])  # type: ignore[attr-defined]
    lines = []
    for name, policy in POLICIES.items():
        one_of = f" One of {words.choices(policy.values)}." if policy.values else ""
        lines.append(f"    ``{name}``: {policy.__doc__}{one_of} Default {policy.default!r}.")
    function.__doc__ = (function.__doc__ or "").replace("{policies}", "\n".join(lines).lstrip())
    return function
