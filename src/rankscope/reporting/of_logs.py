"""The pages of policies on events, and of rankers in interleaved lists: warnings and verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rankscope import words
from rankscope.blocks import Answer, Section, Table, Verdict
from rankscope.panels.contrast import Contrast
from rankscope.reporting import experiments
from rankscope.reporting.answer import TONES, change, marked
from rankscope.reporting.experiments import FEW, Choice
from rankscope.verbs.estimate.result import Estimates
from rankscope.verbs.interleaving.result import Interleaving

Compared = Estimates | Interleaving

OF_ESTIMATES = (
    Choice("results", "Estimated values", ("estimates",), (), ("results",)),
    Choice("differences", "Differences", tables=("differences",), lead="All policies earn on the same events, so that differences are paired."),
    Choice("slices", "Differences within slices", tables=("slices",)),
    Choice("weights", "Weights", ("weights",), (), ("weights",), lead="The weight of one logged row under each policy."),
)  # fmt: skip
OF_INTERLEAVING = (
    Choice("results", "Preferences", ("preferences",), (), ("results",)),
    Choice("graph", "Preference graph", ("graph",), ("graph",), lead="Pairs of rankers with a clear verdict."),
    Choice("slices", "Preference within slices", tables=("slices",)),
    Choice("traffic", "Traffic for this difference", tables=("traffic",), lead="Lists that interleaving and an A/B test need, measured on this log."),
)  # fmt: skip


def sections(result: Compared) -> Iterator[Section]:
    """Yield the warnings, open if there are any, and then the choices of charts and tables."""
    for section in experiments.cautions(result):
        yield replace(section, title="Can this log answer?")
    for section in experiments.chosen(OF_ESTIMATES if isinstance(result, Estimates) else OF_INTERLEAVING, result):
        if section.name != "graph" or len(result.systems) > 2:
            yield section


def verdicts(result: Compared) -> tuple[Verdict, ...]:
    """Return the sentences; the first is marked as invalid if the verdict is withheld."""
    first, *others = result.sentences()
    return Verdict(first, "plain" if result.validity.holds else "invalid"), *map(Verdict, others)


def title_of(result: Compared) -> str:
    """Return the systems: ``uniform, estimated from the log of bts``."""
    label = result.source.label.rpartition("/")[2]
    if isinstance(result, Interleaving):
        return f"{' against '.join(result.systems)}, interleaved in {label}"
    others = (
        [name for name in result.systems if name != result.baseline] if result.families else [result.values[-1].policy]
    )
    return f"{', '.join(others)}, estimated from {label}"


def answer(result: Compared, made: Sequence[Section]) -> Answer | None:
    """Return the first screen: the leading differences, all of them in a table, the check of the log, a caution, the next step. None without one."""
    if not result.families:
        return None
    at = "warnings" if any(section.name == "warnings" for section in made) else ""
    board = _board(result.table())
    if not result.validity.holds:
        return Answer(
            "The verdict is withheld: do not use these results", "invalid", board, checked=result.validity.reason
        )
    caution = next((caution.message for caution in result.warnings), "") if at else ""
    if isinstance(result, Interleaving) and len(result.systems) > 2:
        text, tone, step = _of_several(result)
        return Answer(text, TONES.get(tone, "plain"), board, caution, at, checked=_check(result), step=step)
    contrasts = result.families[0].contrasts
    best = max(contrasts, key=lambda c: c.difference)
    named = contrasts if len(contrasts) <= FEW + 1 else [best]
    same = len({c.baseline for c in named}) == 1
    earned = f"{result.event_log.reward} by {best.metric}" if isinstance(result, Estimates) else ""
    texts = [f"{c.run if same else c.sides} {change(c, named=c is named[0], metric=earned)}" for c in named]
    texts[-1] += f" against {best.baseline}" if same else ""
    return Answer(
        "; ".join(texts), TONES.get(best.verdict, "plain"), board, caution, at, checked=_check(result), step=_step(result, best)
    )  # fmt: skip


def _board(table: Table) -> Table:
    """Return a table as the board: verdicts with their sign, and on a phone no number behind the interval."""
    at = next((i for i, column in enumerate(table.columns) if column.header == "interval"), len(table.columns))
    columns = [replace(c, spare=i > at and c.kind != "text") for i, c in enumerate(table.columns)]
    rows = [
        tuple(marked(str(v)) if c.header == "verdict" else v for v, c in zip(row, columns, strict=True))
        for row in table.rows
    ]
    return replace(table, columns=tuple(columns), rows=tuple(rows), name="answer", title="")


def _of_several(result: Interleaving) -> tuple[str, str, str]:
    """Return the headline of three rankers or more, its verdict, and the next step: by the ranker with the most clear wins."""
    (leader, wins), *others = result.wins.items()
    if not wins:
        text = f"No clear preference between {len(result.systems)} rankers"
        return text, "cannot tell", "choose by cost, or collect more lists"
    text = f"Users prefer {leader} to {'all' if wins == len(others) else f'{wins} of'} {len(others)} other rankers"
    pairs = {(edge.winner, edge.loser) for edge in result.edges}
    if ahead := [name for name, _ in others if (name, leader) in pairs]:
        other = words.listing(ahead)
        return text, "cannot tell", f"compare {leader} and {other} alone: {other} is preferred to {leader}"
    unclear = [name for name, _ in others if (leader, name) not in pairs]
    more = f", or collect more lists to tell it from {words.listing(unclear)}" if unclear else ""
    return text, "better", f"launch {leader}{more}"


def _check(result: Compared) -> str:
    if isinstance(result, Interleaving):
        return " ".join(result.lists.checks()).removesuffix(".")
    lead = result.values[0].estimator
    others = [value for value in result.values if value.estimator == lead and value.policy != result.baseline]
    doubtful = any(value.cautions for value in others)
    return "" if doubtful else " ".join(value.support.sentence() for value in others).removesuffix(".")


def _step(result: Compared, best: Contrast) -> str:
    """Return the next step: an A/B test of a better policy, the launch of a preferred ranker, or more of the same log."""
    if best.verdict == "better":
        return f"try {best.run} in an A/B test" if isinstance(result, Estimates) else f"launch {best.run}"
    if best.verdict == "worse":
        return f"keep {best.baseline}"
    more = (best.queries_needed or 0) - best.queries
    if best.verdict == "cannot tell" and more > 0:
        units = words.plural(best.panel.measure.unit)
        return f"about {words.rounded(more)} more {units} would show a difference of this size"
    return "choose by cost: no difference is shown"
