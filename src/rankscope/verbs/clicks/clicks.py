"""Fit click models to a log and compare how well they predict the clicks of sessions that they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankscope import words
from rankscope.click_models.base import ClickModel, FittedModel
from rankscope.click_models.models import find_click_model
from rankscope.declared import one_of, whole_number
from rankscope.errors import DataError, InputError
from rankscope.impressions import Log
from rankscope.inference.base import check_between
from rankscope.lists.pages import Pages
from rankscope.logs.pages import ReadPages, read_grades, read_pages
from rankscope.panels.families import Family, choose_baseline, pairs_of
from rankscope.panels.method import method_of
from rankscope.panels.panel import Panel
from rankscope.panels.samples import Measure
from rankscope.scoring.logs import TimeOptions, read_log
from rankscope.verbs.clicks.result import MEASURE, ClickModels, ModelFit, PlaceFit

USUAL = ("RCTR", "DCTR", "PBM", "UBM", "DBN")
BASELINE = "RCTR"


def clicks(  # noqa: PLR0913 - the options of the command line, each with its default
    log: Any, models: Any = None, *, test_log: Any = None, holdout: float = 0.25, split: str = "session", baseline: str | None = None,
    depth: int | None = None, grades: Any = None, test: Any = None, interval: Any = None, correction: Any = "holm", alpha: float = 0.05,
    rounds: int = 200, seed: int = 0, progress: Callable[[str], None] | None = None,
    columns: Mapping[str, str] | str | None = None, log_format: str | None = None, time_format: str | None = None,
    time_zone: str | None = None, start: Any = None, end: Any = None,
) -> ClickModels:  # fmt: skip
    """Fit click models to a log, and test which of them predicts clicks better on held-out sessions.

    ``log`` is as for ``read_log``: one row per shown item, with ``impression_id``, ``item_id``, ``position`` and ``click``; items are known by
    ``query_id``, too, if there is one. ``models`` are names such as ``"PBM"`` or ``"DBN(smoothing=3)"``: GCTR, RCTR, DCTR, PBM, CM, DCM, CCM,
    UBM, DBN and SDBN. By default RCTR, DCTR, PBM, UBM and DBN; of a single model, RCTR is the ``baseline``.

    Models are tested on ``test_log``, or on a share ``holdout`` of the sessions: at random (``seed``), or the last ones with ``split="time"``.
    The value of a model is its mean log-likelihood per session, and models are compared on the same sessions, as runs are on queries:
    ``test``, ``interval``, ``correction`` and ``alpha`` are as for ``compare``. ``rounds`` is the most steps of EM. ``grades`` grade
    engagement, as in ``"click=1,dwell>=30=2"``, for ``result.qrels()``. ``depth`` leaves out positions below it.

    Raises InputError for an unknown model, DataError for a log without lists, positions or clicks.

    >>> import rankscope as rs
    >>> log = rs.simulate("log", users=300, items=5, candidates=5, queries=10, policy="TopShuffle(top=5)", taste=0).log
    >>> found = rs.clicks(log, ["RCTR", "PBM"])
    >>> found["PBM", "log-likelihood"].baseline, found.best
    ('RCTR', 'PBM')
    """
    check_between("holdout", holdout, 0.25)
    one_of("split", split, ("session", "time"))
    whole_number("rounds", rounds, 1, "rounds is a whole number of 1 or more")
    if depth is not None:
        whole_number("depth", depth, 1, "depth is a whole number of 1 or more")
    chosen = _models(models, baseline)
    method = method_of(test=test, interval=interval, correction=correction, alpha=alpha)
    graded = None if grades is None else read_grades(grades)
    when: TimeOptions = {"time_format": time_format, "time_zone": time_zone, "start": start, "end": end}
    read = read_log(log, columns=columns, log_format=log_format, **when)
    whole = read_pages(read, depth=depth, grades=graded)
    if test_log is None:
        train, held = _parts(whole, holdout, split, seed, read.label)
    else:
        other = read_log(test_log, columns=columns, log_format=log_format, **when)
        train, held = whole.pages, _test_pages(other, whole.pages, depth)
    fits = [_tested(model.fit(train, rounds), train, held) for model in _shown(chosen, progress)]
    panel = _panel(fits, held, "user" if whole.unit == "user" else "session")
    named, _ = choose_baseline(
        baseline or BASELINE if (baseline or BASELINE) in {fit.name for fit in fits} else baseline, panel
    )
    family = Family([panel], pairs_of(panel.systems, named, all_pairs=False), method, named)
    held_out_by = split if test_log is None else "test log"
    return ClickModels([family], fits, whole, read.source, len(train), len(held), held_out_by, tuple(whole.remarks))


def _test_pages(log: Log, train: Pages, depth: int | None) -> Pages:
    """The pages of a log to test on, with the numbers of the pairs of the training pages."""
    held = read_pages(log, depth=depth or train.places).pages.renumbered(train.pairs)
    if held.places > train.places:
        raise DataError(
            f"the test log has lists of {held.places} places, and the log of {train.places}: use --depth {train.places}"
        )
    return held


def _shown(models: Sequence[ClickModel], progress: Callable[[str], None] | None) -> Iterator[ClickModel]:
    """Yield the models, and report each when it is done."""
    for model in models:
        yield model
        if progress is not None:
            progress(str(model))


def _models(models: Any, baseline: str | None) -> list[ClickModel]:
    several = list(USUAL) if models is None else list(models) if isinstance(models, list | tuple) else [models]
    if not several:
        raise InputError("models: name one, like PBM")
    chosen = list(dict.fromkeys(map(find_click_model, several)))
    if len(chosen) == 1:
        other = find_click_model(baseline or BASELINE)
        chosen = [other if other not in chosen else find_click_model("GCTR"), *chosen]
    return chosen


def _parts(whole: ReadPages, holdout: float, split: str, seed: int, label: str) -> tuple[Pages, Pages]:
    """The pages to learn from, and the pages of held-out sessions."""
    pages = whole.pages
    sessions = int(pages.session.max()) + 1
    if sessions < 2:
        raise DataError(
            f"{label}: there is one session, and models are tested on sessions that they have not seen: give a test log"
        )
    count = min(max(round(holdout * sessions), 1), sessions - 1)
    if split == "time":
        if pages.time is None:
            raise DataError(f"{label}: a split by time needs a column timestamp")
        starts = np.full(sessions, np.iinfo(np.int64).max)
        np.minimum.at(starts, pages.session, pages.time)
        out = np.argsort(starts, kind="stable")[-count:]
    else:
        out = np.random.default_rng(seed).permutation(sessions)[:count]
    held = np.isin(pages.session, out)
    return pages.where(~held), pages.where(held)


def _tested(model: FittedModel, train: Pages, held: Pages) -> ModelFit:
    """The quality of predictions of the held-out pages, as a whole and by place."""
    marginal = model.marginal(held)
    shown, click = held.item >= 0, held.click
    views = shown.sum(axis=0)
    predicted = np.where(shown, marginal[:, : held.places], 0.0).sum(axis=0)
    unseen = np.bincount(train.item[train.item >= 0], minlength=len(held.pairs))[held.item[shown]] == 0
    each = [model.perplexity(held, conditional=conditional)[: held.places] for conditional in (False, True)]
    places = [
        PlaceFit(model.name, place + 1, int(views[place]), int(click[:, place].sum()), float(predicted[place]), float(each[0][place]), float(each[1][place]))
        for place in range(held.places) if views[place]
    ]  # fmt: skip
    shares = float(np.nanmean(each[0])), float(np.nanmean(each[1])), float(unseen.mean())
    return ModelFit(model, model.log_likelihood(held), places, *shares)


def _panel(fits: Sequence[ModelFit], held: Pages, unit: str) -> Panel:
    """The log-likelihood of each session by each model; sessions of one user are one cluster."""
    _, index, session = np.unique(held.session, return_index=True, return_inverse=True)
    values = np.stack([np.bincount(session, fit.log_likelihood) for fit in fits])
    clusters = np.unique(held.unit[index], return_inverse=True)[1] if unit == "user" else None
    if clusters is not None and len(np.unique(clusters)) == len(clusters):
        clusters = None
    decimals = words.decimals_for(2 * float(values.std()) / max(values.shape[1], 1) ** 0.5)
    measure = Measure(MEASURE, "higher", (-np.inf, 0.0), unit="session", decimals=decimals)
    names = tuple(fit.name for fit in fits)
    return Panel(measure, names, tuple(map(str, range(values.shape[1]))), values, clusters=clusters)
