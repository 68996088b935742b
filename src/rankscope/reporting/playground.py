"""A page to experiment with: worked examples as lists to rearrange, with live metrics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankscope import words
from rankscope._version import __version__
from rankscope.blocks import Column, Document, Explorer, Page, Query, Section, Table
from rankscope.metrics import parse
from rankscope.metrics.description import rewards
from rankscope.metrics.single import ranked_lists
from rankscope.verbs.catalogue.catalogue import find_metric
from rankscope.verbs.catalogue.result import grades_of, value_of

CUTOFF = 5  # of the metrics that have one
TOP = 4  # the best grade there is: ERR's scale ends here
METRICS = (
    "nDCG@5", "nDCG(gain='exponential')@5", "P@5", "R@5", "RR", "AP", "DCG@5", "DCG(gain='exponential')@5", "ERR@5", "RBP",
)  # fmt: skip
EXPLAINED = ("P", "R", "RR", "AP", "DCG", "nDCG", "ERR", "RBP")

Grades = Sequence[float | None]
_VALUE = re.compile(r"<([^<>|]+?)(?:\s*\|\s*([^<>]*?))?>")


@dataclass(frozen=True)
class Lesson:
    """A list to rearrange, an exercise on it, and its solution, which a page shows on demand.

    ``grades`` are in ranked order (None: unjudged), ``missing`` are grades of judged documents that were not retrieved. In
    ``exercise`` and ``solution``, ``<AP>`` is the value of the list, ``<AP | 0 1 ?>`` the value of another list of grades.
    """

    name: str
    grades: Grades
    exercise: str
    solution: str
    missing: tuple[float, ...] = ()

    def worked(self, text: str) -> str:
        """Return the exercise or the solution, with computed values."""

        def computed(match: re.Match[str]) -> str:
            other = [None if grade == "?" else float(grade) for grade in (match[2] or "").split()]
            return words.number(value(match[1], other if match[2] else self.grades, self.missing), digits=4)

        return _VALUE.sub(computed, text)


LESSONS = (
    Lesson(
        "1 · Order", (1, 0, 1, 0, 0, 1),
        "Swap ranks 1 and 2: which metrics move?",
        "P@5 and R@5 do not, as they count what is in the top 5, not where. "
        "RR falls from <RR> to <RR | 0 1 1 0 0 1>, nDCG@5 from <nDCG@5> to <nDCG@5 | 0 1 1 0 0 1>.",
    ),
    Lesson(
        "2 · AP by hand", (1, 0, 1, 0, 0, 1),
        "Relevant documents are at ranks 1, 3 and 6, and there are 3 in all. Work out AP, then click it to see the three precisions. "
        "How does it change when the last one moves up to rank 2?",
        "AP = (1/1 + 2/3 + 3/6) / 3 = <AP>. At rank 2 the last one makes it <AP | 1 1 0 1 0 0>: it lifts the precision of the one below "
        "it, too.",
    ),
    Lesson(
        "3 · Two gains", (3, 2, 0, 1, 2),
        "nDCG@5 is <nDCG@5> with linear gain and <nDCG(gain='exponential')@5> with exponential gain: two tools that both say nDCG@5 need not "
        "agree. Swap ranks 1 and 2: which of the two falls further?",
        "With linear gain it falls to <nDCG@5 | 2 3 0 1 2>, with exponential gain to <nDCG(gain='exponential')@5 | 2 3 0 1 2>.",
    ),
    Lesson(
        "4 · The top grade", (2, 2, 2, 2, 4),
        "Four good documents stand above the best one. With linear gain nDCG@5 is <nDCG@5>; with exponential gain, where grade 4 is worth 15 "
        "and grade 2 is worth 3, it is <nDCG(gain='exponential')@5>. Move the best one to the top: what do P@5 and AP say?",
        "Both kinds of nDCG@5 are 1 then. P@5 stays at <P@5 | 4 2 2 2 2> and AP at <AP | 4 2 2 2 2>: for them all five are relevant, "
        "wherever they stand.",
    ),
    Lesson(
        "5 · RR at the top", (0, 1, 0, 0, 0, 0, 0, 0, 0, 0),
        "How much does RR gain from rank 2 to rank 1, and how much from rank 10 to rank 9? Move the document down and watch the steps shrink.",
        "From rank 2 to rank 1 it goes from <RR> to <RR | 1>, from rank 10 to rank 9 from <RR | 0 0 0 0 0 0 0 0 0 1> to "
        "<RR | 0 0 0 0 0 0 0 0 1>: the same step of one rank.",
    ),
    Lesson(
        "6 · P@k and order", (1, 1, 0, 0, 0),
        "Press Reverse: which metrics fall? Now set the cutoff to 2 and reverse again.",
        "P@5 stays at <P@5> while nDCG@5 falls from <nDCG@5> to <nDCG@5 | 0 0 0 1 1> and AP from <AP> to <AP | 0 0 0 1 1>. With a cutoff of "
        "2, P falls as well: nothing relevant is left in the top 2.",
    ),
    Lesson(
        "7 · AP and grades", (1, 1, 3, 0, 0),
        "The best document is third. How large are AP and nDCG@5? Press Best order: which metrics move? Press Reset and let "
        "relevance begin at grade 2.",
        "AP is <AP>, the best possible. nDCG@5 is <nDCG@5>, and <nDCG(gain='exponential')@5> with exponential gain: only metrics that see "
        "grades move. Where relevance begins at grade 2, AP is <AP(level=2)>.",
    ),
    Lesson(
        "8 · A second answer", (4, 4, 0, 0, 0),
        "ERR@5 is <ERR@5> and DCG@5 <DCG@5>. Set the grade of d2 to 0: which of the two notices? Click ERR@5 and read “reaches here”.",
        "ERR@5 falls to <ERR@5 | 4 0 0 0 0> only, DCG@5 to <DCG@5 | 4 0 0 0 0>. A reader who is satisfied at rank 1 seldom gets to rank 2.",
    ),
    Lesson(
        "9 · Recall", (0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        "R@5 is <R@5>. Set the cutoff to 10: what do R@10, RR and nDCG@10 say?",
        "R@10 is <R@10>, the best possible, while RR is <RR> and nDCG@10 <nDCG@10>. Recall suits what is passed on to a reranker; a person "
        "may never look there.",
    ),
    Lesson(
        "10 · Patience", (0, 0, 0, 1, 1),
        "With p = 0.8 RBP is <RBP>. Set p to 0.5, an impatient reader, then to 0.95: does it rise?",
        "At 0.5 it is <RBP(p=0.5)>, at 0.95 <RBP(p=0.95)>: a reader who looks at many documents expects many good ones, and two are few.",
    ),
    Lesson(
        "11 · More than k", (1, 1, 1, 1, 1),
        "Eight relevant documents are known and five are shown, all relevant. How high can R@5 and AP get? Set the cutoff to 3: how high can "
        "R@3 get?",
        "P@5 is <P@5> and nDCG@5 <nDCG@5>, yet R@5 cannot be more than 5/8 = <R@5>, AP not more than <AP>, and R@3 not more than 3/8 = "
        "<R@3>.",
        missing=(1, 1, 1),
    ),
    Lesson(
        "12 · Unjudged", (None, 1, None, 1, 0),
        "d1 and d3 are unjudged, and count as not relevant: nDCG@5 is <nDCG@5>. What would it be if d1 had grade 1?",
        "It would be <nDCG@5 | 1 1 ? 1 0>. A new system that finds what nobody has judged yet is punished for it.",
    ),
    Lesson(
        "13 · Missed", (1, 0, 1, 0, 0),
        "Two documents of grade 3 were not retrieved, so nDCG@5 is <nDCG@5>. How far does the best order of what is here bring it? Insert one "
        "of them at rank 1.",
        "The best order reaches no more than <nDCG@5 | 1 1 0 0 0>. RR ignores all of this: it stays <RR>.",
        missing=(3, 3),
    ),
    Lesson(
        "14 · Nothing to find", (0, 0, 0, 0, 0),
        "No relevant document is known. How large is each metric, in any order? Give one document a grade and the list comes alive.",
        "Every metric is 0 in every order: 0 out of 0 is 0. These queries lower the mean of all systems equally.",
    ),
    Lesson(
        "15 · Exercise: one move", (0, 1, 0, 1, 0),
        "Move one document so that RR is 1 and P@5 stays the same.",
        "Move d2 to rank 1: RR is <RR | 1 0 0 1 0>, and P@5 stays at <P@5 | 1 0 0 1 0>.",
    ),
    Lesson(
        "16 · Exercise: grades that do not count", (1, 3, 2, 0, 0),
        "Bring nDCG@5 to 1 without moving AP.",
        "Order the first three by grade, 3 2 1: nDCG@5 is <nDCG@5 | 3 2 1 0 0>, and AP stays at <AP>: the same ranks hold relevant documents.",
    ),
    Lesson(
        "17 · Exercise: as bad as can be", (1, 1, 1, 0, 0, 0),
        "Make RR as low as it can be while P@5 stays at <P@5>.",
        "All three must stay in the top 5, at ranks 3, 4 and 5: RR is <RR | 0 0 1 1 1 0>, and P@5 <P@5 | 0 0 1 1 1 0>.",
    ),
    Lesson(
        "18 · Exercise: one grade", (1, 0, 0, 0, 1),
        "Raise nDCG@5 by giving one of the two relevant documents grade 3. Which one, and how does the other one change it?",
        "d1: nDCG@5 rises from <nDCG@5> to <nDCG@5 | 3 0 0 0 1>. Grade 3 for d5 lowers it to <nDCG@5 | 1 0 0 0 3>: the ideal ranking gains "
        "more than this one.",
    ),
)  # fmt: skip


def playground() -> Page:
    """Return the page: lists to rearrange, each with an exercise, and below them the metrics.

    >>> page = playground()
    >>> page.title, len(page.explorer.queries), [section.name for section in page.sections]
    ('Playground', 18, ['queries', 'metrics', 'examples'])
    """
    lead = "Each list is one query and its ranked documents. Drag a document to another rank or change a grade: the metrics follow."
    explorer = Explorer(
        runs=("this list",), metrics=METRICS, better="higher", queries=tuple(map(_query, LESSONS)), teaching=True, cutoff=CUTOFF,
        depth=max(len(lesson.grades) for lesson in LESSONS), level=1.0, top_grade=float(TOP),
    )  # fmt: skip
    sections = (
        Section("queries", "Lists to play with", (explorer,), lead),
        Section("metrics", "The metrics", (_metrics(),), "Their meaning, and points to watch out for."),
        Section("examples", "Worked out by hand", (_examples(),), "Each value as the arithmetic that gives it."),
    )
    about = "The causes of a change in a metric: rankings to rearrange, with every number broken down."
    return Page("Playground", about, (), sections, f"rankscope {__version__}")


def value(metric: str, grades: Grades, missing: Sequence[float] = ()) -> float:
    """Return the value of a metric for grades in ranked order; ``missing`` are grades of judged documents that were not retrieved.

    >>> value("AP", [1, 0, 1, 0, 0, 1])
    0.7222222222222222
    >>> value("R@5", [1, 1, 1, 1, 1], missing=[1, 1, 1])
    0.625
    """
    return float(parse(metric).of(list(grades), ideal=_judged(grades, missing)))


def _judged(grades: Grades, missing: Sequence[float]) -> list[float]:
    return [grade for grade in grades if grade is not None] + list(missing)


def _query(lesson: Lesson) -> Query:
    judged = _judged(lesson.grades, lesson.missing)
    documents = tuple(
        Document(f"d{rank}", None if grade is None else float(grade), (rank,), (add,))
        for rank, (grade, add) in enumerate(zip(lesson.grades, _adds(lesson), strict=True), 1)
    )
    return Query(
        query_id=lesson.name, text=lesson.worked(lesson.exercise), documents=documents, sizes=(len(documents),), beyond=((),), rest=(0.0,),
        values=(tuple(value(metric, lesson.grades, lesson.missing) for metric in METRICS),),
        judged=tuple((float(grade), judged.count(grade)) for grade in sorted(set(judged), reverse=True)),
        unjudged=(list(lesson.grades[:CUTOFF]).count(None),), answer=lesson.worked(lesson.solution),
    )  # fmt: skip


def _adds(lesson: Lesson) -> list[float]:
    """Return the share of each document in the leading metric."""
    more = dict.fromkeys(("scores", "known", "relevant", "judgments"))
    judged = ranked_lists(list(lesson.grades), 1.0, {**more, "ideal": _judged(lesson.grades, lesson.missing)})
    terms = parse(METRICS[0]).taken_apart(judged.lists(np.arange(1)))
    adds = [0.0] * len(lesson.grades)
    for rank, shown, share in zip(terms.lists.rank[0], terms.lists.shown[0], terms.shares[0], strict=True):
        if shown:
            adds[int(rank) - 1] = float(share)
    return adds


def _metrics() -> Table:
    heads = ("rewards", "formula", "watch out for")
    rows = tuple((cls.__name__, rewards(cls), cls.formula, cls.convention) for cls in map(find_metric, EXPLAINED))
    return Table((Column("metric"), *(Column(head, wraps=True) for head in heads)), rows, name="metrics")


def _examples() -> Table:
    """The examples that the metrics declare."""
    heads = ("grades, best rank first", "worked out")
    columns = (Column("metric"), *(Column(head, wraps=True) for head in heads), Column("value", "value"))
    examples = (example for name in EXPLAINED for example in find_metric(name).examples)
    rows = tuple((one.metric, grades_of(one), one.value, value_of(one)) for one in examples)
    return Table(columns, rows, labels=2, name="examples")
