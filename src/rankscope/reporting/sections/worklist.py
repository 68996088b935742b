"""What to judge next: the unjudged documents that could change the numbers most, and how far these can be trusted until then."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from rankscope import words
from rankscope.blocks import Column, Paragraph, Table, Value
from rankscope.errors import RankscopeError
from rankscope.reporting.explorer.pool import ranks_of, source_of
from rankscope.reporting.part import PagePart
from rankscope.reporting.subject import Subject
from rankscope.show.result import null
from rankscope.verbs.unjudged.result import NO_JUDGMENT, DocumentToJudge
from rankscope.verbs.unjudged.study import Study, study_of

LISTED = 50  # documents to judge
RUNS = 5  # as many columns of ranks as a page has room for
# unjudged documents up to which there is time to look for the ends of values, and for what would reverse differences
BOUNDED, TURNED = 15_000, 5_000
RIVALS = 3  # pairs that are told in words
WHOLE = "rankscope unjudged"
LIST = "judging-worklist"
BARE = "Unjudged documents count as not relevant."
LEAD = f"{BARE} Judging these could change the result most."


class WorklistPart(PagePart[Subject]):
    """The documents to judge next on the main metric; nothing where all that it looks at is judged, or where no grade matters to it.

    Where there are too many for the time a page may take, the worklist is of those at the best ranks, and bounds are left to
    ``rankscope unjudged``. Where documents cannot be told apart by what they could do, bounds stand alone.
    """

    name, title = "worklist", "What to judge next"
    ranked = True
    listed = False

    def blocks(self) -> Iterator[Any]:
        """Bounds of the values, what would reverse a difference, and the worklist."""
        metric = self.subject.metric
        assert metric is not None
        try:
            study = study_of(
                self.scores, metric, self.subject.qrels, [self.subject.runs[run.name] for run in self.scores.runs]
            )
            if study.metric.relevance == "none" or not any(study.documents.counts):
                return
            made = list(_bounds_alone(study) if study.reason else self._of(study))
        except RankscopeError as error:
            judged = (found.judged[0] for found in self.scores.evaluations)
            if all((one.retrieved == one.found).all() for one in judged):
                return
            made = [Paragraph(f"Too many unjudged documents to try one by one: {error}", quiet=True)]
        self.listed = any(isinstance(block, Table) and block.name == LIST for block in made)
        yield from made

    def lead(self) -> str:
        """What unjudged documents count as."""
        return LEAD if self.listed else BARE

    def _of(self, study: Study) -> Iterator[Any]:
        candidates = study.candidates
        if candidates <= BOUNDED:
            yield _bounds(study)
        else:
            unjudged = words.counted(candidates, "unjudged document")
            said = f"{_top(study, 'tops')} hold {unjudged}: {WHOLE} shows how far they could move each value."
            yield Paragraph(said, quiet=True)
        if candidates <= TURNED and (turns := list(self._turns(study))):
            yield Paragraph(" ".join(turns))
        table = self._table(study)
        if table.rows:
            yield table
        if study.considered < candidates:
            said = f"{words.counted(study.considered, 'document')} at the best ranks were tried, of {words.count(candidates)}; {WHOLE} takes a depth."
            yield Paragraph(said, quiet=True)

    def _turns(self, study: Study) -> Iterator[str]:
        """What it would take to reverse a difference, for the pairs that are looked at first."""
        names = [run.name for run in study.scores.runs]
        pairs = [pair for pair in self.subject.pairs if set(pair) <= set(names)]
        for run, baseline in pairs[:RIVALS]:
            a, b = names.index(run), names.index(baseline)
            difference = study.values[a] - study.values[b]
            needed, _, reason = study.reversal(a, b)
            between = study.between(a, b)
            if math.isnan(difference) or not difference or not between:
                continue
            first, second = (run, baseline) if difference > 0 else (baseline, run)
            ahead = f"{first} is {words.number(abs(difference))} above {second}"
            unjudged = words.counted(between, "unjudged document")
            if needed is not None:
                many = f"{words.count(needed)}{'' if study.fewest else ' or fewer'} of {unjudged}"
                yield f"{ahead}: {many}, if graded {words.amount(study.top)}, would reverse this."
            elif reason == NO_JUDGMENT:
                yield f"{ahead}, however the {unjudged} {words.agree(between, 'is')} graded."

    def _table(self, study: Study) -> Table:
        """The documents to judge, those that tell most first, with their ranks in a few runs or the best of many."""
        names = [run.name for run in study.scores.runs]
        order = [names.index(name) for name in self.subject.runs_in_order()]
        few = len(names) <= RUNS
        wanted = [one for one in study.worklist(LISTED) if one.effect > 0]
        ranks = self._deep_ranks(study, wanted) if few else [list(one.ranks.values()) for one in wanted]
        hint = "the rank in {}; none where it was not retrieved"
        places = [Column(names[at], "count", hint=hint.format(names[at])) for at in order]
        best = [Column("best rank", "count"), Column("runs", "count", hint="how many runs have it in their top")]
        what = "a difference between two runs" if len(names) > 1 else "the value"
        effect = f"the most that its judgment could change {what} of {study.metric}, over all queries"
        columns = (
            Column("query", queries=True), Column("document"), *(places if few else best), Column("could change", "value", hint=effect),
        )  # fmt: skip
        rows: list[tuple[Value, ...]] = []
        for one, held in zip(wanted, ranks, strict=True):
            known = [rank for rank in held if rank]
            shown = [held[at] or None for at in order] if few else [min(known), len(known)]
            rows.append((one.query_id, one.doc_id, *shown, one.effect))
        return Table(
            columns, tuple(rows), labels=2, name=LIST, title="Documents to judge, those that matter most first"
        )

    def _deep_ranks(self, study: Study, wanted: Sequence[DocumentToJudge]) -> list[list[int]]:
        """The rank of each document in each run, also below what the metric looks at."""
        if not wanted:
            return []
        names = tuple(run.name for run in study.scores.runs)
        queries = list(dict.fromkeys(one.query_id for one in wanted))
        source = source_of(self.subject, self.scores, names, study.metric, queries, few=True)
        deep = ranks_of(source, [one.query_id for one in wanted], [one.doc_id for one in wanted]).T.tolist()
        return [
            [one.ranks.get(name, below) for name, below in zip(names, places, strict=True)]
            for one, places in zip(wanted, deep, strict=True)
        ]


def _bounds_alone(study: Study) -> Iterator[Any]:
    """What is known where single documents cannot be tried: the ends when all of them are worth the same."""
    yield _bounds(study)
    yield Paragraph(
        f"Which of them to judge first is not known: {study.reason}. The bounds are of all of them worthless, and all of them "
        f"of grade {words.amount(study.top)}; other grades may lead beyond."
    )


def _bounds(study: Study) -> Table:
    """How far the values could move."""
    rows: list[tuple[Value, ...]] = []
    exact = True
    for at, run in enumerate(study.scores.runs):
        ends = study.bounds(at)
        exact &= ends.exact
        count, whole = study.documents.counts[at], study.documents.size[at]
        values = map(null, (study.values[at], ends.lower, ends.upper))
        rows.append((run.name, *values, count, words.share(count / whole if whole else 0.0)))
    metric, top = study.metric, _top(study, "top")
    over = "over all ways of grading the unjudged documents; the ideal changes with them"
    columns = (
        Column("run"), Column("as judged", "value", hint=f"{metric} as it is: an unjudged document is not relevant"),
        Column("lowest", "value", hint=over), Column("highest", "value", hint=over),
        Column("unjudged", "count", hint=f"documents in the {top} that are not in the qrels"),
        Column("share", "value", hint=f"of the documents in the {top}"),
    )  # fmt: skip
    note = f"over grades from 0 to {words.amount(study.top)}" + ("" if exact else ", as far as they could be tried")
    return Table(columns, tuple(rows), note=note, name="unjudged-bounds", title=f"How far {metric} could move")


def _top(study: Study, noun: str) -> str:
    """What the metric looks at, in words."""
    if study.depth is None:
        return {"top": "ranking", "tops": "The rankings"}[noun]
    depth = words.count(study.depth)
    return {"top": f"top {depth}", "tops": f"The first {depth} ranks"}[noun]
