"""``rankscope gate``: two runs rather than any number, and places where continuous integration looks."""

from __future__ import annotations

import os
from typing import Any

import click

from rankscope.cli import output
from rankscope.cli.commands import Command
from rankscope.cli.runner import Call
from rankscope.errors import InputError

SUMMARY = "GITHUB_STEP_SUMMARY"


def run(command: Command, ctx: click.Context) -> int:
    """Pass or fail a change; the exit code says which."""
    call = GateCall(command, ctx)
    summary, junit = _summary() if call.params["github_summary"] else None, call.params["junit"]
    verdict = call.result(command.function)
    code = call.show(verdict, settings=call.settings.place if call.settings else "")
    if junit is not None:
        output.write([verdict.to_junit()], junit)
        output.say_where(junit, "JUnit XML", call.quiet)
    if summary is not None:
        _append(summary, verdict.to_markdown())
    return code


class GateCall(Call):
    """A gate as it was typed."""

    def __init__(self, command: Command, ctx: click.Context) -> None:
        super().__init__(command, ctx)
        self.runs = tuple(path for name in ("baseline", "candidate") if (path := ctx.params[name]) is not None)

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Judgments, the two runs and the metrics."""
        if len(self.runs) < 2 or self.qrels is None:
            usage = f"{self.path} {self.command.usage}"
            raise InputError(
                f"a gate takes judgments and two runs: {usage}, like {self.path} qrels.txt main.run branch.run"
            )
        return [self.qrels, *self.files], self.options

    def show(self, result: Any, notes: Any = None, warnings: Any = None, **options: Any) -> int:
        """Write the checks; the log of a job has the verdict in any case."""
        code = super().show(result, [*result.scores.notes, *result.notes], warnings, **options)
        if self.out not in {None, "-"} and not self.quiet:
            output.say(result.sentence)
        return code


def _summary() -> str:
    """The file that shows on the page of a job."""
    place = os.environ.get(SUMMARY)
    if not place:
        raise InputError(
            f"--github-summary: {SUMMARY} is not set, as it is in GitHub Actions; elsewhere use --format markdown -o FILE"
        )
    return place


def _append(place: str, text: str) -> None:
    try:
        with open(place, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text + "\n")
    except OSError as error:
        raise InputError(f"{place}: cannot be written: {error.strerror or error} ({SUMMARY})") from error
