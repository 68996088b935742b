"""The sections of position bias and of click models, on pages of their own and on the page of a log."""

from __future__ import annotations

from collections.abc import Iterator

from rankscope import words
from rankscope.blocks import Section, Verdict
from rankscope.reporting import experiments
from rankscope.reporting.experiments import Choice
from rankscope.show.result import Result
from rankscope.verbs.clicks.result import ClickModels
from rankscope.verbs.position_bias.result import PositionBias

OF_BIAS = (
    Choice("examination", "Position bias", ("examination",), ("by_position",), ("results",)),
    Choice("estimated_from", "The clicks behind the curve", tables=("estimated_from",), lead="A method learns from items that were shown at several positions."),
    Choice("bias_slices", "Position bias by slice", tables=("slices",)),
    Choice("checks", "Not identified by this log", tables=("checks",)),
)  # fmt: skip
OF_MODELS = (
    Choice("models", "Click models side by side", tables=("models", "results"), lead="Models are fitted to some sessions and tested on the others."),
    Choice("predicted", "Observed and predicted clicks", ("predicted",), (), ("by_position",), lead="A model is right about positions if its line covers the observed one."),
    Choice("perplexity", "Perplexity by position", ("perplexity",), lead="The surprise of a model at each position, before any click of the list is known."),
)  # fmt: skip


def title_of(result: PositionBias | ClickModels) -> str:
    """Return the title of the page: the subject and the log."""
    subject = "Position bias" if isinstance(result, PositionBias) else words.listing(fit.name for fit in result.fits)
    return f"{subject}, from the clicks of {result.source.label.rpartition('/')[2]}"


def verdicts(result: PositionBias | ClickModels) -> tuple[Verdict, ...]:
    """Return the sentences; the first is marked as invalid if nothing is identified."""
    first, sentences = headline(result), list(result.sentences())
    others = [text for text in sentences if text not in first]
    return Verdict(first, "invalid" if result.exit_code else "plain"), *map(Verdict, others)


def headline(result: PositionBias | ClickModels) -> str:
    """Return one sentence: the curve, or how the best model does against the baseline."""
    if isinstance(result, PositionBias):
        return next(iter(result.sentences()))
    against = [c.sentence() for c in result.contrasts if c.run == result.best]
    return " ".join(
        [f"{result.best} predicts clicks best, of {words.counted(len(result.fits), 'click model')}.", *against]
    )


def sections(*results: Result) -> Iterator[Section]:
    """Yield the choices of charts and tables of results, and their warnings."""
    for result in results:
        yield from experiments.chosen(OF_BIAS if isinstance(result, PositionBias) else OF_MODELS, result)
        yield from experiments.cautions(result)
