"""What a rule of ``check`` is, and a finding of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any, ClassVar, Literal

from rankscope import words
from rankscope.blocks import Caution
from rankscope.declared import Declared
from rankscope.scoring.health import NOTABLE
from rankscope.verbs.check.rules.case import EXAMPLES, CheckCase

Severity = Literal["warning", "information"]


@dataclass(frozen=True, kw_only=True)
class Finding(Caution):
    """One thing that is wrong or worth knowing, in words and as data.

    ``message`` is one sentence without a full stop, with the size of the effect on this data where there is one; ``hint`` what to
    do about it here. ``effect`` has by metric how far the number moves, or would move; ``count`` how many rows, queries or
    documents. ``places`` are lines of files, ``queries`` and ``documents`` (query and document) examples.
    """

    hint: str = ""
    severity: Severity = "warning"
    run: str | None = None
    effect: Mapping[str, float] = field(default_factory=dict)
    count: int | None = None
    queries: Sequence[str] = ()
    documents: Sequence[tuple[str, str]] = ()
    places: Sequence[str] = ()


class Rule(Declared, kind="rule"):
    """Base of every rule: one class is one rule.

    Its docstring says what is wrong in one line (``what``); ``why`` tells why it matters for the number, ``remedy`` what to do.
    ``code`` never changes its meaning once released. ``find`` looks at a ``CheckCase`` and yields its findings, if any.
    ``needs`` names what must be stated beside the data (an attribute of ``Background``), ``other_verb`` the command that alone
    can find this.
    """

    code: ClassVar[str] = ""
    severity: ClassVar[Severity] = "warning"
    why: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    needs: ClassVar[str] = ""
    other_verb: ClassVar[str] = ""
    listed_by: ClassVar[str] = "rankscope check --list"

    def __init_subclass__(cls, *, code: str = "", aliases: tuple[str, ...] = (), **more: Any) -> None:
        cls.code = code
        super().__init_subclass__(aliases=(code, *aliases) if code else aliases, **more)

    @classmethod
    def what(cls) -> str:
        """What is wrong, in one line."""
        return cleandoc(cls.__doc__ or "").splitlines()[0].rstrip(".")

    def applies(self, case: CheckCase) -> bool:
        """Whether ``check`` can look for this in a case: what it needs was stated, and it is not for another command."""
        return not self.other_verb and (not self.needs or getattr(case.background, self.needs) is not None)

    def find(self, case: CheckCase) -> Iterable[Finding]:
        """The findings of this rule in a case, none where all is well; the one method that every rule must define."""
        raise TypeError(f"rule {self.code} does not say what it finds")

    def finding(self, message: str, **more: Any) -> Finding:
        """A finding of this rule, with its severity and remedy unless others are named; lists of examples are cut."""
        more = {"severity": self.severity, "hint": self.remedy} | more
        for name in ("queries", "documents", "places"):
            if name in more:
                more[name] = tuple(more[name][:EXAMPLES])
        return Finding(code=self.code, message=message, **more)


def changes(effect: Mapping[str, float], before: str = "", after: str = "") -> str:
    """The first two changes of metrics in words, with what stands before and after; empty where all are below 0.0005.

    >>> changes({"nDCG@10": -0.019, "RR": 0.0, "AP": -0.004}, "; without them: ")
    '; without them: −0.019 nDCG@10, −0.004 AP'
    >>> changes({"RR": 0.0}, "; without them: ")
    ''
    """
    notable = [(name, by) for name, by in effect.items() if abs(by) >= NOTABLE]
    text = ", ".join(f"{words.number(by, sign=True, digits=3)} {name}" for name, by in notable[:2])
    return f"{before}{text}{after}" if text else ""
