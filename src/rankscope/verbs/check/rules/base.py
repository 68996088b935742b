"""What a rule of ``check`` is, and what it finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from rankscope.declared import Declared

if TYPE_CHECKING:
    from rankscope.verbs.check.rules.case import Case

Severity = Literal["warning", "information"]
EXAMPLES = 5  # queries, documents and places that a finding names
LONGEST = 40  # signs of an id that a message quotes


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that a rule found, in words and as data.

    ``message`` is one sentence without a full stop, with the size of the effect on this data where there is one; ``hint`` what to
    do about it here. ``effect`` has by metric how far the number moves, or would move; ``count`` how many rows, queries or
    documents. ``places`` are lines of files, ``queries`` and ``documents`` (query and document) examples.
    """

    code: str
    message: str
    hint: str = ""
    severity: Severity = "warning"
    run: str | None = None
    effect: Mapping[str, float] = field(default_factory=dict)
    count: int | None = None
    queries: Sequence[str] = ()
    documents: Sequence[tuple[str, str]] = ()
    places: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        """As it stands in JSON: what there is nothing to say about is left out."""
        out: dict[str, Any] = {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "hint": self.hint,
            "run": self.run,
        }
        more = {
            "count": self.count,
            "effect": dict(self.effect),
            "queries": list(self.queries),
            "documents": [{"query_id": query, "doc_id": doc} for query, doc in self.documents],
            "places": list(self.places),
        }
        return out | {name: value for name, value in more.items() if value not in (None, [], {})}


class Rule(Declared, kind="rule"):
    """Base of every rule: one class is one rule.

    Its docstring says what is wrong in one line (``what``); ``why`` tells why it matters for the number, ``remedy`` what to do.
    ``code`` never changes its meaning once released. ``find`` looks at a ``Case`` and yields what it found, if anything.
    ``needs`` names what must be stated beside the data (an attribute of ``Said``), ``said_by`` the other verb that alone finds this.
    """

    code: ClassVar[str] = ""
    severity: ClassVar[Severity] = "warning"
    why: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    needs: ClassVar[str] = ""
    said_by: ClassVar[str] = ""
    listed_by: ClassVar[str] = "rankscope check --list"

    def __init_subclass__(cls, *, code: str = "", aliases: tuple[str, ...] = (), **more: Any) -> None:
        cls.code = code
        super().__init_subclass__(aliases=(code, *aliases) if code else aliases, **more)

    @classmethod
    def what(cls) -> str:
        """What is wrong, in one line."""
        return cleandoc(cls.__doc__ or "").splitlines()[0].rstrip(".")

    def applies(self, case: Case) -> bool:
        """Whether ``check`` can look for this in a case: what it needs was stated, and no other verb has to say it."""
        return not self.said_by and (not self.needs or getattr(case.said, self.needs) is not None)

    def find(self, case: Case) -> Iterable[Finding]:
        """What this rule finds in a case, nothing where all is well; the one thing that every rule must say."""
        raise TypeError(f"rule {self.code} does not say what it finds")

    def found(self, message: str, **more: Any) -> Finding:
        """A finding of this rule, at its severity unless another is said; lists of examples are cut."""
        more = {"severity": self.severity, "hint": self.remedy} | more
        for name in ("queries", "documents", "places"):
            if name in more:
                more[name] = tuple(more[name][:EXAMPLES])
        return Finding(code=self.code, message=message, **more)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and its noun: ``1 query``, ``8,691 judgments``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def some(ids: Sequence[str], number: int | None = None, limit: int = 3) -> str:
    """A few ids, and dots where there are more: ``17, 21, 40 ...``."""
    shown = ", ".join(i if len(i) <= LONGEST else i[: LONGEST - 1] + "…" for i in ids[:limit])
    return shown + (" ..." if (len(ids) if number is None else number) > limit else "")


def against_leaving_out(effect: Mapping[str, float]) -> str:
    """What some queries do to the means, as the end of a message; empty where it is too little to tell."""
    size = moved(effect)
    return f": {size} against leaving them out" if size else ""


def moved(effect: Mapping[str, float], limit: int = 2) -> str:
    """Changes of metrics in words, in the order asked for: ``-0.019 nDCG@10, -0.004 AP``; empty where none is 0.0005 or more.

    >>> moved({"nDCG@10": -0.019, "RR": 0.0, "AP": -0.004})
    '-0.019 nDCG@10, -0.004 AP'
    """
    seen = [(name, by) for name, by in effect.items() if abs(by) >= 0.0005]
    return ", ".join(f"{by:+.3f} {name}" for name, by in seen[:limit])
