"""A task and its data: what can be asked of them when metrics are chosen, and the numbers that reasons rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rankscope.declared import parameters
from rankscope.metrics import CATALOGUE, Metric, parse
from rankscope.verbs.advise.facts import Facts

ONE = 0.8  # of the queries with an answer have exactly one
MANY = 10  # relevant documents of the median query
DEEP = 100  # relevant documents of the median query
THOUSAND = 1000  # queries; and how deep a ranking is usually evaluated
HOLES = 0.1  # of the top k unjudged
LOW = 0.9  # a ceiling below this is worth a word
LONGEST_TABLE = 12  # grades in a table of gains
EXPONENTIAL = 5  # the highest grade for which 2^grade - 1 does not drown the others
COUNTS = 100  # a grade above it is none
EVERYTHING = 0.999  # of the documents returned are judged


@dataclass(frozen=True, eq=False)
class Case:
    """Facts with the rank ``k`` down to which results are looked at and ``deep``, the rank that a deeper look goes to.

    ``taste`` says that low grades are dislikes. Every property is a condition that a declaration may name in ``when``.
    """

    facts: Facts
    k: int = 10
    deep: int = 100
    taste: bool = False

    def holds(self, when: Sequence[str]) -> bool:
        """Whether all conditions hold, which are named by property: ``("graded", "not one")``."""
        return all(getattr(self, word.removeprefix("not ")) != word.startswith("not ") for word in when)

    @property
    def one(self) -> bool:
        """Most queries have exactly one relevant document."""
        return bool(self.facts.singles >= ONE * max(len(self.facts.answered), 1))

    @property
    def many(self) -> bool:
        """The median query has ten relevant documents or more."""
        return self.facts.median >= MANY

    @property
    def hundreds(self) -> bool:
        """The median query has a hundred relevant documents or more."""
        return self.facts.median >= DEEP

    @property
    def graded(self) -> bool:
        """Several grades above 0 are in use, and they are grades rather than counts."""
        return len(self.facts.positive) > 1 and not self.counts

    @property
    def counts(self) -> bool:
        """The grades are too large for grades: how often something was played, bought or clicked."""
        return self.facts.top > COUNTS

    @property
    def stars(self) -> bool:
        """The grades are a scale of ratings."""
        return self.facts.stars

    @property
    def both(self) -> bool:
        """Half of the queries or more have judged documents that are relevant and others that are not."""
        return 2 * self.facts.both >= self.facts.queries

    @property
    def some_both(self) -> bool:
        """A query has judged documents of both kinds."""
        return self.facts.both > 0

    @property
    def negative(self) -> bool:
        """There are negative grades."""
        return self.facts.negative > 0

    @property
    def aspects(self) -> bool:
        """Documents have several grades, by subtopic or judge."""
        return self.facts.several > 0

    @property
    def users(self) -> bool:
        """The queries look like users."""
        return self.facts.users

    @property
    def entities(self) -> bool:
        """The documents look like entities."""
        return self.facts.entities

    @property
    def thousands(self) -> bool:
        """A thousand queries or more."""
        return self.facts.queries >= THOUSAND

    @property
    def runs(self) -> bool:
        """Runs were given."""
        return bool(self.facts.runs)

    @property
    def short(self) -> bool:
        """No list of some run is longer than ten."""
        return self.facts.reach is not None and self.facts.reach <= 10

    @property
    def long(self) -> bool:
        """Every run has a list of a thousand or more."""
        return self.facts.reach is not None and self.facts.reach >= THOUSAND

    @property
    def all_judged(self) -> bool:
        """Everything that the runs return is judged."""
        return self.runs and all(1 - run.unknown >= EVERYTHING for run in self.facts.runs)

    @property
    def holes(self) -> bool:
        """A run's top k is unjudged for a tenth or more, though documents that are not relevant were judged."""
        return self.some_both and any(run.unjudged >= HOLES for run in self.facts.runs)

    @property
    def capped(self) -> bool:
        """A perfect ranking stays well below 1 on R@k: queries have more relevant documents than k."""
        return self.facts.recall_ceiling(self.k) < LOW * self.answerable

    @property
    def capped_deep(self) -> bool:
        """The same at the deeper rank."""
        return self.facts.recall_ceiling(self.deep) < LOW * self.answerable

    @property
    def answerable(self) -> float:
        """The share of queries with a relevant document: no metric of the mean can exceed it."""
        return len(self.facts.answered) / self.facts.queries

    @property
    def cut(self) -> bool:
        """Runs end at one rank above a thousand, or at different ones: a metric without cutoff means what they happen to hold."""
        ends = {run.deepest for run in self.facts.runs if run.cut}
        return bool(ends) and (min(ends) < THOUSAND or len({run.deepest for run in self.facts.runs}) > 1)

    @property
    def odd_top(self) -> bool:
        """Grades that do not end at 4, which ERR takes for the top unless told otherwise."""
        return self.graded and self.facts.top != 4

    # -- metrics as they are spelled for these data ------------------------------------------------

    def metric(self, name: str, at: str = "", args: str = "") -> Metric:
        """A metric with what these data need: a cutoff ("k", "deep", "uncut" or a number), a level, gains, the top grade."""
        known = parameters(CATALOGUE[name])
        said = [args.format(top=self.facts.top, level=self.facts.level)] if args else []
        if "level" in known and "level" not in args and self.facts.level != 1:
            said.append(f"level={self.facts.level:g}")
        if name == "ERR":
            said.append(f"max_grade={self.facts.top:g}")
        if "gain" in known and "gain" not in args and (gain := self.gain):
            said.append(f"gain={gain}")
        uncut = f"@{self.facts.reach}" if self.cut else ""
        cutoff = {"": "", "k": f"@{self.k}", "deep": f"@{self.deep}", "uncut": uncut}.get(at, f"@{at}")
        return parse(f"{name}({', '.join(said)}){cutoff}" if said else name + cutoff)

    @property
    def gain(self) -> str:
        """The gain of grades on a scale of ratings, or of counts; empty where the grade itself will do."""
        if self.counts:
            return "'binary'"
        below = [grade for grade in self.facts.positive if grade < self.facts.level]
        if not self.facts.stars or not below:
            return ""
        if not self.taste and self.facts.top <= EXPONENTIAL:
            return "'exponential'"
        if len(below) > LONGEST_TABLE:
            return ""
        return "{" + ", ".join(f"{grade:g}: 0" for grade in below) + "}"


