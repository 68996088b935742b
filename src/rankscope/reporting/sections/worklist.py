"""What to judge next: the unjudged documents that could change the numbers most, and how far these can be trusted until then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from rankscope import words
from rankscope.blocks import Paragraph, Table
from rankscope.errors import RankscopeError
from rankscope.reporting.explorer.pool import ranks_of, source_of
from rankscope.reporting.subject import MANY, PagePart
from rankscope.verbs.unjudged.result import NO_JUDGMENT, RANKED, DocumentToJudge, Reversal, UnjudgedReport
from rankscope.verbs.unjudged.study import Study, study_of

LISTED = 50  # documents to judge
# unjudged documents up to which there is time to look for the ends of values, and for what would reverse differences
BOUNDED, TURNED = 15_000, 5_000
PAIRS = 3  # pairs that are told in words
WHOLE = "rankscope unjudged"
LIST = "judging-worklist"
BARE = "Unjudged documents count as not relevant."
LEAD = f"{BARE} Judging these could change the result most."


class WorklistPart(PagePart):
    """The documents to judge next on the main metric; nothing where all that it looks at is judged, or where no grade matters to it.

    Where there are too many for the time a page may take, the worklist is of those at the best ranks, and bounds are left to
    ``rankscope unjudged``. Where documents cannot be told apart by what they could do, bounds stand alone.
    """

    name, title, needs_rankings = "worklist", "What to judge next", True
    warned = frozenset({"RS204"})
    listed = False
    turns: Sequence[Reversal] = ()

    def blocks(self) -> Iterator[Any]:
        """Bounds of the values, what would reverse a difference, and the worklist."""
        runs = [self.subject.runs[name] for name in self.subject.run_names]
        try:
            study = study_of(self.scores, self.subject.ranking_metric, self.subject.qrels, runs)
            if study.metric.relevance == "none" or not any(study.documents.counts):
                return
            made = list(self._of(study))
        except RankscopeError as error:
            judged = (found.judged[0] for found in self.scores.evaluations)
            if all((one.retrieved == one.in_run).all() for one in judged):
                return
            made = [Paragraph(f"Too many unjudged documents to try one by one: {error}", quiet=True)]
        self.listed = any(isinstance(block, Table) and block.name == LIST for block in made)
        yield from made

    def lead(self) -> str:
        """What unjudged documents count as."""
        return LEAD if self.listed else BARE

    def caution(self) -> str:
        """What it would take to reverse the difference of the first two runs."""
        pair = self.subject.pairs[:1]
        turn = next((turn for turn in self.turns if [(turn.run, turn.baseline)] == pair and turn.needed), None)
        if turn is None or turn.needed is None:
            return ""
        documents, grade = words.counted(turn.unjudged, "unjudged document"), words.amount(turn.grade)
        few = "" if turn.fewest or turn.needed == 1 else " or fewer"
        behind, ahead = sorted((turn.run, turn.baseline), key=lambda name: name == turn.ahead)
        what = "reverse this" if len(self.subject.systems) < MANY else f"put {behind} ahead of {ahead}"
        return f"{words.count(turn.needed)}{few} of {documents}, if graded {grade}, would {what}"

    def _of(self, study: Study) -> Iterator[Any]:
        candidates, considered, top = study.candidates, study.considered, words.amount(study.top)
        bounds = [study.bounds(at) for at in range(len(study.runs))] if study.reason or candidates <= BOUNDED else []
        self.turns = turns = list(self._turns(study)) if not study.reason and candidates <= TURNED else []
        by_name = {run.name: run for run in study.scores.runs}
        scores = replace(study.scores, runs=[by_name[name] for name in self.subject.runs_in_order()])
        found = UnjudgedReport(bounds, turns, self._worklist(study), candidates, considered, scores, "")
        if bounds:
            note = f"over grades from 0 to {top}{'' if all(b.exact for b in bounds) else ', as far as they could be tried'}"
            title = f"How far {study.metric} could move"
            yield replace(found.table(), note=note, name="unjudged-bounds", title=title)
        else:
            tops = "The rankings" if study.depth is None else f"The first {words.count(study.depth)} ranks"
            unjudged = words.counted(candidates, "unjudged document")
            yield Paragraph(f"{tops} hold {unjudged}: {WHOLE} shows how far they could move each value.", quiet=True)
        if study.reason:
            yield Paragraph(
                f"Which of them to judge first is not known: {study.reason}. The bounds are of all of them worthless, and all of them "
                f"of grade {top}; other grades may lead beyond."
            )
        if turns:
            yield Paragraph(" ".join(map(str, turns)))
        if found.worklist:
            title = "Documents to judge, those that matter most first"
            yield replace(found.table("worklist"), name=LIST, title=title)
        if considered < candidates and not study.reason:
            tried = words.counted(considered, "document")
            text = f"{tried} at the best ranks were tried, of {words.count(candidates)}; {WHOLE} takes a depth."
            yield Paragraph(text, quiet=True)

    def _turns(self, study: Study) -> Iterator[Reversal]:
        """What it would take to reverse a difference, for the pairs that are looked at first."""
        names = list(self.subject.run_names)
        for run, baseline in [pair for pair in self.subject.pairs if set(pair) <= set(names)][:PAIRS]:
            turn = study.turn(names.index(run), names.index(baseline), ends=False)
            if turn.ahead and turn.unjudged and (turn.needed is not None or turn.reason == NO_JUDGMENT):
                yield turn

    def _worklist(self, study: Study) -> Sequence[DocumentToJudge]:
        """The documents to judge; of a few runs with their ranks also below what the metric looks at."""
        wanted = [one for one in study.worklist(LISTED) if one.effect > 0]
        names = self.subject.run_names
        if not wanted or len(names) > RANKED:
            return wanted
        queries = list(dict.fromkeys(one.query_id for one in wanted))
        source = source_of(self.subject, self.scores, names, study.metric, queries, few=True)
        ranks = ranks_of(source, [one.query_id for one in wanted], [one.doc_id for one in wanted]).T.tolist()
        deep = [{name: rank for name, rank in zip(names, row, strict=True) if rank} for row in ranks]
        return [replace(one, ranks={**more, **one.ranks}) for one, more in zip(wanted, deep, strict=True)]
