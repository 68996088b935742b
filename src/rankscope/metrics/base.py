"""The base of metrics: named factors, multiplied at each position, summed, and divided by the worth of the query."""

from __future__ import annotations

import re
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
    """The parts of a metric's value.

    The product of the ``factors`` is the earnings of each position. ``out_of`` is the worth of the query. ``base`` is added
    to their ratio. ``unjudged`` is the total earnings of unjudged documents. ``link`` transforms the result, for metrics that
    are not sums. ``defined`` is False for queries without a value. ``mean_earnings`` replaces the sum if it was computed over all orders of
    tied documents.

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
        """The earnings of each position."""
        start = self.lists.shown.astype(float) if self.factors else np.zeros(self.lists.shown.shape)
        if self.lists.chance is not None:
            start *= self.lists.chance
        return reduce(np.multiply, self.factors.values(), start)

    @property
    def worth(self) -> Array:
        """The worth of each query."""
        return np.broadcast_to(np.asarray(self.out_of, dtype=float), len(self.lists))

    @property
    def value(self) -> Array:
        """The value of each query, NaN if undefined."""
        earned = total(self.earned) if self.mean_earnings is None else self.mean_earnings
        value = ratio(earned + self.unjudged, self.out_of) + self.base
        if self.link is not None:
            value = self.link(value)
        return value if self.defined is None else np.where(self.defined, value, np.nan)

    @property
    def unjudged_share(self) -> Array:
        """The part of the value from unjudged documents, before the link."""
        return ratio(np.broadcast_to(np.asarray(self.unjudged, dtype=float), len(self.lists)), self.worth)

    @property
    def shares(self) -> Array:
        """The part of the value from each position, before the link."""
        return ratio(self.earned, self.worth[:, None])


Cutoff = Annotated[int | None, Param("the last rank that counts", low=1)]
NeededCutoff = Annotated[int | None, Param("the last rank that counts", low=1, needed=True)]
Level = Annotated[float, Param("the lowest grade that counts as relevant", low=0, also={"rel": {}, "min_rel": {}})]
JudgedOnly = Annotated[bool, Param("leave out unjudged documents and close the gaps")]
TOKENS = re.compile(r"([0-9]{1,9})tok")  # a cutoff in tokens
MAX_EXPONENTIAL_GRADE = 1000  # 2^grade and sums of it stay finite
MaxGrade = Annotated[
    float, Param("the highest grade of the scale", above=0, high=MAX_EXPONENTIAL_GRADE, also={"max_rel": {}})
]


class GainFrom(Lookup):
    """A gain of 1 for grades from a level on, spelled ``'binary>=4'``. The pair below 0 is of no table that users may write."""

    __slots__ = ()

    @property
    def level(self) -> float:
        """The lowest grade with a gain."""
        return self[-1][0]

    def __repr__(self) -> str:
        return f"'binary>={plain(self.level)}'"


def read_gain(value: Any) -> Any:
    """Read a binary gain with its lowest grade. Return any other value as it is."""
    match = re.fullmatch(r"binary\s*>=\s*(\d+(?:\.\d+)?)", value) if isinstance(value, str) else None
    return value if match is None else gain_from(float(match[1]))


def gain_from(level: float) -> str | GainFrom:
    """Return the binary gain of grades from a level on."""
    return "binary" if level == 1 else GainFrom(((-1.0, 0.0), (level, 1.0)))


def reason_against_gains(table: str | Lookup | None) -> str:
    """Return the reason to refuse a table of gains. Empty if all its grades and gains are 0 or more."""
    if (
        not isinstance(table, Lookup)
        or isinstance(table, GainFrom)
        or all(grade >= 0 and gain >= 0 for grade, gain in table)
    ):
        return ""
    return "grades and gains are 0 or more. A document with a negative grade was not judged and gains nothing"


Gain = Annotated[
    Literal["linear", "exponential", "binary"] | Lookup,
    Param(
        "the gain of a grade: the grade itself, 2^grade - 1, 1 for grades of 1 or more ('binary>=4': of 4 or more), or a table like {1: 3, 2: 9}; "
        "a grade missing from the table keeps its linear gain",
        also={"gains": {}, "dcg": {"log2": "linear", "exp-log2": "exponential"}},
        reason_against=reason_against_gains,
        reads=read_gain,
    ),
]


@dataclass(frozen=True)
class Example:
    """A worked example: the value of a metric for one list of grades, as arithmetic.

    For metrics of subtopics or judges, a grade may be a dict of grades. Metrics of items have ids, or lists of ids.
    """

    metric: str
    grades: tuple[Any, ...]
    value: str
    more: Mapping[str, Any] | None = None


class Metric(Declared, kind="metric"):
    """Base of every metric: a subclass names its parameters, and ``terms`` computes the earnings of each position.

    A class may also declare ``formula``, ``convention`` (the watch-out), ``source``, ``best_for``, ``not_for``, ``examples``,
    the traits ``relevance``, ``positions``, ``counts``, ``better``, ``bounds``, ``empty``, ``aggregate``, ``monotone``, ``looks_below``,
    ``trec`` (trec_eval's names), and ``needs``, the inputs beyond grades and ranks: "score", "aspects" (several grades per
    document), "subtopics" (aspects that must be present), "strata" (one aspect per document), "identities" (the order of document ids), "items" (every item shown).
    """

    listed_by: ClassVar[str] = "rankscope metrics"
    family: ClassVar[str] = ""  # if it differs from the module
    formula: ClassVar[str] = ""
    convention: ClassVar[str] = ""
    source: ClassVar[str] = ""
    best_for: ClassVar[str] = ""
    not_for: ClassVar[str] = ""  # in addition to the traits: see description.unfit_for
    examples: ClassVar[tuple[Example, ...]] = ()
    relevance: ClassVar[Literal["binary", "graded", "none"]] = "binary"
    positions: ClassVar[bool] = True
    counts: ClassVar[Literal["one", "many"]] = "many"
    better: ClassVar[Literal["higher", "lower", "neither"]] = "higher"
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)
    trec: ClassVar[tuple[TrecName, ...]] = ()
    # the order of ties in trec_eval: document ids descend, but ascend for preferences
    trec_ties: ClassVar[Literal["trec", "docid"]] = "trec"
    aggregate: ClassVar[Literal["mean", "sum", "geometric", "weighted", "pooled"]] = "mean"
    needs: ClassVar[frozenset[str]] = frozenset()
    asks: ClassVar[str] = (
        "looks at every item shown: add --items with one row per item, or --history with users and items"  # where inputs of items are missing
    )
    of_sample: ClassVar[bool] = False  # True if lists may hold a uniform sample of the candidates

    @property
    def assumption(self) -> str:
        """The assumption about the data that every number needs next to it. Empty for most metrics."""
        return ""

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest possible value."""
        return self.bounds

    @property
    def monotone(self) -> bool:
        """True if moving a better document above a worse one never hurts."""
        return True

    @property
    def additive(self) -> bool:
        """True if a position earns only by its grade and rank, or by ``relevant_so_far`` and ``first_relevant``.

        The mean over all orders of ties then has a closed form. The other terms must not depend on the order.
        """
        return False

    @property
    def counts_ties(self) -> bool:
        """True if the metric handles ties itself, so that its value is the mean over their orders."""
        return False

    @property
    def settled_by_grade(self) -> bool:
        """True if sorting ties by grade gives the best value, and the reverse the worst."""
        return self.monotone

    @property
    def looks_below(self) -> bool:
        """True if documents retrieved below the cutoff count, as in an ideal made of all retrieved documents."""
        return False

    @property
    def empty(self) -> float | Literal["judgments", "varies"] | None:
        """The value of an empty ranking: a number, None (undefined), "judgments" (the value of any ranking), or "varies" (by query)."""
        return 0.0

    def terms(self, lists: Lists) -> Terms:
        """Return the factors of each position and the worth of the query: the only method that a metric must have."""
        raise TypeError(f"{type(self).__name__} declares no terms")

    @classmethod
    def in_other_units(cls, values: Mapping[str, Any], value: Any) -> Any:
        """The metric down to a number of tokens, for ``2048tok``."""
        tokens = TOKENS.fullmatch(value) if isinstance(value, str) else None
        budget = cls.catalogue["TokenBudget"]
        return None if tokens is None else budget(metric=cls(**values), tokens=int(tokens[1]))

    def taken_apart(self, lists: Lists) -> Terms:
        """The terms over the top k, and over judged documents only if ``judged_only``."""
        self.ready()
        if getattr(self, "judged_only", False):
            lists = lists.condensed
        return self.terms(lists.top(getattr(self, "cutoff", None)))

    def score(self, lists: Lists) -> Array:
        """The value of each query, NaN if undefined."""
        return self.taken_apart(lists).value

    def score_all(self, judged: Judged) -> Array:
        """The value of each query, a chunk of queries at a time."""
        values = np.empty(len(judged))
        for chunk in judged.chunks():
            values[chunk] = self.score(judged.lists(chunk))
        return values

    def mean_over_orders(self, lists: Lists, depth: int | None = None, upto: int | None = None) -> Array:
        """The mean of each query's value over all orders of ties, for an ``additive`` metric.

        Ranks below ``upto`` do not count. Metrics with the same rank share their work.
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
        """The worth of each query, its weight in a micro mean."""
        return self.taken_apart(lists).worth

    def cannot_score(self, lists: Lists) -> Array:
        """True for queries that can only score 0: without a known relevant document, or without one that the metric counts."""
        level = getattr(self, "level", None)
        known = lists.known(np.nextafter(0.0, 1.0) if level is None else level)
        return np.asarray((known == 0) | ((self.worth(lists) == 0) & self.looks_below))

    def without_relevant(self, lists: Lists, anywhere: bool = False) -> Array:
        """True for queries without a relevant document in the top k, or ``anywhere`` in the list."""
        level = getattr(self, "level", None)
        seen = lists if anywhere else lists.top(getattr(self, "cutoff", None))
        return np.asarray(~seen.relevant(np.nextafter(0.0, 1.0) if level is None else level).any(axis=1))

    def pool(self, judged: Judged) -> float:
        """Return one value over the documents of all queries, for ``pooled`` metrics."""
        raise TypeError(f"{type(self).__name__} has no pooled value")

    def pooled_documents(self, judged: Judged) -> tuple[Array, Array, Array] | None:
        """The documents in the pairs of a pooled value: query numbers, scores, and relevance. None without pairs."""
        return None

    def of(  # noqa: PLR0913 - all that can be known of a list
        self, ranking: Any, *, scores: Any = None, known: Any = None, ideal: Any = None, relevant: Any = None,
        judgments: Any = None, lengths: Any = None, items: Any = None, history: Any = None, user: Any = None,
    ) -> Any:  # fmt: skip
        """Score one ranked list, or a batch of lists, without files.

        ``ranking`` is the grades in ranked order, best rank first (None: unjudged), or, with
        ``scores``, labels in any order. A batch is a list of lists of any length, or a two-dimensional array (NumPy,
        or a tensor on the processor) with one list per row. ``lengths`` is then the number of documents in each row, and the
        rest is padding. ``known`` is the number of relevant documents that exist. Documents that the list misses
        have grade 1 (or ``level``). ``ideal`` is the grades of all judged documents.
        By default the list holds all judged documents. With ``relevant={...}`` or
        ``judgments={id: grade}`` the list holds ids. Metrics of items take lists of ids with ``items={id: {feature: value}}`` or
        ``history={user: [id, ...]}``, and ``user`` is the user of each list. Returns an array for a batch, a float for one list. An undefined
        value is NaN. Raises InputError for anything but a list of grades.

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
        from rankscope.metrics.single import is_batch, lists_of_items, ranked_lists, tensor_as_array

        if items is not None or history is not None:
            of_items = lists_of_items(ranking, items, history, user, judgments)
            if self.aggregate == "pooled":
                return self.pool(of_items)
            item_values = self.score(of_items.lists(np.arange(len(of_items))))
            return item_values if is_batch(ranking) else float(item_values[0])
        options = {"scores": scores, "known": known, "ideal": ideal, "relevant": relevant, "judgments": judgments}
        options = {name: tensor_as_array(value, name) for name, value in options.items()}
        ranking = tensor_as_array(ranking, "the ranking")
        batch = ranked_lists(ranking, getattr(self, "level", 1.0), options, lengths)
        judged = batch.flat if self.needs else batch.within(self.reach)
        values = self.score_all(judged)
        return values if is_batch(ranking) else float(values[0])

    def pooled_shares(self, judged: Judged) -> Any:
        """Return the totals of ``pooled`` metrics of a whole population, and the additions of each query. None for others."""
        return None

    @property
    def reach(self) -> int | None:
        """The last rank at which a retrieved document matters. None if all may."""
        below = self.looks_below or self.counts_ties or getattr(self, "judged_only", False)
        return None if below else getattr(self, "cutoff", None)

    def refuse_grades_above(self, max_grade: float, lists: Lists) -> None:
        """Refuse documents with a grade above the scale of the metric."""
        top = float(np.max(lists.ideal.grade, initial=0.0))
        if top > max_grade:
            remedy = self.having(max_grade=top)
            raise InputError(
                f"{self}: a document has grade {plain(top)}, above max_grade={plain(max_grade)}; write {remedy}"
            )

    def trec_name(self) -> str | None:
        """trec_eval's printed name of this metric. None if trec_eval does not have it."""
        return next((name for spec in self.trec if (name := spec.spell(self))), None)


