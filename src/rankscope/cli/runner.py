"""How a command runs: typed options and settings, the files it reads and writes, the verb, the result."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from rankscope import words
from rankscope.cli import output
from rankscope.cli.commands import FILE, PLACE, Command, Option
from rankscope.errors import InputError
from rankscope.show import ENDINGS, OF_PAPER

if TYPE_CHECKING:
    from rankscope.scoring.settings import Settings


Named = tuple[str | None, str]  # a file, and the name that was given to it
TABLES = {".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".pq", ".gz", ".zst"}
ONE_METRIC = {"explain", "unjudged", "reconcile"}  # commands that look at the main metric unless others are typed
FIRST_DECIDES = {"tune", "rerank", "learn"}  # commands decided by the first (main) metric


class Call:
    """A parsed command: it calls the verb and writes the result."""

    def __init__(self, command: Command, ctx: click.Context) -> None:
        self.command = command
        self.ctx = ctx
        self.path = ctx.command_path
        self.params: Mapping[str, Any] = ctx.params
        self.own = {one.name: one for one in ctx.command.params if isinstance(one, Option) and one.name}
        default = (None, ParameterSource.DEFAULT)
        self.explicit = {
            name: one.read(self.params[name]) if one.read else self.params[name]
            for name, one in self.own.items()
            if ctx.get_parameter_source(name) not in default
        }
        self.display = {name: value for name, value in self.explicit.items() if self.own[name].to == "result"}
        self.qrels: str | None = ctx.params.get("qrels")
        self.log: str | None = ctx.params.get("log")
        self.runs: tuple[str, ...] = ctx.params.get("runs", ())
        if "candidate" in ctx.params:  # a gate names its two apart
            both = (ctx.params["baseline"], ctx.params["candidate"])
            self.runs = tuple(run for run in both if run is not None)
        self.files = parse_runs(self.runs, again="scores" in self.own)  # the rankings, each with the name given to it
        if [self.qrels, *(path for _, path in self.files)].count("-") > 1:
            raise InputError("- is standard input, which can be read only once: give the other input as a file")
        # tables of scores: with --scores, or a single file that is one
        self.of_scores = "scores" in self.own and bool(
            self.params["scores"] or (self.qrels is not None and not self.runs and _holds_scores(self.qrels))
        )
        self.quiet: bool = ctx.params.get("quiet", False)
        self.out: str | None = ctx.params.get("out")

    @cached_property
    def settings(self) -> Settings | None:
        """The settings of the project, if the command uses them."""
        if "settings" not in self.own:
            return None
        from rankscope.scoring.settings import settings_of

        return settings_of(
            self.params["settings"], verb={"report": "compare"}.get(self.command.name, self.command.name)
        )

    @cached_property
    def options(self) -> dict[str, Any]:
        """The keywords of the verb: typed options, then settings. The verb has defaults for the rest."""
        takes = {name for name, one in self.own.items() if one.to in {"verb", "policy"}}
        explicit = {name: value for name, value in self.explicit.items() if name in takes}
        if self.settings is None:
            return explicit
        if self.of_scores:  # for scores, settings about rankings do not apply
            takes -= {name for name, one in self.own.items() if one.to == "policy" and name not in {"seed", "ignore"}}
        if any(name in explicit for name in self.command.alone):  # without rankings
            takes -= {name for name, one in self.own.items() if one.to == "policy" or one.type is FILE}
        settled = self.settings.values
        flags = {name: one.opts[-1].lstrip("-").replace("-", "_") for name, one in self.own.items() if name in takes}
        return {name: settled[flag] for name, flag in flags.items() if flag in settled} | explicit

    @cached_property
    def metrics(self) -> list[str] | None:
        """The typed metrics, otherwise the settings' metrics: all, or the main one for a command on one metric."""
        explicit = list(self.params.get("metrics", ()))
        if explicit or self.settings is None:
            return explicit or None
        settled = self.settings.values.get("metrics")
        if self.command.name in ONE_METRIC:
            settled = self.settings.values.get("primary") or (settled or [None])[0]
        elif self.command.name == "gate":
            settled = self.settings.metrics
        elif self.command.name in FIRST_DECIDES and (primary := self.settings.values.get("primary")):
            settled = list(dict.fromkeys([primary, *(settled or [])]))
        return [settled] if isinstance(settled, str) else settled

    @cached_property
    def typed(self) -> dict[str, Any]:
        """The keywords of the verb that were typed."""
        return {name: value for name, value in self.options.items() if name in self.explicit}

    @cached_property
    def log_options(self) -> dict[str, Any]:
        """The keywords of the verb for a log: those that were typed, and settings that hold for logs."""
        held = self.settings.of_log if self.settings else {}
        return {name: value for name, value in held.items() if name in self.options} | self.typed

    def say_settings(self) -> None:
        """Print the place of the settings, if there are any."""
        if self.settings is not None and self.settings.place and not self.quiet:
            output.say(f"settings: {self.settings.place}")

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of the verb, except metrics."""
        if "log" in self.params and "log" not in self.own:
            if self.log is None and not any(name in self.explicit for name in self.command.alone):
                raise InputError(f"give a log: {self.path} {self.command.usage}, like {self.path} log.parquet")
            return [self.log], self.options
        if self.of_scores:
            if self.qrels is None:
                raise InputError(f"no file of scores was given: {self.path} --scores scores.csv")
            return [score_tables([self.qrels, *self.runs]), None], self.options
        without_files = any(name in self.explicit for name in self.command.alone)
        if not self.runs and without_files:
            return [self.qrels, None], self.options
        if self.qrels is None or not (self.runs or "[RUN...]" in self.command.usage):
            raise InputError(self._what_is_missing())
        if "metrics" in self.explicit and not all(Path(path).exists() for path in (self.qrels, *self.runs)):
            self._refuse_metrics_as_files()
        names = [name for name, _ in self.files if name is not None]
        files, systems = number_runs(self.files) if len(set(names)) < len(names) else (self.files, {})
        runs = files if "candidate" in self.params else [files or None]  # a gate takes its two apart
        return [self.qrels, *runs], ({"systems": systems} if systems else {}) | self.options

    def _refuse_metrics_as_files(self) -> None:
        from rankscope.metrics import spelled

        files = [path for path in (self.qrels, *self.runs) if path and not Path(path).exists()]
        strays = [path for path in files if spelled(path)]
        if strays:
            metrics = " ".join([*self.params["metrics"], *strays])
            raise InputError(f"no file called {strays[0]}: -m takes one argument, write -m {shlex.quote(metrics)}")

    def _what_is_missing(self) -> str:
        usage = self.command.usage
        optional = "[RUN...]" in usage
        absent = "no run was given" if self.qrels else f"no qrels {'were' if optional else 'and no run were'} given"
        like = usage.replace("QRELS", "qrels.txt").replace("[RUN] ", "").replace("RUN RUN...", "a.run b.run")
        for text in ("[RUN...]", "RUN...", "RUN"):
            like = like.replace(text, "my.run")
        alone = words.listing([f"--{name}" for name in self.command.alone], last="or")
        otherwise = f"; without files: {alone}" if alone else ""
        example = f"like {self.path} {like} (rankscope demo makes an example)"
        return f"{absent}: {self.path} {usage}, {example}{otherwise}"

    def reads(self) -> Iterator[str]:
        """Yield every file that is read: inputs, and files named by options and settings."""
        yield from (path for path in (self.qrels, self.log) if path is not None)
        yield from (path for _, path in self.files)
        for name, option in self.own.items():
            value = self.options.get(name, self.params[name])
            if option.type is FILE and isinstance(value, str):
                yield value
        if self.settings is not None and self.settings.file:
            yield self.settings.file

    @cached_property
    def form(self) -> str:
        """The format of the result: --format, otherwise by the ending of the file, otherwise the table."""
        form, out, formats = self.params["form"], self.out, self.own["form"].type.choices  # type: ignore[attr-defined]
        if form is not None or out is None or out == "-":
            return form or "table"
        ending = Path(out).suffix.lower()
        if ending not in ENDINGS:
            problem = f"{out}: the format of {ending or 'a name without an ending'} is not known"
            raise InputError(f"{problem}, name one with --format: {', '.join(formats)}")
        if ENDINGS[ending] not in formats:
            raise InputError(f"{out}: this is written as {words.listing(formats, last='or')}, not as {ENDINGS[ending]}")
        return ENDINGS[ending]

    def check(self, *, of_result: bool = True, of_log: bool = False) -> None:
        """Refuse, before reading, invalid places and formats, and missing files.

        ``of_result`` is false for a figure or a part, which have formats of their own. With ``of_log`` some options may name
        columns of a log.
        """
        flags: dict[str, str] = {}
        for name, option in self.own.items():
            place, flag = self.params[name], option.opts[0]
            if option.type is not PLACE or place is None:
                continue
            output.check_place(place, list(self.reads()), flag)
            if place in flags:
                raise InputError(f"{place} cannot hold both: name another file for {flag} or {flags[place]}")
            flags[place] = flag
        form = self.form if "form" in self.own and of_result else ""
        for name in self.display:
            if self.own[name].form not in {"", form}:
                raise InputError(OF_PAPER.format(name, form))
        for name, option in self.own.items():
            path = self.options.get(name, self.params[name])
            table = isinstance(path, str) and Path(path).suffix.lower() in TABLES
            if name == "settings" or (of_log and name in self.command.of_log and not table):
                continue
            if option.type is FILE and isinstance(path, str) and path != "-":
                self._refuse_absent(path, option.opts[0])

    def _refuse_absent(self, path: str, flag: str) -> None:
        """Refuse a missing file of an option. A path of another machine is left to its reader."""
        try:
            there = Path(path).expanduser().exists() or any(sign in path for sign in "*?") or "://" in path
        except (OSError, ValueError, RuntimeError):
            return
        if not there:
            from rankscope.files.raw import near_file

            raise InputError(f"{path}: no such file{near_file(Path(path))} ({flag})")

    def result(self, metrics: Any = None, *, verb: Callable[..., Any] | None = None, **more: Any) -> Any:
        """Return the result of the command's verb or of another; ``metrics`` replaces the typed ones, ``more`` are further keywords."""
        self.check()
        arguments, options = self.arguments()
        if "metrics" in self.own:
            arguments.append(metrics or self.metrics)
        self.say_settings()
        verb = verb or self.command.function  # late import: bad input should fail fast
        if not self.command.bar or self.quiet:
            return verb(*arguments, **options, **more)
        paths = [] if self.of_scores else [path for _, path in self.files]
        with output.bar(paths) as progress:
            return verb(*arguments, progress=progress, **options, **more)

    def show(self, result: Any, notes: Any = None, warnings: Any = None, **options: Any) -> int:
        """Write a result, print notes and the written file, and return the exit code."""
        if not self.quiet:
            read = getattr(result, "notes", ()) if notes is None else notes
            cautions = getattr(result, "warnings", ()) if warnings is None else warnings
            output.report(read, cautions, self.form)
        width, colour = output.output_style(self.out)
        pieces = result.write(self.form, width=width, colour=colour, **self.display | options)
        code = int(getattr(result, "exit_code", 0))
        try:
            output.write(pieces, self.out, drawn=self.form == "table")
        except output.LostOutputError as lost:
            output.say(str(lost))
            return code or lost.exit_code  # the verdict's code comes first
        if self.out is not None:
            output.say_where(self.out, self.form, self.quiet)
        self._record(result)
        return code

    def _record(self, result: Any) -> None:
        ledger, launch = self.params.get("record"), self.params.get("launch")
        if launch is not None and ledger is None:
            raise InputError(f"--launch {launch} names a launch in a ledger: add --record launches.db")
        if ledger is not None:
            from rankscope.verbs.launches.launches import record

            made = record(result, ledger, launch=launch)
            names = words.listing([one.name for one in made.launches])
            output.say_where(
                made.ledger,
                f"{names}: {words.counted(sum(len(one.measurements) for one in made.launches), 'difference')}",
                self.quiet,
            )