# --- what reasons rest on: numbers of the data, in words --------------------------------------------


def number(value: float) -> str:
    """A count with its thousands, or a median that lies between two.

    >>> number(1204.0), number(2.5)
    ('1,204', '2.5')
    """
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def grades(case: Case) -> str:
    """Which grades there are, and how often."""
    facts = case.facts
    if len(facts.grades) > 8:
        return f"{len(facts.grades)} different grades from {min(facts.grades):g} to {facts.top:g}"
    total = sum(facts.grades.values())
    return "grades " + ", ".join(f"{g:g} ({_share(n, total)})" for g, n in facts.grades.items())


def relevant(case: Case) -> str:
    """How many relevant documents queries have."""
    found = case.facts.answered
    if int(found.min()) == int(found.max()):
        noun = "document" if int(found.min()) == 1 else "documents"
        return f"{number(found.min())} relevant {noun} for every query that has any"
    level = "" if case.facts.level == 1 else f" (grade {case.facts.level:g} or more)"
    noun = "document" if case.facts.median == 1 else "documents"
    return f"{number(case.facts.median)} relevant {noun}{level} for the median query, {number(found.min())} to {number(found.max())}"


def singles(case: Case) -> str:
    """How many queries have exactly one relevant document."""
    return f"{number(case.facts.singles)} of {number(case.facts.queries)} queries have exactly one relevant document"


def tops(case: Case) -> str:
    """How many queries have a document of the top grade."""
    return f"{number(case.facts.having(case.facts.top))} of {number(case.facts.queries)} queries have a document of grade {case.facts.top:g}"


def queries(case: Case) -> str:
    """How many queries are judged."""
    return f"{number(case.facts.queries)} judged queries, {number(len(case.facts.answered))} with a relevant document"


def both(case: Case) -> str:
    """How many queries have judged documents of both kinds."""
    return f"{number(case.facts.both)} of {number(case.facts.queries)} queries have judged documents of both kinds"


def depth(case: Case) -> str:
    """How deep the runs are."""
    if not case.facts.runs:
        return "no run was given"
    ends = sorted({run.deepest for run in case.facts.runs})
    return (
        f"the longest list of a run has {number(ends[0])}"
        + (f" to {number(ends[-1])}" if len(ends) > 1 else "")
        + " documents"
    )


def unjudged(case: Case) -> str:
    """How much of the top k is unjudged."""
    worst = max(case.facts.runs, key=lambda run: run.unjudged)
    return f"{worst.unjudged:.0%} of the top {case.k} of {worst.name} is not in the judgments"


def ceiling(case: Case) -> str:
    """The ceiling of R@k."""
    return f"a perfect ranking reaches R@{case.k} = {case.facts.recall_ceiling(case.k):.2f}; {relevant(case)}"


def ceiling_deep(case: Case) -> str:
    """The ceiling of R at the deeper rank."""
    return f"a perfect ranking reaches R@{case.deep} = {case.facts.recall_ceiling(case.deep):.2f}; {relevant(case)}"


def aspects(case: Case) -> str:
    """How many aspects column 2 holds."""
    low, high = case.facts.aspects
    return f"{number(case.facts.several)} documents have several grades; {low} to {high} subtopics (or judges) a query in column 2"


def _share(part: int, total: int) -> str:
    share = 100 * part / total
    return "<1%" if 0 < share < 0.5 else f"{share:.0f}%"


RESTS: dict[str, Callable[[Any], str]] = {
    found.__name__: found
    for found in (grades, relevant, singles, tops, queries, both, depth, unjudged, ceiling, ceiling_deep, aspects)
}  # fmt: skip
