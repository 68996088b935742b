"""What a metric is: named factors at each position, multiplied, summed, out of what the query is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from rankscope.declared import Declared, Lookup, Param, plain
from rankscope.errors import InputError
from rankscope.lists import Array, Ideal, Judged, Lists, each, ratio, total
from rankscope.metrics.trec import TrecName


@dataclass(frozen=True, eq=False)
class Terms:
    """A metric's value, still taken apart.

    ``factors`` are multiplied at each position to give what the position earns; ``out_of`` is what
    the query is worth; ``base`` is added to their ratio. ``unjudged`` is what the positions of documents
    nobody judged earn together; ``link`` transforms the result, for the few metrics that are no sum.
    ``defined`` is False for the queries that have no value at all. ``mean_earnings`` takes the place of the sum
    where it was added up over all orders of tied documents.

    value = link((sum(product of the factors) + unjudged) / out_of + base), and 0 / 0 is 0.
    """

    lists: Lists
    factors: Mapping[str, Array]
    out_of: Array | float = 1.0
    base: Array | float = 0.0
    link: Callable[[Array], Array] | None = None
    unjudged: Array | float = 0.0
    defined: Array | None = None
    mean_earnings: Array | None = None

    @property
    def earned(self) -> Array:
        """What each position earns."""
        start = self.lists.shown.astype(float) if self.factors else np.zeros(self.lists.shown.shape)
        if self.lists.chance is not None:
            start *= self.lists.chance
        return reduce(np.multiply, self.factors.values(), start)

    @property
    def worth(self) -> Array:
        """What each query is worth."""
        return np.broadcast_to(np.asarray(self.out_of, dtype=float), len(self.lists))

    @property
    def value(self) -> Array:
        """The value of each query, NaN where it is undefined."""
        earned = total(self.earned) if self.mean_earnings is None else self.mean_earnings
        value = ratio(earned + self.unjudged, self.out_of) + self.base
        if self.link is not None:
            value = self.link(value)
        return value if self.defined is None else np.where(self.defined, value, np.nan)

    @property
    def unjudged_share(self) -> Array:
        """What the positions of unjudged documents add, before the link."""
        return ratio(np.broadcast_to(np.asarray(self.unjudged, dtype=float), len(self.lists)), self.worth)

    @property
    def shares(self) -> Array:
        """What each position adds to the value, before the link."""
        return ratio(self.earned, self.worth[:, None])


# --- the vocabulary of parameters: each is explained and bounded here, once, for every metric -------

Cutoff = Annotated[int | None, Param("look no further than this rank", low=1)]
NeededCutoff = Annotated[int | None, Param("look no further than this rank", low=1, needed=True)]
Level = Annotated[float, Param("the lowest grade that counts as relevant", low=0, also={"rel": {}, "min_rel": {}})]
JudgedOnly = Annotated[bool, Param("leave out unjudged documents, and close the gaps")]
LARGEST = 1000  # 2^grade and sums of it stay finite
MaxGrade = Annotated[float, Param("the highest grade of the scale", above=0, high=LARGEST, also={"max_rel": {}})]


def reason_against_gains(table: str | Lookup | None) -> str:
    """Why a table of gains cannot be taken: gains are of graded documents, and no less than nothing."""
    if not isinstance(table, Lookup) or all(grade >= 0 and gain >= 0 for grade, gain in table):
        return ""
    return "grades and gains are 0 or more; a document with a negative grade was not judged and gains nothing"


Gain = Annotated[
    Literal["linear", "exponential", "binary"] | Lookup,
    Param(
        "what a grade is worth: the grade itself, 2^grade - 1, 1 for any grade of 1 or more, or a table such as {1: 3, 2: 9}; "
        "a grade missing from the table keeps its linear gain",
        also={"gains": {}, "dcg": {"log2": "linear", "exp-log2": "exponential"}},
        reason_against=reason_against_gains,
    ),
]


@dataclass(frozen=True)
class Example:
    """A worked example: what the metric gives for one list of grades, as arithmetic.

    A grade may be a dict of grades by subtopic or judge, for metrics that take several.
    """

    metric: str
    grades: tuple[float | Mapping[str, float] | None, ...]
    value: str
    more: Mapping[str, Any] | None = None


class Metric(Declared, kind="metric"):
    """Base of every metric: subclass it, name the parameters, say what a position earns.

    What a class may declare beside ``terms``: ``formula``, ``convention`` (what to watch out for),
    ``source``, ``best_for``, ``not_for``, ``examples``; ``relevance``, ``positions``, ``counts``; ``better``,
    ``bounds``, ``empty``, ``aggregate``, ``trec`` (trec_eval's names), ``needs`` (what the engine
    must fetch beyond grades and ranks: "score", "aspects" for several grades of a document, "subtopics" for
    aspects that must be there), ``monotone`` (False where moving a better document above a
    worse one may hurt) and ``looks_below`` (True where retrieved documents below the cutoff count, as
    in an ideal made of all that were retrieved).
    """

    listed_by: ClassVar[str] = "rankscope metrics"
    family: ClassVar[str] = ""  # where it is not called as its module is
    formula: ClassVar[str] = ""
    convention: ClassVar[str] = ""
    source: ClassVar[str] = ""
    best_for: ClassVar[str] = ""
    not_for: ClassVar[str] = ""  # beside what the traits say: see description.unfit_for
    examples: ClassVar[tuple[Example, ...]] = ()
    relevance: ClassVar[Literal["binary", "graded", "none"]] = "binary"
    positions: ClassVar[bool] = True
    counts: ClassVar[Literal["one", "many"]] = "many"
    better: ClassVar[Literal["higher", "lower", "neither"]] = "higher"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    trec: ClassVar[tuple[TrecName, ...]] = ()
    # how trec_eval orders equal scores for this metric: document ids descend, but ascend for preferences
    trec_ties: ClassVar[Literal["trec", "docid"]] = "trec"
    # how the values of the queries become one number
    aggregate: ClassVar[Literal["mean", "sum", "geometric", "weighted", "pooled"]] = "mean"
    # what the engine must fetch besides grades and ranks: "score", "aspects", "subtopics"
    needs: ClassVar[frozenset[str]] = frozenset()

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest value there can be."""
        return self.bounds

    @property
    def monotone(self) -> bool:
        """Whether a better document moved above a worse one never hurts."""
        return True

    @property
    def additive(self) -> bool:
        """Whether a position earns by its own grade and rank, or by ``relevant_so_far`` and ``first_relevant``.

        The mean over all orders of tied documents then has a closed form. The rest must not depend on the order.
        """
        return False

    @property
    def counts_ties(self) -> bool:
        """Whether equal scores are part of the metric, and its value the mean over their orders already."""
        return False

    @property
    def settled_by_grade(self) -> bool:
        """Whether tied documents in the order of their grades give the best value, and in reverse the worst."""
        return self.monotone

    @property
    def looks_below(self) -> bool:
        """Whether documents retrieved below the cutoff count."""
        return False

    @property
    def empty(self) -> float | Literal["judgments", "varies"] | None:
        """The value of an empty ranking: a number, None (undefined), "judgments" (as the judgments say, whatever is returned), or "varies" (it depends on the query)."""
        return 0.0

    def terms(self, lists: Lists) -> Terms:
        """The factors of each position and what the query is worth: the one method every metric must have."""
        raise TypeError(f"{type(self).__name__} declares no terms")

    # -- derived once, for every metric -----------------------------------------------------------

    def taken_apart(self, lists: Lists) -> Terms:
        """The terms over what the metric looks at: judged documents only where ``judged_only``, and the top k."""
        self.ready()
        if getattr(self, "judged_only", False):
            lists = lists.condensed
        return self.terms(lists.top(getattr(self, "cutoff", None)))

    def score(self, lists: Lists) -> Array:
        """The value of each query, NaN where it is undefined."""
        return self.taken_apart(lists).value

    def mean_over_orders(self, lists: Lists, depth: int | None = None, upto: int | None = None) -> Array:
        """The mean of each query's value over all orders of tied documents, for a metric that is ``additive``.

        No rank below ``upto`` matters; metrics that say the same rank share their work.
        """
        if getattr(self, "judged_only", False):
            lists = lists.condensed
        cutoff = getattr(self, "cutoff", None)
        plain = self.terms(lists.top(depth).top(cutoff))
        level = getattr(self, "level", None) if self.relevance == "binary" else None
        parts = [total(self.terms(part.top(depth).top(cutoff)).earned) for part in lists.spreads(upto, level)]
        return replace(plain, mean_earnings=sum(parts[1:], start=parts[0])).value

    def weight(self, lists: Lists) -> Array:
        """The weight of each query in a weighted mean."""
        return np.ones(len(lists))

    def worth(self, lists: Lists) -> Array:
        """What each query is worth: the weight of its value in a micro mean."""
        return self.taken_apart(lists).worth

    def hopeless(self, lists: Lists) -> Array:
        """Queries that can only score 0: no relevant document is known, or none is among what the metric looks at."""
        level = getattr(self, "level", None)
        known = lists.known(np.nextafter(0.0, 1.0) if level is None else level)
        return np.asarray((known == 0) | ((self.worth(lists) == 0) & self.looks_below))

    def without_relevant(self, lists: Lists, anywhere: bool = False) -> Array:
        """Queries without a relevant document in the top k, or ``anywhere`` in the list."""
        level = getattr(self, "level", None)
        seen = lists if anywhere else lists.top(getattr(self, "cutoff", None))
        return np.asarray(~seen.relevant(np.nextafter(0.0, 1.0) if level is None else level).any(axis=1))

    def pool(self, judged: Judged) -> float:
        """One value over the documents of all queries together, for metrics that are ``pooled``."""
        raise TypeError(f"{type(self).__name__} has no pooled value")

    def pooled_documents(self, judged: Judged) -> tuple[Array, Array, Array] | None:
        """The documents in the pairs of a pooled value: the number of the query of each, its score, and whether it is relevant; None without pairs."""
        return None

    def of(
        self,
        ranking: Any,
        *,
        scores: Any = None,
        known: Any = None,
        ideal: Any = None,
        relevant: Any = None,
        judgments: Any = None,
        lengths: Any = None,
    ) -> Any:
        """Score one ranked list, or a batch of lists, without files.

        ``ranking`` is the grades in ranked order, best rank first (None: unjudged), or, with
        ``scores``, labels in any order. A batch is a list of lists, which may differ in length, or a two-dimensional array (NumPy,
        or a tensor on the processor) with a list in each row; ``lengths`` then says how many documents stand in each row, the rest
        being padding. ``known`` is the number of relevant documents that exist, those
        not in the list being of grade 1 (or ``level``); ``ideal`` the grades of all judged documents.
        Without either, the list is taken to hold all there is. With ``relevant={...}`` or
        ``judgments={id: grade}`` the list is of ids. A batch gives an array, one list a float; a value
        that does not exist is NaN. Raises InputError for what is no list of grades.

        >>> from rankscope.metrics import AP, AUC, nDCG
        >>> round(AP().of([1, 0, 1, 0, 0, 1], known=3), 4)
        0.7222
        >>> AUC().of([1, 0, 1, 0], scores=[0.9, 0.2, 0.8, 0.3])
        1.0
        >>> (nDCG @ 10).of(["d3", "d1"], judgments={"d3": 2, "d9": 0})
        1.0
        >>> (nDCG @ 10).of(np.array([[1, 0, 2], [3, 0, 0]]), lengths=[2, 3])
        array([1., 1.])
        """
        from rankscope.metrics.single import is_batch, judged_batch, judged_lists, tensor_as_array

        given = {"scores": scores, "known": known, "ideal": ideal, "relevant": relevant, "judgments": judgments}
        given = {name: tensor_as_array(value, name) for name, value in given.items()}
        ranking, level = tensor_as_array(ranking, "the ranking"), getattr(self, "level", 1.0)
        batch = judged_batch(ranking, level, given, lengths)
        if batch is None:
            lists = judged_lists(ranking, level, given)
            values = self.score(lists.lists(np.arange(len(lists))))
            return values if is_batch(ranking) else float(values[0])
        judged = batch.flat if self.needs else batch.within(self.reach)
        values = np.empty(len(judged))
        for chunk in judged.chunks():
            values[chunk] = self.score(judged.lists(chunk))
        return values

    @property
    def reach(self) -> int | None:
        """The last rank at which a retrieved document matters; None where all may."""
        below = self.looks_below or self.counts_ties or getattr(self, "judged_only", False)
        return None if below else getattr(self, "cutoff", None)

    def refuse_grades_above(self, max_grade: float, lists: Lists) -> None:
        """One clear line where a document is graded above the scale that the metric was given."""
        top = float(np.max(lists.ideal.grade, initial=0.0))
        if top > max_grade:
            say = self.having(max_grade=top)
            raise InputError(
                f"{self}: a document has grade {plain(top)}, above max_grade={plain(max_grade)}; say {say}"
            )

    def trec_name(self) -> str | None:
        """What trec_eval prints for this metric, where it has the same one."""
        return next((name for spec in self.trec if (name := spec.spell(self))), None)