def parse_runs(runs: Iterable[str], again: bool = False) -> list[Named]:
    """Each run with the name of ``name=path``, unless a file is literally called that. With ``again`` several may have one name."""
    out: list[Named] = []
    for run in runs:
        name, equals, path = run.partition("=")
        if not equals or "/" in name or Path(run).exists():
            out.append((None, run))
            continue
        if not name or not path:
            raise InputError(f"{run}: a named run is written name=path, like bm25=runs/bm25.run")
        if not again and name in {known for known, _ in out}:
            raise InputError(f"{run}: another run is also called {name}: give each its own name")
        out.append((name, path))
    return out


def number_runs(runs: Iterable[Named]) -> tuple[list[Named], dict[str, str]]:
    """Number runs of one name, and return the system of each."""
    runs = list(runs)
    names = [name for name, _ in runs]
    systems = {f"{n}#{names[: i + 1].count(n)}": n for i, n in enumerate(names) if n is not None and names.count(n) > 1}
    numbered = iter(systems)
    return [(next(numbered) if name in systems.values() else name, path) for name, path in runs], systems


def score_tables(paths: Sequence[str]) -> str | dict[str, str]:
    """Files of scores: one as it is, several by name. The shortest of each file's names that no other file has."""
    runs = parse_runs(paths)
    if len(runs) == 1:
        return runs[0][1]
    nameless = [path for name, path in runs if name is None]
    for path in nameless:
        if nameless.count(path) > 1:
            raise InputError(f"{path} is given twice: leave one out, or give each a name, like a={path}")
    from rankscope.files.long import stem
    from rankscope.scoring.inputs import distinct_names

    names = distinct_names([(name or stem(path), "" if name else path, "") for name, path in runs])
    return {name: path for name, (_, path) in zip(names, runs, strict=True)}


def _holds_scores(path: str) -> bool:
    from rankscope.files.matrices import holds_scores

    return holds_scores(path)
