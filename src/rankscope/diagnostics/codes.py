"""Codes of warnings: rules by code, name or family."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankscope import words
from rankscope.diagnostics import comparisons, estimates, inputs, launches, logs, metrics, rankings, training
from rankscope.diagnostics.rule import Rule
from rankscope.errors import InputError

FAMILIES = (inputs, rankings, metrics, comparisons, training, logs, estimates, launches)


def all_rules() -> list[Rule]:
    """Return all rules of rankscope by code."""
    own = {rule.name for family in FAMILIES for rule in vars(family).values() if isinstance(rule, Rule)}
    return [rule for _, rule in sorted(Rule.catalogue.items()) if rule.name in own]


def codes_of(names: str | Iterable[str] | None) -> list[str]:
    """Return the codes of rules by code or name, in any case, separated by commas or blanks; the start of codes is a family.

    Raises InputError with the nearest for an unknown name.
    """
    several = names if isinstance(names, Iterable) and not isinstance(names, str) else [names or ""]
    out: list[str] = []
    for name in (part for text in several for part in str(text).replace(",", " ").split()):
        family = re.fullmatch(r"rs\d*", name, re.IGNORECASE) is not None
        out += [rule.code for rule in all_rules() if family and rule.code.startswith(name.upper())] or [
            rule_named(name).code
        ]
    return list(dict.fromkeys(out))


def rule_named(name: str) -> Rule:
    """Return the rule with this code or name, in any case. Raises InputError with the nearest."""
    name = name.strip()
    rules = {rule.code: rule for rule in all_rules()}
    by_name = {rule.name: rule for rule in rules.values()}
    for known, rule in (rules | by_name).items():
        if name.casefold() == known.casefold():
            return rule
    number = re.fullmatch(r"(?:RS)?[-_ ]?(\d*)", name, re.IGNORECASE)  # two numbers are alike only in their family
    if number is None:
        near = words.hint(name, by_name, "", offer=lambda rule: f"{rule} ({by_name[rule].code})")
    elif f"RS{number[1]}" in rules:
        near = f", did you mean RS{number[1]}?"
    else:
        family = [code for code in rules if number[1] and code[2] == number[1][0]]
        near = f", did you mean one of {', '.join(family)}?" if family else ""
    raise InputError(f"no rule is called {name}{near} (rankscope check --list lists all)")
