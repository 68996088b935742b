"""``rankscope gate``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from rankscope.cli import inputs, output
from rankscope.cli.names import MetricName
from rankscope.cli.progress import bar
from rankscope.errors import InputError

if TYPE_CHECKING:
    from rankscope.scoring.settings import Settings
    from rankscope.verbs.gate.result import Gate

USAGE = "rankscope gate QRELS BASELINE CANDIDATE"
SUMMARY = "GITHUB_STEP_SUMMARY"


@click.command("gate", short_help="Pass or fail a change, for continuous integration.")
@click.argument("qrels", type=click.Path(), required=False, metavar="QRELS")
@click.argument("baseline", type=click.Path(), required=False, metavar="BASELINE")
@click.argument("candidate", type=click.Path(), required=False, metavar="CANDIDATE")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    type=MetricName(),
    help="A metric that must pass, like nDCG@10 (the default); may be repeated, or several in quotes.",
)
@click.option(
    "--tolerance",
    multiple=True,
    metavar="0.01|2%|METRIC=0.02",
    help="How much worse the candidate may be: a number, a percentage of the baseline's mean, or one of these for a metric; may be "
    "repeated. Default: 0.01 for metrics from 0 to 1. 0 requires a proved improvement wherever six or more queries changed.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["loss", "tolerance"]),
    default="loss",
    show_default=True,
    help="What fails: a proved loss that is not certain to stay within the tolerance, or only a proved loss of more than it.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="The level: 0.05 means 95% intervals.",
)
@click.option(
    "--slices",
    type=click.Path(),
    metavar="FILE",
    help="Attributes of queries: each of their values must pass, too.",
)
@click.option(
    "--clusters", type=click.Path(), metavar="FILE", help="The user, session or topic of each query."
)
@click.option("--interval", metavar="NAME", help="The interval of a difference. Default: t.")
@click.option("--test", metavar="NAME", help="The test that proves a loss. Default: t.")
@inputs.policies
@click.option(
    "--settings",
    "settings_file",
    type=click.Path(),
    metavar="FILE",
    help="Settings as TOML. Default: [tool.rankscope] of the nearest pyproject.toml. The command line wins.",
)
@click.option("--junit", type=click.Path(), metavar="FILE", help="Also write JUnit XML to FILE.")
@click.option(
    "--github-summary", is_flag=True, help=f"Also append Markdown to the job's summary (${SUMMARY})."
)
@click.option("-q", "--quiet", is_flag=True, help="No notes about what was read and written.")
@output.printed()
def command(  # noqa: PLR0913, PLR0917 - the options of the command line
    qrels: str | None,
    baseline: str | None,
    candidate: str | None,
    settings_file: str | None,
    junit: str | None,
    github_summary: bool,
    quiet: bool,
    form: str | None,
    out: str | None,
    **options: Any,
) -> int:
    """Say whether CANDIDATE may replace BASELINE: exit code 0 pass, 1 fail, 4 cannot tell.

    Every metric, on all queries and on every slice, is a check. It passes if the 95% interval of its difference lies above minus the
    tolerance, or if nothing changed. It fails if a loss is proved (Holm-corrected for all checks). If fewer than 6 queries differ, the
    losses alone must stay within the tolerance, and no error rate is promised. BASELINE is a run, or the JSON that
    rankscope evaluate QRELS RUN --per-query -o baseline.json wrote.

    \b
    Examples:
      rankscope gate qrels.txt main.run branch.run -m nDCG@10 --tolerance 0.01
      rankscope gate qrels.txt main.run branch.run -m "nDCG@10 R@100" --tolerance 2%
      rankscope gate qrels.txt baseline.json branch.run --junit gate.xml
      rankscope gate qrels.txt main.run branch.run --slices queries.csv --github-summary
    """  # noqa: D301 - click reads the \b
    if qrels is None or baseline is None or candidate is None:
        raise InputError(
            f"a gate takes judgments and two runs: {USAGE}, like rankscope gate qrels.txt main.run branch.run"
        )
    before, after = inputs.named(qrels, (baseline, candidate), USAGE)
    read = [qrels, before[1], after[1]]
    _check_places(out, junit, read)
    if junit is not None and junit == out:
        raise InputError(f"{out} cannot hold both: name another file for --junit")
    form, summary = output.answer_format_of(form, out), _summary(github_summary)

    from rankscope.scoring.settings import SETTINGS

    settings, metrics, options = _with_settings(settings_file, options)
    files = (options.get(name) for name, setting in SETTINGS.items() if setting.file)
    read += [str(path) for path in (settings.file, *files) if path]
    _check_places(out, junit, read)
    if settings.place and not quiet:
        output.say(f"settings: {settings.place}")
    from rankscope.verbs.gate.gate import gate

    with bar([before[1], after[1]], wanted=not quiet) as progress:
        verdict = gate(qrels, before, after, metrics, progress=progress, **options)
    _write(verdict, form, out, settings=settings.place, junit=junit, summary=summary, quiet=quiet)
    return verdict.exit_code


def _check_places(out: str | None, junit: str | None, read: list[str]) -> None:
    output.check_place(out, read)
    output.check_place(junit, read, "--junit")


def _with_settings(path: str | None, options: dict[str, Any]) -> tuple[Settings, Any, dict[str, Any]]:
    """The settings, the metrics, and the options: what the command line leaves open, the settings fill."""
    from rankscope.scoring.settings import settings_of

    settings = settings_of(path).of("gate")
    options |= {"tolerance": _tolerances(options["tolerance"])}
    filled = settings.fill(options, inputs.said(options))
    return settings, list(filled.pop("metrics")) or settings.metrics, filled


def _summary(wanted: bool) -> str | None:
    """The file that shows on the page of a job."""
    if not wanted:
        return None
    place = os.environ.get(SUMMARY)
    if not place:
        raise InputError(
            f"--github-summary: {SUMMARY} is not set, as it is in GitHub Actions; elsewhere use --format markdown -o FILE"
        )
    return place


def _tolerances(said: tuple[str, ...]) -> dict[str, str] | None:
    """The tolerances by metric; one that names none holds for all."""
    out: dict[str, str] = {}
    for text in said:
        name, _, value = text.rpartition("=")
        if (name or "default") in out:
            raise InputError(f"--tolerance {text}: {name or 'the general tolerance'} is given twice")
        out[name or "default"] = value
    return out or None


def _write(
    verdict: Gate,
    form: str,
    out: str | None,
    *,
    settings: str,
    junit: str | None,
    summary: str | None,
    quiet: bool,
) -> None:
    notes = () if quiet else (*verdict.scores.notes, *verdict.notes)
    output.show(verdict, form, out, notes, () if quiet else verdict.warnings, settings=settings)
    if junit is not None:
        output.write([verdict.to_junit()], junit)
    if summary is not None:
        _append(summary, verdict.to_markdown())
    if not quiet:
        if out not in {None, "-"}:  # the log of a job shows the verdict in any case
            output.say(verdict.sentence)
        for place, kind in ((out, form), (junit, "JUnit XML")):
            if place not in {None, "-"}:
                output.say(f"wrote {place} ({kind})")


def _append(place: str, text: str) -> None:
    try:
        with open(place, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text + "\n")
    except OSError as error:
        raise InputError(f"{place}: cannot be written: {error.strerror or error} ({SUMMARY})") from error
