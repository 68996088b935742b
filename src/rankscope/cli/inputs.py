"""Judgments and rankings as they are given on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from rankscope.cli.names import MetricName, QueryChoice
from rankscope.errors import InputError

Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]


def taken(metric_help: str) -> Wrapper:
    """What every verb on judgments and rankings takes: QRELS, RUN..., -m and -q."""

    def wrap(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            click.option("-q", "--quiet", is_flag=True, help="No notes about what was read and written."),
            click.option("-m", "--metric", "metrics", multiple=True, type=MetricName(), help=metric_help),
            click.argument("runs", type=click.Path(), nargs=-1, metavar="RUN..."),
            click.argument("qrels", type=click.Path(), required=False, metavar="QRELS"),
        ):
            command = option(command)
        return command

    return wrap


def queries_option(help_text: str) -> Wrapper:
    """Which queries are averaged."""
    return click.option(
        "--queries",
        type=QueryChoice(),
        default="judged",
        show_default=True,
        metavar="judged|run|both|either|@FILE",
        help=help_text,
    )


def named(qrels: str | None, runs: tuple[str, ...], usage: str) -> list[tuple[str | None, str]]:
    """The runs, each with the name given to it; an error where there is nothing to score or standard input is read twice."""
    if qrels is None or not runs:
        what = "no run was given" if qrels else "no qrels and no run were given"
        like = usage.replace("QRELS RUN...", "qrels.txt my.run").replace("QRELS RUN", "qrels.txt my.run")
        raise InputError(f"{what}: {usage}, like {like} (rankscope demo makes an example)")
    found = _names(runs)
    _stdin_once([qrels, *(path for _, path in found)])
    return found


def _names(runs: tuple[str, ...]) -> list[tuple[str | None, str]]:
    """Each run with the name given to it: ``name=path``, unless there is a file literally called that."""
    out: list[tuple[str | None, str]] = []
    for run in runs:
        name, equals, path = run.partition("=")
        if not equals or "/" in name or Path(run).exists():
            out.append((None, run))
            continue
        if not name or not path:
            raise InputError(f"{run}: a named run is written name=path, like bm25=runs/bm25.run")
        if name in {known for known, _ in out}:
            raise InputError(f"{run}: another run is called {name}, too: give each its own name")
        out.append((name, path))
    return out


def _stdin_once(paths: list[str]) -> None:
    if paths.count("-") > 1:
        raise InputError(
            "- stands for standard input, which can be read only once: give the other input as a file"
        )
