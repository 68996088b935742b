"""Judgments and rankings as they are given on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rankscope.cli.names import DialectName, MetricName, QueryChoice
from rankscope.errors import InputError
from rankscope.scoring.policies import POLICIES, Count, Policy

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


def policies(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every verb on values of queries takes: how ties, queries and odd data are dealt with, as in ``evaluate``."""
    for policy in reversed(POLICIES.values()):
        command = _option(policy)(command)
    return command


POLICY_NAMES = frozenset(POLICIES)


def _option(policy: Policy) -> Wrapper:
    """The option that asks for a policy."""
    kind: click.ParamType
    if isinstance(policy, Count):
        kind = click.IntRange(min=policy.least)
    else:
        own = {"queries": QueryChoice(), "weights": click.Path(), "dialect": DialectName()}
        kind = own.get(policy.name) or click.Choice([str(value) for value in policy.values])
    return click.option(
        f"--{policy.name.replace('_', '-')}",
        type=kind,
        default=policy.default,
        show_default=bool(policy.values),
        metavar=policy.metavar,
        help=policy.help,
        callback=lambda _ctx, _param, value: policy.parse(value) if isinstance(value, str) else value,
    )


def said(options: Iterable[str]) -> set[str]:
    """Which of these options were given on the command line, rather than left to their defaults."""
    source = click.get_current_context().get_parameter_source
    return {name for name in options if source(name) not in {None, ParameterSource.DEFAULT}}


def one_metric(metrics: tuple[str, ...], usual: str) -> str:
    """The one metric that was named, or the usual one."""
    if len(metrics) > 1:
        raise InputError(f"there are {len(metrics)} metrics: name one, like -m {metrics[0]}")
    return metrics[0] if metrics else usual


def named(qrels: str | None, runs: tuple[str, ...], usage: str) -> list[tuple[str | None, str]]:
    """The runs, each with the name given to it; an error where there is nothing to score or standard input is read twice."""
    if qrels is None or not runs:
        what = "no run was given" if qrels else "no qrels and no run were given"
        like = usage.replace("RUN RUN...", "a.run b.run").replace("RUN...", "my.run").replace("RUN", "my.run")
        like = like.replace("QRELS", "qrels.txt")
        raise InputError(f"{what}: {usage}, like {like} (rankscope demo makes an example)")
    found = _names(runs)
    _stdin_once([qrels, *(path for _, path in found)])
    return found


def repeated(
    qrels: str | None, runs: tuple[str, ...], usage: str
) -> tuple[list[tuple[str | None, str]], dict[str, str] | None]:
    """The runs as ``named`` gives them, but a name may be given to several: then also which system each of those is a run of."""
    if qrels is None or not runs:
        return named(qrels, runs, usage), None
    found = _names(runs, again=True)
    _stdin_once([qrels, *(path for _, path in found)])
    names = [name for name, _ in found]
    out: list[tuple[str | None, str]] = []
    systems: dict[str, str] = {}
    for name, path in found:
        if name is not None and names.count(name) > 1:
            number = f"{name}#{1 + sum(system == name for system in systems.values())}"
            systems[number] = name
            out.append((number, path))
        else:
            out.append((name, path))
    return out, systems or None


def named_scores(paths: list[str]) -> Any:
    """Files of scores: one as it is, several as a list or, where names are given, by name."""
    found = _names(tuple(paths))
    _stdin_once([path for _, path in found])
    if len(found) == 1:
        return found[0][1]
    # the shortest of each file's names that no other file has
    choices = [(name or Path(path).name.split(".")[0], name or Path(path).name, path) for name, path in found]
    out: dict[str, str] = {}
    for choice in choices:
        others = [other for other in choices if other is not choice]
        free = (n for level, n in enumerate(choice) if all(other[level] != n for other in others))
        name = next(free, choice[-1])
        if name in out:
            raise InputError(
                f"{choice[-1]} is given twice; leave one out, or give each a name, like a={choice[-1]}"
            )
        out[name] = choice[-1]
    return out


def _names(runs: tuple[str, ...], again: bool = False) -> list[tuple[str | None, str]]:
    """Each run with the name given to it: ``name=path``, unless there is a file literally called that."""
    out: list[tuple[str | None, str]] = []
    for run in runs:
        name, equals, path = run.partition("=")
        if not equals or "/" in name or Path(run).exists():
            out.append((None, run))
            continue
        if not name or not path:
            raise InputError(f"{run}: a named run is written name=path, like bm25=runs/bm25.run")
        if not again and name in {known for known, _ in out}:
            raise InputError(f"{run}: another run is called {name}, too: give each its own name")
        out.append((name, path))
    return out


def _stdin_once(paths: list[str]) -> None:
    if paths.count("-") > 1:
        raise InputError(
            "- stands for standard input, which can be read only once: give the other input as a file"
        )
