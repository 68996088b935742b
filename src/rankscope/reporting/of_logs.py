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


def sections(found: Compared) -> Iterator[Section]:
    """Yield the warnings, open if there are any, and then the choices of charts and tables."""
    for section in experiments.cautions(found):
        yield replace(section, title="Can this log answer?")
    charts = {chart.name: chart for chart in found.charts()}
    for choice in OF_ESTIMATES if isinstance(found, Estimates) else OF_INTERLEAVING:
        chosen = choice.section(found, charts, ())
        if chosen is not None and (choice.name != "graph" or len(found.systems) > 2):
            yield chosen


def verdicts(found: Compared) -> tuple[Verdict, ...]:
    """Return the sentences; the first is marked as invalid if the verdict is withheld."""
    first, *others = found.sentences()
    return Verdict(first, "plain" if found.validity.holds else "invalid"), *map(Verdict, others)


def title_of(found: Compared) -> str:
    """Return the systems: ``uniform, estimated from the log of bts``."""
    source = found.inputs[0] if isinstance(found, Interleaving) else found.made.log.source
    label = source.label.rpartition("/")[2]
    if isinstance(found, Interleaving):
        return f"{' against '.join(found.systems)}, interleaved in {label}"
    others = [name for name in found.systems if name != found.baseline] if found.families else [found.values[-1].policy]
    return f"{', '.join(others)}, estimated from {label}"


def answer(found: Compared, made: Sequence[Section]) -> Answer | None:
    """Return the first screen: the leading differences, all of them in a table, the check of the log, a caution, the next step. None without one."""
    if not found.families:
        return None
    at = "warnings" if any(section.name == "warnings" for section in made) else ""
    board = _board(found.table())
    if not found.validity.holds:
        return Answer(
            "The verdict is withheld: do not use these results", "invalid", board, checked=found.validity.reason
        )
    caution = next((caution.message for caution in found.warnings), "") if at else ""
    if isinstance(found, Interleaving) and len(found.systems) > 2:
        text, tone, step = _of_several(found)
        return Answer(text, TONES.get(tone, "plain"), board, caution, at, checked=_check(found), step=step)
    contrasts = found.families[0].contrasts
    best = max(contrasts, key=lambda c: c.difference)
    named = contrasts if len(contrasts) <= FEW + 1 else [best]
    same = len({c.baseline for c in named}) == 1
    texts = [f"{c.run if same else c.sides} {change(c, named=c is named[0])}" for c in named]
    texts[-1] += f" against {best.baseline}" if same else ""
    return Answer(
        "; ".join(texts), TONES.get(best.verdict, "plain"), board, caution, at, checked=_check(found), step=_step(found, best)
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


def _of_several(found: Interleaving) -> tuple[str, str, str]:
    """Return the headline of three rankers or more, its verdict, and the next step: by the ranker with the most clear wins."""
    (leader, wins), *others = found.wins.items()
    if not wins:
        return (
            f"No clear preference between {len(found.systems)} rankers",
            "cannot tell",
            "choose by cost, or collect more lists",
        )
    text = f"Users prefer {leader} to {'all' if wins == len(others) else f'{wins} of'} {len(others)} other rankers"
    pairs = {(edge.winner, edge.loser) for edge in found.edges}
    if ahead := [name for name, _ in others if (name, leader) in pairs]:
        return (
            text,
            "cannot tell",
            f"compare {leader} and {words.listing(ahead)} alone: {words.listing(ahead)} is preferred to {leader}",
        )
    unclear = [name for name, _ in others if (leader, name) not in pairs]
    more = f", or collect more lists to tell it from {words.listing(unclear)}" if unclear else ""
    return text, "better", f"launch {leader}{more}"


def _check(found: Compared) -> str:
    if isinstance(found, Interleaving):
        return " ".join(found.lists.checks()).removesuffix(".")
    lead = found.values[0].estimator
    others = [value for value in found.values if value.estimator == lead and value.policy != found.baseline]
    doubtful = any(value.cautions for value in others)
    return "" if doubtful else " ".join(value.support.sentence() for value in others).removesuffix(".")


def _step(found: Compared, best: Contrast) -> str:
    """Return the next step: an A/B test of a better policy, the launch of a preferred ranker, or more of the same log."""
    if best.verdict == "better":
        return f"try {best.run} in an A/B test" if isinstance(found, Estimates) else f"launch {best.run}"
    if best.verdict == "worse":
        return f"keep {best.baseline}"
    more = (best.queries_needed or 0) - best.queries
    if best.verdict == "cannot tell" and more > 0:
        units = words.plural(best.panel.measure.unit)
        return f"about {words.rounded(more)} more {units} would show a difference of this size"
    return "choose by cost: no difference is shown"
