"""What a rule of ``check`` is, and a finding of one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from rankscope import words
from rankscope.blocks import Caution
from rankscope.declared import Declared, doc_of
from rankscope.scoring.health import NOTABLE
from rankscope.verbs.check.case import EXAMPLES, CheckCase
from rankscope.verbs.check.log_case import LogCase


@dataclass(frozen=True, kw_only=True)
class Finding(Caution):
    """One thing that is wrong or worth knowing, in words and as data.

    ``message`` is one sentence without a full stop, with the size of the effect on this data where there is one; ``hint`` what to
    do about it here. ``effect`` has by metric how far the number moves, or would move; ``count`` how many rows, queries or
    documents. ``places`` are lines of files, ``queries`` and ``documents`` (query and document) examples.
    """

    hint: str = ""
    severity: Literal["warning", "information"] = "warning"
    run: str | None = None
    effect: Mapping[str, float] = field(default_factory=dict)
    count: int | None = None
    queries: Sequence[str] = ()
    documents: Sequence[tuple[str, str]] = ()
    places: Sequence[str] = ()


class Rule(Declared, kind="rule"):
    """Base of every rule: one class is one rule.

    Its docstring says what is wrong in one line (``what``); ``why`` tells why it matters for the number, ``remedy`` what to do
    (where ``evaluate`` or ``compare`` warns of it, too, their ``REMEDIES`` say so).
    ``code`` never changes its meaning once released. ``find`` looks at a ``CheckCase`` and yields its findings, if any.
    The class statement names ``code``, ``severity`` and so on: ``class Refused(Rule, code="RS109")``.
    ``tail`` ends the message of a finding with an effect that is worth a word: ``{}`` stands for the changes. ``needs`` names what
    must be stated beside the data (an attribute of the ``CheckCase``), ``other_verb`` the command that alone can find this.
    ``of`` says what it looks at: ``judgments`` with rankings, or a ``log``.
    """

    code: ClassVar[str] = ""
    severity: ClassVar[Literal["warning", "information"]] = "warning"
    why: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    tail: ClassVar[str] = ""
    needs: ClassVar[str] = ""
    other_verb: ClassVar[str] = ""
    of: ClassVar[str] = "judgments"
    listed_by: ClassVar[str] = "rankscope check --list"

    def __init_subclass__(cls, *, code: str = "", aliases: tuple[str, ...] = (), kind: str = "", **traits: str) -> None:
        for name, value in {"code": code, **traits}.items():
            if name not in {"code", "severity", "tail", "needs", "other_verb", "of"}:
                raise TypeError(f"rule {cls.__name__}: a rule has no {name}")
            setattr(cls, name, value)
        super().__init_subclass__(kind=kind, aliases=(code, *aliases) if code else aliases)

    @property
    def name(self) -> str:
        """The name of the rule: that of the class, whose ending ``Rule`` keeps it apart from other classes."""
        return type(self).__name__.removesuffix("Rule")

    @classmethod
    def what(cls) -> str:
        """What is wrong, in one line."""
        return doc_of(cls).splitlines()[0].rstrip(".")

    def applies(self, case: CheckCase | LogCase) -> bool:
        """Whether ``check`` can look for this in a case: what it needs was stated, and it is not for another command."""
        return self.of == case.of and not self.other_verb and (not self.needs or getattr(case, self.needs) is not None)

    def find(self, case: CheckCase) -> Iterable[Finding]:
        """The findings of this rule in a case, none where all is well; the one method that every rule must define."""
        raise TypeError(f"rule {self.code} does not say what it finds")

    def finding(
        self,
        message: str,
        *,
        effect: Mapping[Any, float] | None = None,
        serious: bool | None = None,
        tail: str | None = None,
        count: int | None = None,
        **more: Any,
    ) -> Finding:
        """A finding of this rule.

        The ``effect`` ends the message as ``tail`` says. A ``serious`` one is a warning, another information; the rule decides where
        that is not said. The ``count`` is that of the queries or documents unless named; of these the first few are kept.
        """
        known = {str(metric): by for metric, by in effect.items() if not math.isnan(by)} if effect else {}
        if text := changes(known):
            message += (self.tail if tail is None else tail).format(text)
        more = {"severity": self.severity, "hint": self.remedy} | more
        if serious is not None:
            more["severity"] = "warning" if serious else "information"
        if count is None:
            count = len(more.get("queries", ())) or len(more.get("documents", ())) or None
        for name in {"queries", "documents", "places"} & more.keys():
            more[name] = tuple(more[name][:EXAMPLES])
        return Finding(code=self.code, message=message, effect=known, count=count, **more)


def changes(effect: Mapping[str, float]) -> str:
    """The first two changes of metrics in words; empty where all are below 0.0005.

    >>> changes({"nDCG@10": -0.019, "RR": 0.0, "AP": -0.004})
    '−0.019 nDCG@10, −0.004 AP'
    """
    notable = [(name, by) for name, by in effect.items() if abs(by) >= NOTABLE]
    return ", ".join(f"{words.number(by, sign=True, digits=3)} {name}" for name, by in notable[:2])
