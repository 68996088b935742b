"""What to judge next: the documents nobody judged that could change the numbers most, and how far these can be trusted till then."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rankscope.blocks import Block, Column, Paragraph, Section, Table, Value
from rankscope.errors import RankscopeError
from rankscope.metrics import Metric
from rankscope.verbs.call import Call, call_of
from rankscope.verbs.comparison.sentences import number
from rankscope.verbs.incomplete.unjudged_given import Given
from rankscope.verbs.incomplete.unjudged_study import Study, study_of
from rankscope.verbs.inputs import clean, takers
from rankscope.verbs.reporting.subject import Subject
from rankscope.verbs.scores import Scores, as_json

LISTED = 50  # documents to judge
RUNS = 5  # as many columns of ranks as a page has room for
# documents that nobody judged, up to which there is time to look for the ends of values, and for what would turn differences
BOUNDED, TURNED = 50_000, 5_000
RIVALS = 3  # pairs that are told in words
WHOLE = "rankscope unjudged"


def section(subject: Subject) -> Section | None:
    """The documents to judge next on the leading metric; None where all that it looks at is judged, or where it cannot be bounded.

    Where there are too many for the time a page may take, the worklist is of those at the best ranks, and bounds are left to
    ``rankscope unjudged``.
    """
    if subject.scores is None or not subject.runs or subject.metric is None:
        return None
    try:
        study = _study(subject, subject.scores, subject.metric)
        if study.reason or not any(study.found.counts):
            return None
        blocks = list(_blocks(subject, study))
    except RankscopeError as error:
        if all(_all_judged(subject, run) for run in range(len(subject.scores.runs))):
            return None
        blocks = [
            Paragraph(
                f"The documents that nobody judged were too many to be tried one by one: {error}", quiet=True
            )
        ]
    return Section("worklist", "What to judge next", tuple(blocks), LEAD)


LEAD = "Documents that nobody judged count as not relevant. These would change the result most, were they judged."


def _all_judged(subject: Subject, run: int) -> bool:
    """Whether every document that a run retrieved for a judged query is in the qrels."""
    assert subject.scores is not None
    judged = subject.scores.found[run].judged[0]
    return bool((judged.retrieved == judged.found).all())


def _study(subject: Subject, scores: Scores, metric: Metric) -> Study:
    call = _call(scores, metric)
    runs = [(run.name, subject.runs[run.name]) for run in scores.runs]
    given = Given(
        subject.qrels,
        runs,
        clean(subject.qrels, call.policy, "qrels", takers(scores.metrics)),
        [clean(run, call.policy, "run") for _, run in runs],
        call,
    )
    return study_of(given, call.asked[0], scores, None)


def _call(scores: Scores, metric: Metric) -> Call:
    """The call that made these scores, for one metric."""
    said = scores.conventions
    names = ["depth", "duplicates", "self_match"]
    own = [] if said["dialect"] else ["ties", "queries", "no_relevant", "nothing_found", "mean"]
    policies: dict[str, Any] = {name: said[name] for name in [*names, *own]} | {"seed": said["seed"] or 0}
    if said["queries"] == "list":
        policies["queries"] = sorted({query for run in scores.runs for query in run.query_ids})
    if said["dialect"]:
        policies["dialect"] = said["dialect"]
    if said["weights"]:
        policies["weights"] = _weights(scores, metric)
    asked = next(mean.asked for mean in scores.board if mean.metric == metric)
    return call_of([asked if said["dialect"] else metric], policies)


def _weights(scores: Scores, metric: Metric) -> dict[str, float]:
    out: dict[str, float] = {}
    for run in scores.runs:
        weights = run.weights.get(metric)
        if weights is not None:
            known = zip(run.query_ids, weights.tolist(), strict=True)
            out |= {query: weight for query, weight in known if not math.isnan(weight)}
    return out


def _blocks(subject: Subject, study: Study) -> Iterator[Block]:
    candidates = int(study.found.there.sum())
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
        count, whole = study.found.counts[at], study.found.shown[at]
        values = map(as_json, (study.values[at], ends.lower, ends.upper))
        rows.append((run.name, *values, count, _share(count, whole)))
    top = _top(study, "top")
    columns = (
        Column("run"),
        Column(
            "as judged",
            "value",
            hint=f"{study.asked.metric} as it is: a document that nobody judged is not relevant",
        ),
        Column(
            "lowest",
            "value",
            hint="over all ways of grading the unjudged documents; the ideal changes with them",
        ),
        Column(
            "highest",
            "value",
            hint="over all ways of grading the unjudged documents; the ideal changes with them",
        ),
        Column("unjudged", "count", hint=f"documents in the {top} that are not in the qrels"),
        Column("share", "value", hint=f"of the documents in the {top}"),
    )
    note = f"over grades from 0 to {study.top:g}" + ("" if exact else ", as far as they could be tried")
    title = f"How far {study.asked.metric} could move"
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
        picked, turned, reason = study.turn(a, b)
        between = study.between(a, b)
        if math.isnan(difference) or not difference or not between:
            continue
        ahead = f"{run if difference > 0 else baseline} is {number(abs(difference))} above {baseline if difference > 0 else run}"
        documents = f"{between:,} unjudged document{'' if between == 1 else 's'}"
        if picked is not None and turned is not None:
            fewer = "" if study.fewest else ", and fewer may do"
            yield f"{ahead}: {len(picked):,} of {documents}, if of grade {study.top:g}, would turn that{fewer}."
        elif reason.startswith("no judgment"):
            yield f"{ahead}, whatever the {documents} are worth."


# --- what to judge -----------------------------------------------------------------------------------------


def _work_table(subject: Subject, study: Study) -> Table:
    names = [run.name for run in study.scores.runs]
    order = [names.index(name) for name in subject.systems if name in names]
    order += [at for at in range(len(names)) if at not in order]
    few = len(names) <= RUNS
    places = [Column(names[at], "count", hint=f"the rank that {names[at]} gives it") for at in order]
    best = [Column("best rank", "count"), Column("runs", "count", hint="how many runs have it in their top")]
    what = "a difference between two runs" if len(names) > 1 else "the value"
    columns = (
        Column("query", queries=True),
        Column("document"),
        *(places if few else best),
        Column(
            "could change",
            "value",
            hint=f"the most that its judgment could change {what} of {study.asked.metric}, over all queries",
        ),
    )
    rows: list[tuple[Value, ...]] = [
        (query, doc, *_ranks(ranks, order, few), effect)
        for query, doc, ranks, effect in study.wanted(LISTED)
        if effect > 0
    ]
    return Table(
        columns,
        tuple(rows),
        labels=2,
        name="judging-worklist",
        title="Documents to judge, those that tell most first",
    )


def _ranks(ranks: Sequence[int], order: Sequence[int], few: bool) -> tuple[int | None, ...]:
    if few:
        return tuple(ranks[at] or None for at in order)
    held = [rank for rank in ranks if rank]
    return min(held), len(held)