# --- what several families share ---------------------------------------------------------------------


def gains(grade: Array, gain: str | Lookup) -> Array:
    """What each grade is worth: at least 0, and 0 for documents that were pooled without a grade."""
    grade = np.maximum(grade, 0.0)
    if gain == "linear":
        return grade
    if gain == "binary":
        return np.asarray(grade >= 1, dtype=float)
    if gain == "exponential":
        if np.max(grade, initial=0.0) > LARGEST:
            top = plain(float(np.max(grade)))
            raise InputError(f"a grade of {top} is too large for gain='exponential', which is 2^grade - 1")
        if (grade == np.floor(grade)).all():
            return np.ldexp(1.0, grade.astype(np.int64)) - 1.0
        return each(lambda g: 2.0**g - 1.0, grade)
    table = dict(Lookup.of(gain))
    # grade 0 is also what unjudged documents are given, so a table may raise it only for judged ones
    return each(lambda g: table.get(g, g), grade)


def gains_of(cells: Lists | Ideal, gain: str | Lookup) -> Array:
    """What each cell gains, of rankings or of an ideal: nothing without a grade."""
    return np.where(cells.shown & (cells.grade >= 0), gains(cells.grade, gain), 0.0)


def largest_first(gain: Array) -> Array:
    """The gains of each query in falling order: they need not rise with the grade."""
    return -np.sort(-gain, axis=1)
