"""All rules of ``check``, and how they are chosen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from types import ModuleType

from rankscope import words
from rankscope.errors import InputError
from rankscope.verbs.check.rules import comparisons, grades, inputs, metrics, queries, rankings, training
from rankscope.verbs.check.rules.rule import Rule

FAMILIES: tuple[ModuleType, ...] = (inputs, queries, rankings, grades, metrics, comparisons, training)


@cache
def all_rules() -> tuple[Rule, ...]:
    """All rules, by code."""
    modules = {family.__name__ for family in FAMILIES}
    known = {cls.code: cls for cls in Rule.catalogue.values() if cls.__module__ in modules}
    return tuple(known[code]() for code in sorted(known))


def rule_named(name: str) -> Rule:
    """The rule of this code or name, whatever its case. Raises InputError with the nearest.

    >>> rule_named("rs101").code
    'RS101'
    """
    name = name.strip()
    for rule in all_rules():
        if name.casefold() in {rule.code.casefold(), type(rule).__name__.casefold()}:
            return rule
    near = _family_hint(name) if re.fullmatch(r"RS\d*", name, re.IGNORECASE) else _name_hint(name)
    raise InputError(f"no rule is called {name}{near} (rankscope check --list lists all)")


def _family_hint(code: str) -> str:
    """The codes of the family, as numbers are near to nothing else."""
    family = [rule.code for rule in all_rules() if rule.code[:3] == code[:3].upper()]
    return f", did you mean one of {', '.join(family)}?" if family else ""


def _name_hint(name: str) -> str:
    codes = {type(rule).__name__: rule.code for rule in all_rules()}
    return words.hint(name, codes, "", offer=lambda near: f"{near} ({codes[near]})")


def select_rules(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[Rule]:
    """The rules to apply: all, or those selected, without those ignored; the start of codes, like RS1, stands for a family.

    Raises InputError for what names no rule.
    """
    wanted, unwanted = _rules_in(select), _rules_in(ignore)
    kept = [rule for rule in all_rules() if (rule in wanted or not wanted) and rule not in unwanted]
    if not kept:
        raise InputError("no rule is left: everything that is selected is also ignored")
    return kept


def _rules_in(names: Iterable[str]) -> list[Rule]:
    """The rules that are named by codes, starts of codes or names, separated by commas or spaces."""
    texts = [names] if isinstance(names, str) else names
    out: list[Rule] = []
    for name in (part for text in texts for part in text.replace(",", " ").split()):
        out += [r for r in all_rules() if r.code.startswith(name.upper())] or [rule_named(name)]
    return out
