"""Judgments, rankings and tables of scores, as they are typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rankscope.errors import InputError, RankscopeError

Named = tuple[str | None, str]  # a file, and the name that was given to it


def check_complete(qrels: str | None, runs: Sequence[str], command: str, usage: str, otherwise: str = "") -> None:
    """Refuse a command without judgments or rankings; ``usage`` says what it takes."""
    optional = "[RUN...]" in usage
    if qrels is not None and (runs or optional):
        return
    absent = "no run was given" if qrels else f"no qrels {'were' if optional else 'and no run were'} given"
    like = usage.replace("QRELS", "qrels.txt").replace("[RUN] ", "").replace("RUN RUN...", "a.run b.run")
    for text in ("[RUN...]", "RUN...", "RUN"):
        like = like.replace(text, "my.run")
    raise InputError(f"{absent}: {command} {usage}, like {command} {like} (rankscope demo makes an example){otherwise}")


def parse_runs(runs: Iterable[str], again: bool = False) -> list[Named]:
    """Each run with the name given to it: ``name=path``, unless there is a file literally called that.

    With ``again`` a name may be given to several.
    """
    out: list[Named] = []
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


def check_stdin(paths: Sequence[str]) -> None:
    """Refuse to read standard input twice."""
    if paths.count("-") > 1:
        raise InputError("- stands for standard input, which can be read only once: give the other input as a file")


def number_runs(runs: Iterable[Named]) -> tuple[list[Named], dict[str, str]]:
    """Runs of one name told apart by a number, and the system that each of those is a run of.

    >>> number_runs([("a", "1.run"), ("a", "2.run"), (None, "b.run")])
    ([('a#1', '1.run'), ('a#2', '2.run'), (None, 'b.run')], {'a#1': 'a', 'a#2': 'a'})
    """
    runs = list(runs)
    names = [name for name, _ in runs]
    out: list[Named] = []
    systems: dict[str, str] = {}
    for name, path in runs:
        if name is not None and names.count(name) > 1:
            number = f"{name}#{1 + sum(system == name for system in systems.values())}"
            systems[number] = name
            out.append((number, path))
        else:
            out.append((name, path))
    return out, systems


def score_tables(paths: Sequence[str]) -> str | dict[str, str]:
    """Files of scores: one as it is, several by name; the shortest of each file's names that no other file has."""
    runs = parse_runs(paths)
    check_stdin([path for _, path in runs])
    if len(runs) == 1:
        return runs[0][1]
    choices = [(name or Path(path).name.split(".")[0], name or Path(path).name, path) for name, path in runs]
    out: dict[str, str] = {}
    for choice in choices:
        others = [other for other in choices if other is not choice]
        free = (n for level, n in enumerate(choice) if all(other[level] != n for other in others))
        name = next(free, choice[-1])
        if name in out:
            raise InputError(f"{choice[-1]} is given twice; leave one out, or give each a name, like a={choice[-1]}")
        out[name] = choice[-1]
    return out


def holds_scores(path: str) -> bool:
    """Whether a file is a table of scores."""
    from rankscope.files.matrices import scores_of

    try:
        return len(scores_of(path).systems) > 1
    except RankscopeError:
        return False
