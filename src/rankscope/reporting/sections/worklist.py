"""What to judge next: the documents nobody judged that could change the numbers most, and how far these can be trusted till then."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import polars as pl

from rankscope.blocks import Block, Column, Paragraph, Section, Table, Value
from rankscope.errors import RankscopeError
from rankscope.metrics import Metric
from rankscope.panels.verdicts import number
from rankscope.reporting.explorer.found import behind, ranks_of
from rankscope.reporting.explorer.told import runs_in_order
from rankscope.reporting.subject import Subject
from rankscope.scoring.scores import Scores
from rankscope.show.result import null
from rankscope.verbs.unjudged.result import NO_JUDGMENT, DocumentToJudge
from rankscope.verbs.unjudged.study import Study, study_of

LISTED = 50  # documents to judge
RUNS = 5  # as many columns of ranks as a page has room for
# documents that nobody judged, up to which there is time to look for the ends of values, and for what would turn differences
BOUNDED, TURNED = 15_000, 5_000
RIVALS = 3  # pairs that are told in words
WHOLE = "rankscope unjudged"


def section(subject: Subject) -> Section | None:
    """The documents to judge next on the leading metric; None where all that it looks at is judged, or where no grade matters to it.

    Where there are too many for the time a page may take, the worklist is of those at the best ranks, and bounds are left to
    ``rankscope unjudged``. Where documents cannot be told apart by what they could do, bounds stand alone.
    """
    if subject.scores is None or not subject.runs or subject.metric is None:
        return None
    try:
        study = _study(subject, subject.scores, subject.metric)
        if study.metric.relevance == "none" or not any(study.documents.counts):
            return None
        blocks = list(_alike(study) if study.reason else _blocks(subject, study))
    except RankscopeError as error:
        if all(_all_judged(subject, run) for run in range(len(subject.scores.runs))):
            return None
        blocks = [
            Paragraph(f"The documents that nobody judged were too many to be tried one by one: {error}", quiet=True)
        ]
    lead = LEAD if any(isinstance(block, Table) and block.name == LIST for block in blocks) else BARE
    return Section("worklist", "What to judge next", tuple(blocks), lead)


LIST = "judging-worklist"
BARE = "Documents that nobody judged count as not relevant."
LEAD = "Documents that nobody judged count as not relevant. These would change the result most, were they judged."


def _all_judged(subject: Subject, run: int) -> bool:
    """Whether every document that a run retrieved for a judged query is in the qrels."""
    assert subject.scores is not None
    judged = subject.scores.evaluations[run].judged[0]
    return bool((judged.retrieved == judged.found).all())


def _study(subject: Subject, scores: Scores, metric: Metric) -> Study:
    return study_of(scores, metric, subject.qrels, [subject.runs[run.name] for run in scores.runs])


def _alike(study: Study) -> Iterator[Block]:
    """What is known where single documents cannot be tried: the ends when all of them are worth the same."""
    yield from _bounds(study)
    yield Paragraph(
        f"Which of them to judge first cannot be told: {study.reason}. The bounds are of all of them worthless, and all of them "
        f"of grade {study.top:g}; other grades may lead beyond."
    )


def _blocks(subject: Subject, study: Study) -> Iterator[Block]:
    candidates = study.candidates
    if candidates <= BOUNDED:
        yield from _bounds(study)
    else:
        yield Paragraph(
            f"{_top(study, 'tops')} hold {candidates:,} documents that nobody judged: how far they could move each value is left to "
            f"{WHOLE}.",
            quiet=True,
        )
    if candidates <= TURNED:
        told = list(_turns(subject, study))
        yield from [Paragraph(" ".join(told))] if told else []
    table = _work_table(subject, study)
    if table.rows:
        yield table
    if study.considered < candidates:
        yield Paragraph(
            f"The {study.considered:,} documents of the best ranks were tried, of {candidates:,}; {WHOLE} takes a depth.",
            quiet=True,
        )


# --- how far the values could move -------------------------------------------------------------------------


def _bounds(study: Study) -> Iterator[Block]:
    rows: list[tuple[Value, ...]] = []
    exact = True
    for at, run in enumerate(study.scores.runs):
        ends = study.bounds(at)
        exact &= ends.exact
        count, whole = study.documents.counts[at], study.documents.size[at]
        values = map(null, (study.values[at], ends.lower, ends.upper))
        rows.append((run.name, *values, count, _share(count, whole)))
    top = _top(study, "top")
    columns = (
        Column("run"),
        Column("as judged", "value", hint=f"{study.metric} as it is: a document that nobody judged is not relevant"),
        Column("lowest", "value", hint="over all ways of grading the unjudged documents; the ideal changes with them"),
        Column("highest", "value", hint="over all ways of grading the unjudged documents; the ideal changes with them"),
        Column("unjudged", "count", hint=f"documents in the {top} that are not in the qrels"),
        Column("share", "value", hint=f"of the documents in the {top}"),
    )
    note = f"over grades from 0 to {study.top:g}" + ("" if exact else ", as far as they could be tried")
    title = f"How far {study.metric} could move"
    yield Table(columns, tuple(rows), note=note, name="unjudged-bounds", title=title)


def _share(count: int, whole: int) -> str:
    """A share in per cent; neither none nor all unless it is."""
    share = count / whole if whole else 0.0
    if 0 < share < 0.005:
        return "less than 1%"
    return "more than 99%" if 0.995 < share < 1 else f"{share:.0%}"


def _top(study: Study, noun: str) -> str:
    """What the metric looks at, in words."""
    if study.depth is None:
        return {"top": "ranking", "tops": "The rankings"}[noun]
    return {"top": f"top {study.depth:,}", "tops": f"The first {study.depth:,} ranks"}[noun]


def _turns(subject: Subject, study: Study) -> Iterator[str]:
    """What it would take to turn a difference, for the pairs that are looked at first."""
    names = [run.name for run in study.scores.runs]
    pairs = [pair for pair in subject.rivals if set(pair) <= set(names)]
    for run, baseline in pairs[:RIVALS]:
        a, b = names.index(run), names.index(baseline)
        difference = study.values[a] - study.values[b]
        needed, _, reason = study.reversal(a, b)
        between = study.between(a, b)
        if math.isnan(difference) or not difference or not between:
            continue
        ahead = f"{run if difference > 0 else baseline} is {number(abs(difference))} above {baseline if difference > 0 else run}"
        documents = f"{between:,} unjudged document{'' if between == 1 else 's'}"
        if needed is not None:
            fewer = "" if study.fewest else ", and fewer may do"
            yield f"{ahead}: {needed:,} of {documents}, if of grade {study.top:g}, would turn that{fewer}."
        elif reason == NO_JUDGMENT:
            yield f"{ahead}, whatever the {documents} are worth."


# --- what to judge -----------------------------------------------------------------------------------------


def _work_table(subject: Subject, study: Study) -> Table:
    names = [run.name for run in study.scores.runs]
    order = [names.index(name) for name in runs_in_order(subject)]
    few = len(names) <= RUNS
    documents = [one for one in study.worklist(LISTED) if one.effect > 0]
    ranks = _true_ranks(subject, study, documents) if few else [list(one.ranks.values()) for one in documents]
    places = [
        Column(names[at], "count", hint=f"the rank that {names[at]} gives it; none where it was not retrieved")
        for at in order
    ]
    best = [Column("best rank", "count"), Column("runs", "count", hint="how many runs have it in their top")]
    what = "a difference between two runs" if len(names) > 1 else "the value"
    columns = (
        Column("query", queries=True),
        Column("document"),
        *(places if few else best),
        Column(
            "could change",
            "value",
            hint=f"the most that its judgment could change {what} of {study.metric}, over all queries",
        ),
    )
    rows: list[tuple[Value, ...]] = [
        (one.query_id, one.doc_id, *_ranks(places, order, few), one.effect)
        for one, places in zip(documents, ranks, strict=True)
    ]
    return Table(columns, tuple(rows), labels=2, name=LIST, title="Documents to judge, those that tell most first")


def _true_ranks(subject: Subject, study: Study, documents: Sequence[DocumentToJudge]) -> list[list[int]]:
    """The rank of each document in each run, also below what the metric looks at."""
    names = tuple(run.name for run in study.scores.runs)
    queries = list(dict.fromkeys(one.query_id for one in documents))
    if not queries:
        return []
    source = behind(subject, names, study.metric, queries, few=True)
    pool = pl.DataFrame({name: [getattr(one, name) for one in documents] for name in ("query_id", "doc_id")})
    deep = ranks_of(source, pool).T.tolist()
    return [
        [one.ranks.get(name, below) for name, below in zip(names, places, strict=True)]
        for one, places in zip(documents, deep, strict=True)
    ]


def _ranks(ranks: Sequence[int], order: Sequence[int], few: bool) -> tuple[int | None, ...]:
    if few:
        return tuple(ranks[at] or None for at in order)
    held = [rank for rank in ranks if rank]
    return min(held), len(held)
