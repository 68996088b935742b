"""The page of a log: the verdict of its experiment where it holds one, and its online metrics by day and by position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankscope.blocks import Page
from rankscope.errors import DataError, InputError
from rankscope.experiments.request import EXPERIMENT_OPTIONS
from rankscope.impressions import Log
from rankscope.reporting.page import FOOT, sections_of, verdicts_of
from rankscope.reporting.sections.reproduce import reproduce_result
from rankscope.show.result import Result
from rankscope.syntax import option_named
from rankscope.verbs.experiment.days import over_days
from rankscope.verbs.experiment.experiment import experiment
from rankscope.verbs.experiment.result import Experiment
from rankscope.verbs.online.online import online

OF_PAGE = {"variant", "by", "columns", "log_format"}  # the page itself decides by day; the log is read before
OF_EXPERIMENT = tuple(name for name in EXPERIMENT_OPTIONS if name not in OF_PAGE)


def results_of_log(log: Log, metrics: Any, options: Mapping[str, Any]) -> list[Result]:
    """The experiment that a log holds, if it does, and its online metrics. Raises InputError for options that are of rankings."""
    given = {name: value for name, value in options.items() if name != "columns" and value not in (None, [], ())}
    several = log.has("variant")
    taken = OF_EXPERIMENT if several else ("alpha",)
    odd = next((name for name in given if name not in taken), None)
    if odd is not None:
        about = (
            "rankings" if odd not in OF_EXPERIMENT else "experiments, and no column says which variant a user was given"
        )
        raise InputError(f"{option_named(odd)} is about {about}: leave it out for {log.label}")
    results: list[Result] = [_experiment(log, metrics, given)] if several else []
    if log.of_impressions:
        over = [name for name, role in (("day", "timestamp"), ("position", "position")) if log.has(role)]
        wanted = metrics
        if "primary" in given:
            wanted = [given["primary"], *([metrics] if isinstance(metrics, str) else metrics or [])]
        results.append(online(log, wanted, by=over, level=1 - given.get("alpha", 0.05)))
    return results


def _experiment(log: Log, metrics: Any, given: Mapping[str, Any]) -> Experiment:
    """The experiment that a log holds; with its days where it has some to compare, as the page asks for these and not the user."""
    found = experiment(log, metrics, **given)
    lead = next(iter(found.roles))
    if not log.has("timestamp") or lead.windowed:
        return found
    try:
        return replace(found, days=over_days(found.variants, lead, found.method))
    except DataError:  # one day alone, or a variant that has nothing in one half of them
        return found


def page_of_log(log: Log, metrics: Any, options: Mapping[str, Any], title: str | None, command: str | None) -> Page:
    """One page of what a log tells: the verdict first, then its tables and charts."""
    results = results_of_log(log, metrics, options)
    lead, *others = results
    sections = list(sections_of(lead))
    for other in others:
        known = {section.name for section in sections}
        for section in sections_of(other):
            name = f"online-{section.name}" if section.name in known else section.name
            heading = f"{section.title}, all users" if section.name in known else section.title
            sections.append(replace(section, name=name, title=heading))
    notes = lead.variants.notes if isinstance(lead, Experiment) else lead.notes
    about = f"{log.source.label}: {notes[-1]}"
    return Page(title or lead.schema.partition("/")[0].capitalize(), about, verdicts_of(lead),
        (*sections, reproduce_result(lead, command)), FOOT)  # fmt: skip
