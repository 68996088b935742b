"""A diagnosis as blocks: what is lost and why in a sentence, how queries fail, the worst of them, and documents to look at."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator

from rankscope.blocks import EMPTY, Block, Notes, Paragraph
from rankscope.metrics import RR
from rankscope.panels.verdicts import number
from rankscope.show.result import caution_notes
from rankscope.verbs.diagnose.diagnose import Diagnosis
from rankscope.verbs.diagnose.failures import EQUAL, HOPELESS, NOTHING
from rankscope.verbs.diagnose.losses import Diagnosed
from rankscope.verbs.diagnose.tables import TOLD, tables_of

ONE = "1 query"


def blocks_of(found: Diagnosis) -> list[Block]:
    """The sentences, the tables, what to doubt, the conventions, and the next step."""
    blocks: list[Block] = [Paragraph(text) for text in sentences(found)]
    blocks += tables_of(found)
    doubts = caution_notes(found.scores.warnings)
    blocks += [EMPTY, *([Notes(tuple(doubts))] if doubts else [])]
    blocks.append(Paragraph(" · ".join(_small_print(found)), quiet=True))
    if step := next_step(found):
        blocks.append(Paragraph(step, quiet=True))
    return blocks


# --- in words ----------------------------------------------------------------------------------------


def sentences(found: Diagnosis) -> Iterator[str]:
    """What is lost and why, of each run or, where there are many, of the best; how queries fail most; the typical first rank."""
    runs = list(found.runs)
    if len(runs) > TOLD:
        runs = [_leader(found)]
    for run in runs:
        yield _lost(found, run)
    if len(runs) == 1:
        yield f"{_failing(runs[0])} {_typical(runs[0])}"
    if found.reason:
        yield f"There is no ceiling to tell: {found.reason}."


def _leader(found: Diagnosis) -> Diagnosed:
    """The best run; the first, of a metric without a direction."""
    if found.metric.better == "neither":
        return found.runs[0]
    return max(found.runs, key=lambda run: run.sign * _least(run.lost.value))


def _least(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _lost(found: Diagnosis, run: Diagnosed) -> str:
    metric, lost = found.metric, run.lost
    if run.kinds[HOPELESS] == len(run.query_ids):
        return f"{run.name} has {metric} {number(lost.value)}: no judged document is relevant, so there is nothing to gain or lose."
    if math.isnan(lost.value):
        return f"{run.name} has no value of {metric} on any query."
    if found.reason or math.isnan(lost.loss):
        total = metric.aggregate == "sum" and not math.isnan(lost.value)
        return f"{run.name} has {metric} {f'{lost.value:,.6g}' if total else number(lost.value)}."
    if lost.loss <= EQUAL:
        return f"{run.name} loses nothing of {metric} ({number(lost.value)}): no ranking scores better."
    return (
        f"{run.name} loses {number(lost.loss)} of {metric}: {_why(run)}. A perfect re-ranker of what it retrieved would reach "
        f"{number(lost.ceiling)} (now {number(lost.value)}; the best ranking there is has {number(lost.best)})."
    )


def _why(run: Diagnosed) -> str:
    """The two parts of what is lost, or the one where the other is nothing."""
    lost = run.lost
    if run.could.missing_only:
        never, order = "because relevant documents were never retrieved", "because they stand too low"
    else:
        never, order = "by which documents were returned", "by their order"
    if lost.ordered_badly <= EQUAL:
        return f"all of it {never}"
    if lost.never_retrieved <= EQUAL:
        return (
            "all of it because relevant documents stand too low"
            if run.could.missing_only
            else f"all of it {order}"
        )
    share = lost.never_retrieved / lost.loss
    return f"{number(lost.never_retrieved)} ({share:.0%}) {never}, {number(lost.ordered_badly)} ({1 - share:.0%}) {order}"


def _failing(run: Diagnosed) -> str:
    """How many queries show nothing relevant, and how many start with what is not."""
    count, k = len(run.query_ids), run.facts.k
    hopeless = run.kinds[HOPELESS]
    empty = hopeless + sum(run.kinds[name] for name in NOTHING)
    first = run.high[0].not_relevant
    show = f"{empty:,} {'shows' if empty == 1 else 'show'} nothing relevant in the top {k}"
    if hopeless:
        show += f" ({hopeless:,} of them {'has' if hopeless == 1 else 'have'} nothing relevant to show)"
    start = f"{first:,} {'starts' if first == 1 else 'start'} with a document judged not relevant"
    return f"Of {_count(count)}, {show}, and {start}."


def _typical(run: Diagnosed) -> str:
    if not math.isfinite(run.rank):
        return "No relevant document was retrieved."
    median = "half of the queries show none" if math.isinf(run.median) else f"median {run.median:.0f}"
    is_rr = isinstance(run.metric, RR) and math.isclose(run.rank * run.lost.value, 1.0)
    how = "1 / RR, the harmonic mean" if is_rr else "harmonic mean"
    return f"Typical first relevant rank {run.rank:.1f} ({how}; {median})."


def _count(queries: int) -> str:
    return ONE if queries == 1 else f"{queries:,} queries"


def _small_print(found: Diagnosis) -> Iterator[str]:
    metric, said = found.metric, found.scores.request.small_print()
    if "relevant: " not in said:
        gain, level = getattr(metric, "gain", None), getattr(metric, "level", None)
        plain = "grade above 0" if level is None else f"grade ≥ {level:g}"
        yield f"relevant: {'a gain above 0' if gain is not None and level is None else plain}"
    if metric.looks_below:
        yield f"{metric} does not count what was never retrieved"
    if not found.reason:
        yield "all: the judged documents that were retrieved, in the best order"
        yield "best: any judged documents, in the best order"
    yield said


def next_step(found: Diagnosis) -> str:
    """The command that takes apart the worst query; empty where there is none."""
    worst = next(iter(found.hardest or found.regrets), None)
    if worst is None:
        return ""
    paths = [source.path for source in found.scores.inputs]
    number_of = next(i for i, run in enumerate(found.runs) if run.name == worst.run)
    named = len(paths) == len(found.runs) + 1
    qrels, run = (paths[0], paths[1 + number_of]) if named else (None, None)
    parts = [qrels or "QRELS", run or "RUN"]
    return f"next: rankscope explain {' '.join(map(shlex.quote, parts))} --query {shlex.quote(worst.query_id)} -m {shlex.quote(str(found.metric))}"