def gains(grade: Array, gain: str | Lookup) -> Array:
    """The gain of each grade: at least 0, and 0 for documents pooled without a grade."""
    grade = np.maximum(grade, 0.0)
    if gain == "linear":
        return grade
    if gain == "binary":
        return np.asarray(grade >= 1, dtype=float)
    if isinstance(gain, GainFrom):
        return np.asarray(grade >= gain.level, dtype=float)
    if gain == "exponential":
        if np.max(grade, initial=0.0) > MAX_EXPONENTIAL_GRADE:
            top = plain(float(np.max(grade)))
            raise InputError(f"a grade of {top} is too large for gain='exponential', which is 2^grade - 1")
        if (grade == np.floor(grade)).all():
            return np.ldexp(1.0, grade.astype(np.int64)) - 1.0
        return each(lambda g: 2.0**g - 1.0, grade)
    table = dict(Lookup.of(gain))
    # unjudged documents also have grade 0, so a table may raise it only for judged documents
    return each(lambda g: table.get(g, g), grade)


def gains_of(cells: Lists | Ideal, gain: str | Lookup) -> Array:
    """The gain of each cell of rankings or of an ideal: 0 without a grade."""
    return np.where(cells.shown & (cells.grade >= 0), gains(cells.grade, gain), 0.0)


def over_aspects(by_aspect: Array) -> Array:
    """The sum over the last axis (judges, subtopics, strata), one after another, so that a query's value does not depend on its batch."""
    return np.asarray(np.cumsum(by_aspect, axis=-1, dtype=float)[..., -1])


def largest_first(gain: Array) -> Array:
    """The gains of each query in falling order, as gains need not rise with the grade."""
    return -np.sort(-gain, axis=1)
