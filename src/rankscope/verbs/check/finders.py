"""Functions of ``check``, one for each rule of judgments that needs numbers of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rankscope.declared import doc_of
from rankscope.diagnostics.rule import Finding, Rule
from rankscope.verbs.check.case import CheckCase

Finder = Callable[[CheckCase], Iterable[Finding]]
FINDERS: dict[type[Rule], Finder] = {}


def finds(rule: type[Rule]) -> Callable[[Finder], Finder]:
    """Register a function as the one that finds the problem of a rule."""

    def register(finder: Finder) -> Finder:
        FINDERS[rule] = finder
        return finder

    return register


def what_is_wrong(rule: type[Rule]) -> str:
    """Return the problem of a rule in one line."""
    return doc_of(rule).splitlines()[0].rstrip(".")
