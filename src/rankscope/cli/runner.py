"""How a command is run: what was typed and what is settled, the files it reads and writes, the verb, the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any

import click
from click.core import ParameterSource

from rankscope.cli import inputs, output
from rankscope.cli.command import Command
from rankscope.cli.options import Option
from rankscope.errors import InputError


def run(command: Command, ctx: click.Context) -> int:
    """Read what the command takes, call its verb, and write the result; gives the exit code."""
    call = Call(command, ctx)
    return call.answer(command.function)


class Call:
    """A command as it was typed."""

    def __init__(self, command: Command, ctx: click.Context) -> None:
        self.command = command
        self.path = ctx.command_path
        self.params: Mapping[str, Any] = ctx.params
        own = [param for param in ctx.command.params if isinstance(param, Option)]
        default = {None, ParameterSource.DEFAULT}
        typed = {name for name in ctx.params if ctx.get_parameter_source(name) not in default}
        self.readers = {param.name: param for param in own if param.name}
        self._values = {name: ctx.params[name] for name in self.readers if name in typed}
        self.qrels: str | None = ctx.params.get("qrels")
        self.runs: tuple[str, ...] = ctx.params.get("runs", ())
        self.quiet: bool = ctx.params.get("quiet", False)
        self.out: str | None = ctx.params.get("out")

    def values(self, *readers: str) -> dict[str, Any]:
        """What was typed of the options that these readers take."""
        return {name: value for name, value in self._values.items() if self.readers[name].to in readers}

    # -- what it is about -------------------------------------------------------------------------

    @cached_property
    def settings(self) -> Any:
        """The settings of the project, for a command that goes by them."""
        from rankscope.scoring.settings import settings_of

        verb = "gate" if self.command.name == "gate" else "compare"
        found = settings_of(self.params["settings"]).of(verb)
        if found.said and not self.quiet:
            output.say(f"settings: {found.said}")
        return found

    @cached_property
    def options(self) -> dict[str, Any]:
        """The keywords of the verb: what was typed, and what is settled; all else is left to the verb."""
        typed = self.values("verb", "policy")
        if "settings" not in self.readers:
            return typed
        names = [name for name, one in self.readers.items() if one.to == "verb" or self._takes(one)]
        settled: dict[str, Any] = self.settings.chosen(names)
        return settled | typed

    def _takes(self, option: Option) -> bool:
        """Whether a policy has something to do here: scores were rankings once, and what made them is past."""
        return option.to == "policy" and (option.name == "seed" or not self.of_scores)

    @cached_property
    def metrics(self) -> list[str] | None:
        """The metrics that were typed, or settled."""
        typed = list(self.params.get("metrics", ()))
        if typed or "settings" not in self.readers:
            return typed or None
        primary = None if "primary" in self.readers else self.settings.primary
        return self.settings.metrics or (primary and [primary]) or None

    def metric(self, usual: str) -> str:
        """The one metric that was typed, or the usual one."""
        metrics = self.metrics or [usual]
        if len(metrics) > 1:
            raise InputError(f"there are {len(metrics)} metrics: name one, like -m {metrics[0]}")
        return metrics[0]

    # -- what it reads ------------------------------------------------------------------------------

    @cached_property
    def of_scores(self) -> bool:
        """Whether the files are tables of scores: as was said, or as one that stands alone looks."""
        if "scores" not in self.readers:
            return False
        alone = self.qrels is not None and not self.runs
        return self.params["scores"] or (alone and inputs.holds_scores(str(self.qrels)))

    @cached_property
    def files(self) -> list[inputs.Named]:
        """The rankings, each with the name that was given to it."""
        usage, alone = self.command.usage, [f"--{name}" for name in self.command.alone]
        otherwise = f"; without files: {' or '.join(alone)}" if alone else ""
        inputs.check_complete(self.qrels, self.runs, self.path, usage, otherwise)
        found = inputs.parse_runs(self.runs, again="scores" in self.readers)
        inputs.check_stdin([str(self.qrels), *(path for _, path in found)])
        return found

    def arguments(self) -> tuple[list[Any], dict[str, Any]]:
        """What the verb is called with."""
        if self.of_scores:
            if self.qrels is None:
                raise InputError(f"no file of scores was given: {self.path} --scores scores.csv")
            metrics = self.metrics[0] if self.metrics and len(self.metrics) == 1 else self.metrics
            return [inputs.score_tables([self.qrels, *self.runs]), None, metrics], self.options
        metrics = [self.metrics] if "metrics" in self.readers else []
        optional = self.command.usage.startswith("QRELS [") and self.qrels is not None
        if not self.runs and (optional or any(self._values.get(name) is not None for name in self.command.alone)):
            return [self.qrels, None, *metrics], self.options
        files, systems = inputs.number_runs(self.files)
        return [self.qrels, files, *metrics], ({"systems": systems} if systems else {}) | self.options

    def bar(self) -> AbstractContextManager[Callable[[str], None] | None]:
        """A bar for long work."""
        from rankscope.cli.progress import bar

        paths = [] if self.of_scores else [path for _, path in inputs.parse_runs(self.runs, again=True)]
        return bar(paths, wanted=not self.quiet and bool(paths))

    # -- what it writes -----------------------------------------------------------------------------

    @cached_property
    def form(self) -> str:
        """The format of the result."""
        (option,) = (one for one in self.readers.values() if one.name == "form")
        return output.format_of(self.params["form"], self.out, option.type.choices)  # type: ignore[attr-defined]

    def _read(self) -> Iterator[str]:
        """Every file that is read: the inputs, and what options and settings name."""
        if self.qrels is not None:
            yield self.qrels
        yield from (path for _, path in inputs.parse_runs(self.runs, again=True))
        for name, option in self.readers.items():
            value = self.options.get(name, self.params[name])
            if option.reads and isinstance(value, str):
                yield value
        if "settings" in self.readers and self.settings.file:
            yield self.settings.file

    def check_places(self) -> None:
        """Refuse, before any work is done, to write where that cannot be, or over what is read."""
        read = list(self._read())
        taken: dict[str, str] = {}
        for name, option in self.readers.items():
            place, flag = self.params[name], option.opts[0]
            if not option.writes or place is None:
                continue
            output.check_place(place, read, flag)
            if place in taken:
                raise InputError(f"{place} cannot hold both: name another file for {flag} or {taken[place]}")
            taken[place] = flag

    def call(self, verb: Callable[..., Any]) -> Any:
        """The result of a verb."""
        arguments, options = self.arguments()
        self.check_places()
        if not self.command.bar:
            return verb(*arguments, **options)
        with self.bar() as progress:
            return verb(*arguments, progress=progress, **options)

    def show(self, result: Any, **options: Any) -> None:
        """Write a result, say where it went, and what there is to know of it."""
        form = self.form
        told = () if self.quiet else (result.notes, result.warnings)
        output.show(result, form, self.out, *told, **self.values("result"), **options)
        output.tell_where(self.out, form, self.quiet)

    def answer(self, verb: Callable[..., Any], **options: Any) -> int:
        """Call a verb and show its result; gives the exit code."""
        _ = self.form  # what cannot be written is refused before any work
        result = self.call(verb)
        self.show(result, **options)
        return int(getattr(result, "exit_code", 0))
