"""Rules: each kind of warning is declared once. A verb that raises a warning gives numbers, never words."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from string import Formatter
from typing import Any, ClassVar, Literal, TypeVar

from rankscope import words
from rankscope.blocks import Caution

Severity = Literal["warning", "information"]
C = TypeVar("C", bound=Caution)
MAX_EXAMPLES = 5  # queries, documents and places that a finding names
MIN_PRINTED_CHANGE = 0.0005  # a smaller change of a mean prints as 0.000
OPTIONAL = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True, kw_only=True)
class Finding(Caution):
    """A warning with its details, in words and as data.

    ``message`` is one sentence without a full stop. ``effect`` maps metrics to the change of their mean, ``count`` is the number
    of rows, queries or documents concerned. ``queries``, ``documents`` (query and document) and ``places`` (lines of files, lists
    or units) are examples. ``lists`` is the number of lists concerned, if ``count`` is of rows in them.
    """

    severity: Severity = "warning"
    run: str | None = None
    effect: Mapping[str, float] = field(default_factory=dict)
    count: int | None = None
    queries: Sequence[str] = ()
    documents: Sequence[tuple[str, str]] = ()
    places: Sequence[str] = ()
    lists: int | None = None


@dataclass(frozen=True)
class Rule:
    """One kind of warning. ``what`` states the problem, ``why`` its effect on the number, ``remedy`` the next step.

    ``text`` is the message with named numbers (see ``filled``). ``hint`` replaces the remedy if its numbers are known.
    A ``brief`` rule is printed without its remedy. ``of`` is the input (``judgments`` with runs, or a ``log``), ``needs`` a further input of ``check``, ``other_verb`` the only
    command that reports it. A code never changes its meaning once released.
    """

    code: str
    name: str
    what: str
    _: KW_ONLY
    why: str
    remedy: str
    text: str
    severity: Severity = "warning"
    of: str = "judgments"
    needs: str = ""
    other_verb: str = ""
    hint: str = ""
    brief: bool = False
    catalogue: ClassVar[dict[str, Rule]] = {}

    def __post_init__(self) -> None:
        known = self.catalogue.setdefault(self.code, self)
        if known.name != self.name:
            raise NameError(f"two rules have the code {self.code}: {known.name} and {self.name}")

    def variant(self, **other: Any) -> Rule:
        """Return the same rule with another ``text``, ``remedy`` or ``hint``."""
        return replace(self, **other)

    def message(self, **numbers: Any) -> str:
        """Return the text with these numbers."""
        return filled(self.text, numbers)

    def advice(self, **numbers: Any) -> str:
        """Return the hint with these numbers, or the remedy if one of them is missing."""
        return filled(f"[{self.hint}]", numbers) or self.remedy

    def caution(self, **numbers: Any) -> Caution:
        """Return the warning with these numbers."""
        return Caution(self.code, self.message(**numbers), self.advice(**numbers), self.brief)

    def finding(self, **numbers: Any) -> Finding:
        """Return the warning with its details: each number is part of the message, and a field of the finding if it has one.

        A ``serious`` finding is a warning, any other is information; the severity of the rule holds by default. ``count`` is the
        number of ``queries`` or ``documents`` by default, ``effect`` the change of metrics.
        """
        effect, serious = numbers.get("effect"), numbers.get("serious")
        known = {str(metric): by for metric, by in effect.items() if not math.isnan(by)} if effect else {}
        if numbers.get("count") is None:
            numbers["count"] = len(numbers.get("queries", ())) or len(numbers.get("documents", ())) or None
        details = {name: numbers[name] for name in Finding.__dataclass_fields__ if name in numbers}
        for name in details.keys() & {"queries", "documents", "places"}:
            details[name] = tuple(details[name][:MAX_EXAMPLES])
        details["effect"] = known
        details["severity"] = self.severity if serious is None else "warning" if serious else "information"
        numbers["effect"] = changes(known) or None
        return Finding(self.code, self.message(**numbers), self.advice(**numbers), **details)


def changes(effect: Mapping[str, float]) -> str:
    """Return the first two changes of metrics in words; empty if all are below 0.0005."""
    notable = [(name, by) for name, by in effect.items() if abs(by) >= MIN_PRINTED_CHANGE]
    return ", ".join(f"{words.number(by, sign=True, digits=3)} {name}" for name, by in notable[:2])


class _Sentence(Formatter):
    """Numbers in a text, each written as its format asks."""

    def format_field(self, value: Any, how: str) -> str:
        if how == "?":
            return ""
        if isinstance(value, str):
            return words.plural(value) if how == "plural" else value
        if isinstance(value, Iterable):
            return words.sample(value) if how == "ids" else words.listing(value, int(how or 6))
        if how.startswith("%"):
            return words.share(value, int(how[1:] or 0))
        if how == "amount":
            return words.amount(value)
        if how.startswith("="):
            return words.agree(value, how[1:])
        if how.lstrip("+").isdecimal():
            return words.number(value, sign="+" in how, digits=int(how))
        one, _, many = how.partition("|")
        if one:
            return words.counted(value, one, many or None)
        if isinstance(value, float):
            return words.number(value)
        return words.count(value) if isinstance(value, int) else str(value)


def filled(text: str, numbers: Mapping[str, Any]) -> str:
    """Return a text with its numbers. A part in square brackets is left out if one of its numbers is missing, None or False.

    Formats: ``{n}`` a count, ``{n:query}`` with its noun, ``{n:row has|rows have}``, ``{n:=has}`` only the verb that agrees;
    ``{x:4}`` four decimals, ``{x:+3}`` with its sign, ``{x:%}`` and ``{x:%1}`` shares, ``{x:amount}``; of several names ``{ids:ids}``
    a sample, ``{names}`` all and ``{names:4}`` at most four; ``{noun:plural}``; ``{flag:?}`` nothing, a condition of its part.

    >>> filled("{run} lacks {n:query} ({ids:ids})[, {share:%} of all]", {"run": "bm25", "n": 2, "ids": ["7", "9"]})
    'bm25 lacks 2 queries (7, 9)'
    """

    def kept(match: re.Match[str]) -> str:
        names = [name for _, name, _, _ in Formatter().parse(match[1]) if name]
        return match[1] if all(numbers.get(name) is not None and numbers[name] is not False for name in names) else ""

    return _Sentence().vformat(OPTIONAL.sub(kept, text), (), numbers)


def active_cautions(cautions: Iterable[C], ignored: Collection[str] | None = None) -> list[C]:
    """The warnings that are not ignored, in the caller's syntax: keywords in Python, options on the command line."""
    kept = [caution for caution in cautions if caution.code not in (ignored or ())]
    if words.MESSAGE_STYLE["options"]:
        return kept
    return [replace(c, message=words.in_caller_syntax(c.message), hint=words.in_caller_syntax(c.hint)) for c in kept]
