"""What a command is, and the options and arguments of commands: what each is called, what it says of itself, who reads it, what it can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Literal

import click

from rankscope.errors import MOST, InputError
from rankscope.show import ENDINGS
from rankscope.words import as_share, counted, listing

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Kind = click.ParamType[Any]
else:
    Kind = click.ParamType  # not generic before click 8.4

COMPLETION = "_RANKSCOPE_COMPLETE"  # by this variable of the environment a shell asks for completions
CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)

Names = Iterable[tuple[str, str]]  # each with what it is about


@dataclass(frozen=True, eq=False, repr=False)
class NameType(Kind):
    """A name that the shell completes; what it means, and whether there is one, is for the verb to say.

    ``offers`` takes what was typed so far and gives the names there are, each with what it is about.
    """

    name: str
    offers: Callable[[str], Names]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that go on from what was typed."""
        from click.shell_completion import CompletionItem

        start = incomplete.casefold()
        offers = self.offers(incomplete)
        return [CompletionItem(name, help=about) for name, about in offers if name.casefold().startswith(start)]


class WholeNumber(click.IntRange):
    """A whole number, whose least value help shows; one that is beyond what can be computed with is refused, too."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number that was typed."""
        number = super().convert(value, param, ctx)
        if number > MOST:
            self.fail(f"{value} is too large, {MOST:,} is the most", param, ctx)
        return number


def _metrics(start: str) -> Names:
    from rankscope.verbs.catalogue.catalogue import spellings

    return spellings(CUTOFFS if "@" in start else (10,))


def _families(_: str) -> Names:
    from rankscope.verbs.catalogue.catalogue import spellings

    return spellings(())


def _dialects(_: str) -> Names:
    from rankscope.dialects import DIALECTS

    return ((name, dialect.about) for name, dialect in DIALECTS.items())


def _inferences(kind: str) -> Iterator[tuple[str, str]]:
    from rankscope.declared import doc_of
    from rankscope.inference import NAMES, find_method
    from rankscope.inference.base import Correction, Interval, PairedTest

    base: Any = {"test": PairedTest, "interval": Interval, "correction": Correction}[kind]
    for name in NAMES[kind]:
        yield name, doc_of(find_method(base, name)).partition("\n")[0]


def _tasks(_: str) -> Names:
    from rankscope.verbs.advise.tasks import TASKS

    return ((task.name, task.about) for task in TASKS)


def _online(_: str) -> Names:
    from rankscope.verbs.catalogue.online import online_spellings

    return online_spellings()


def _log_formats() -> Names:
    from rankscope.files.log_formats.catalogue import LOG_FORMATS, TABLE

    yield from ((one.name, one.about) for one in LOG_FORMATS.values())
    yield TABLE, "a table with a row a shown item, or a row a user"


METRIC_NAME = NameType("metric", _metrics)
ONLINE_NAME = NameType("online metric", _online)
FAMILY_NAME = NameType("name", _families)
DIALECT_NAME = NameType("tool", _dialects)
TEST_NAME = NameType("test", lambda _: _inferences("test"))
INTERVAL_NAME = NameType("interval", lambda _: _inferences("interval"))
TASK_NAME = NameType("task", _tasks)
CORRECTION_NAME = NameType("correction", lambda _: _inferences("correction"))
LOG_FORMAT_NAME = NameType("log format", lambda _: _log_formats())


def label(text: str) -> str:
    """What LaTeX refers to a table by. Raises InputError for what can be none."""
    from rankscope.show.latex import check_label

    return check_label(text)


def listed_queries(text: str) -> str | list[str]:
    """Which queries are averaged: the name of a population as it is, or the ids that the file behind an @ lists."""
    if not text.startswith("@"):
        return text
    from pathlib import Path

    try:
        lines = Path(text[1:]).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no UTF-8 text"
        remedy = "--queries @FILE wants a query id a line"
        raise InputError(f"{text[1:]}: cannot be read: {reason}; {remedy}") from None
    ids = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    if not ids:
        raise InputError(f"{text[1:]}: lists no query; --queries @FILE wants a query id a line")
    return ids


# --- options ------------------------------------------------------------------------------------

FILE, PLACE, FOLDER = click.Path(), click.Path(), click.Path()  # to read, to write, to write into
NUMBER = WholeNumber(min=1)

Reader = Literal["verb", "policy", "result", "command"]


class Option(click.Option):
    """An option: its ``flags``, its ``help``, its ``kind`` (a type, a tuple of choices, bool for a flag), and who reads it.

    The ``verb`` takes it as a keyword of the same name, also where it is a ``policy`` of scoring; the ``result`` takes it where
    it is written; all others are for the ``command`` alone. What is not typed is left to the defaults of whoever reads it;
    of what is typed ``read`` makes the value that is meant. ``form`` is the format of results that it is for, where it is for one.
    ``{names}`` in the help stands for the names that the kind knows: they are looked up when the help is shown.
    """

    def __init__(
        self, flags: str, text: str, kind: Any = str, metavar: str | None = None, *, to: Reader = "verb",
        read: Callable[[Any], Any] | None = None, form: str = "", **more: Any,
    ) -> None:  # fmt: skip
        if kind is bool:
            more["is_flag"] = True
        else:
            more["type"] = click.Choice(kind) if isinstance(kind, tuple) else kind
        if isinstance(kind, click.Path):
            metavar = "DIR" if kind is FOLDER else "FILE"
        has_default = more.get("default") is not None
        super().__init__(flags.split(), help=text, metavar=metavar, show_default=has_default, **more)
        self.to, self.read, self.form = to, read, form

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The flags and the help, with the names that the type knows."""
        if self.help and "{names}" in self.help and isinstance(self.type, NameType):
            from rankscope.inference import NAMES

            known = NAMES.get(self.type.name) or [name for name, _ in self.type.offers("")]
            self.help = self.help.replace("{names}", listing(known, most=len(known), last="or"))
        return super().get_help_record(ctx)


# --- what is read ---------------------------------------------------------------------------------

QRELS = click.Argument(["qrels"], type=FILE, required=False, metavar="QRELS")
RUNS = click.Argument(["runs"], type=FILE, nargs=-1, metavar="RUN...")
ANY_RUNS = click.Argument(["runs"], type=FILE, nargs=-1, metavar="[RUN]...")
LOG = click.Argument(["log"], type=FILE, required=False, metavar="LOG")
QUIET = Option("-q --quiet", "No notes about what was read and written.", bool, to="command")
LIMITS = (
    Option("--threads", "How many threads to work on. Default: $RANKSCOPE_THREADS, or one a core.", NUMBER, "N", to="command"),
    Option("--memory", "About how much memory to take, like 2GB. Default: $RANKSCOPE_MEMORY, or a part of the run a thread.",
           str, "SIZE", to="command"),
)  # fmt: skip
SCORES = Option(
    "--scores", "The files are tables of scores (systems and queries), not judgments and runs.", bool, to="command"
)
SETTINGS = Option("--settings",
    "Settings as TOML. Default: [tool.rankscope] of the nearest pyproject.toml. The command line wins.", FILE, to="command",
)  # fmt: skip


# the option for metrics; its help says what the command takes for one
metric = partial(Option, "-m --metric metrics", kind=METRIC_NAME, metavar="METRIC", multiple=True, to="command")

ENGINE = (
    Option("--engine", "What scores: this process, or Spark, which also reads folders of files. Default: local.",
           ("local", "spark"), to="command"),
    Option("--master", "With --engine spark: where Spark runs, like local[4]. Default: as Spark is set up.", str,
           "URL", to="command"),
)  # fmt: skip

# --- what is compared, and how --------------------------------------------------------------------

BASELINE = Option("--baseline", "The run that all others are compared with. Default: the first.", str, "NAME")
ALL_PAIRS = Option("--all-pairs", "Compare every run with every other.", bool)
ALPHA = Option(
    "--alpha", "The accepted share of false differences; 0.05 also means 95% intervals.", float, default=0.05
)
CLUSTERS = Option("--clusters", "One query per line, with its user, session or topic.", FILE)
SLICES = Option("--slices", "A CSV of attributes of queries: each of their values is looked at, too.", FILE)
DETAILS = Option("--details", "A full table for each metric.", bool, to="result")
TEST = Option(
    "--test", "Of the differences: {names}; with parameters: permutation(rounds=20000). Default: t.", TEST_NAME, "TEST"
)
interval = partial(Option, "--interval", kind=INTERVAL_NAME, metavar="INTERVAL")
INTERVAL = interval("Of the differences: {names}; with parameters: bca(rounds=20000). Default: t.")


def _margin(texts: Sequence[str]) -> Any:
    """One margin for all metrics, or one for each that is named; of a log it may be a share of the baseline, as text."""
    by_metric = [text.rpartition("=") for text in texts if "=" in text]
    if by_metric and len(by_metric) < len(texts):
        raise InputError("--margin: give one number for all metrics, or METRIC=X for each")
    if by_metric:
        return {_metric_of_margin(name): _number(value) for name, _, value in by_metric}
    if len(texts) > 1:
        times = counted(len(texts), "time")
        raise InputError(f"--margin is given {times}: give one number, or METRIC=X for each metric")
    return _number(texts[0])


def _metric_of_margin(name: str) -> str:
    """A metric by its canonical spelling, of rankings or of what users did."""
    import rankscope.logs.metrics  # noqa: F401 - the catalogue
    from rankscope.logs.base import parse_online
    from rankscope.metrics import parse

    try:
        return str(parse(name))
    except InputError as error:
        with suppress(InputError):
            return str(parse_online(name))
        raise error from None


def _number(text: str) -> float | str:
    found = as_share(text)
    if found is None:
        raise InputError(f"--margin {text}: that is no number; write it like 0.01 or nDCG@10=0.01")
    number, relative = found
    return text if relative else number


def tolerances(texts: Sequence[str]) -> dict[str, str]:
    """The tolerances by metric; one that names none holds for all."""
    out: dict[str, str] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if (name or "default") in out:
            raise InputError(f"--tolerance {text}: {name or 'the general tolerance'} is given twice")
        out[name or "default"] = value
    return out


# fmt: off
COMPARISON = (
    BASELINE, ALL_PAIRS,
    Option("--primary", "The metric declared in advance: it leads the verdict.", METRIC_NAME, "METRIC"),
    TEST, INTERVAL,
    Option("--correction", "For several comparisons: {names}. Default: holm.", CORRECTION_NAME, "NAME"),
    Option("--family",
        "What is corrected together: the runs of each metric, or all runs and metrics.", ("metric", "all"), default="metric"),
    ALPHA,
    Option("--margin",
        "A difference that would not matter, like 0.01: tests whether runs are practically the same.",
        str, "[METRIC=]X", multiple=True, read=_margin),
    Option("--bayes", "Also the chances that a run is better, by the Bayesian bootstrap.", bool),
    CLUSTERS, SLICES,
    Option("--costs", "A CSV of runs and what they cost: latency, price, size.", FILE),
    Option("--limit limits", "The best run within a budget, like latency_ms=100.", str, "COLUMN=X", multiple=True),
    Option("--tried", "How many systems were tried on these judgments.", NUMBER, "N"),
    SETTINGS, SCORES,
)
# fmt: on

# --- how rankings are scored ----------------------------------------------------------------------


@dataclass(frozen=True)
class ScoringOptions:
    """The options of the declared policies, or of those in ``only``; ``helps`` say what one is for here.

    They are made when their command is called: help on all commands does not need the policies.
    """

    only: tuple[str, ...] = ()
    helps: Mapping[str, str] = field(default_factory=dict)


POLICIES = ScoringOptions()

# --- how the result is written --------------------------------------------------------------------


def output(*formats: str, more: str = "") -> tuple[Option, Option]:
    """The options of a command that prints a result in one of these formats; ``more`` says what else a file can be."""
    endings = " ".join(ending for ending, form in ENDINGS.items() if form in formats)
    return (
        Option("--format form", "How to print. Default: table, or by the ending of FILE.", formats, to="command"),
        Option("-o --output out", f"Write to FILE ({endings}{more}).", PLACE, to="command"),
    )


FORMATS = ("table", "json", "jsonl", "csv", "markdown")
OUTPUT = output(*FORMATS)

PER_QUERY = Option("--per-query", "Also the values of every query.", bool, to="result")
DISTRIBUTION = Option(
    "--distribution", "Also how the values of the queries are spread, and first relevant ranks.", bool, to="result"
)
SEVERAL = "A metric, like nDCG@10; may be repeated. Default: nDCG@10 AP RR@10 R@100 P@10. With --scores: what the scores are of."
JUDGED = (QRELS, RUNS)


LOG_COLUMNS = Option(
    "--columns",
    "What columns with unusual names are: visitor=unit_id,hit=click.",
    str,
    "NAME=ROLE",
    multiple=True,
    read=",".join,
)


# what is known of variants, where the log of an experiment stands in the place of judgments and runs
OF_VARIANTS = (
    Option("--variant", "Of a log: the column of variants, where it has an unusual name.", str, "COLUMN"),
    Option("--split", "Of a log: the planned shares, A=0.9,B=0.1. Default: even.", str, "NAME=X,..."),
    Option("--covariate covariates", "Of a log: what was known of users before, 'Mean(revenue)=revenue_before'.", str, "METRIC=COLUMN",
           multiple=True, read=list),
    Option("--strata", "Of a log: a column of users' attributes to adjust for.", str, "COLUMN"),
    Option("--winsorise", "Of a log: cut what users add at this quantile, like 0.99.", float, "Q"),
)  # fmt: skip
log_format = partial(
    Option, "--log-format", "What wrote the log: {names}. Default: told by what is in it.", LOG_FORMAT_NAME, "NAME"
)
LOG_FORMAT = log_format()


def read_numbers(option: str, texts: Sequence[str]) -> list[float]:
    """The numbers of an option that may be repeated: apart at commas, too."""
    out = []
    for part in (part.strip() for text in texts for part in text.split(",")):
        try:
            out.append(float(part))
        except ValueError:
            raise InputError(f"{option} {part}: that is no number; write it like {option} 0.5,0.6") from None
    return out


def read_parameters(texts: Sequence[str]) -> dict[str, Any]:
    """``NAME=VALUE`` of each text: a number, several in brackets, or a word."""
    from ast import literal_eval

    out: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InputError(f"--set {text}: write a parameter and its value, like --set taste=0.3")
        try:
            out[name.strip()] = literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            out[name.strip()] = value.strip()
    return out


# --- commands -----------------------------------------------------------------------------------


def _option_of(policy: Any, text: str, levels: bool) -> Option:
    """The option of a policy: its values to choose from, a number, a file or a name; where ``levels`` are of intervals, no level is of grades."""
    flag = f"--{policy.name.replace('_', '-')}"
    if policy.name == "relevance_level" and not levels:
        flag += " --level"
    read: Callable[[str], Any] | None = None
    kind: Any = {
        "queries": str, "dialect": DIALECT_NAME, "weights": FILE, "fold": FILE, "fold_by": str, "columns": str, "grades": str,
        "relevance_level": float, "ignore": str,
    }.get(policy.name)  # fmt: skip
    if policy.name == "queries":
        read = listed_queries
    elif policy.name in {"columns", "grades"}:
        read = ",".join
    elif kind is None and policy.values:
        known = {str(value): value for value in policy.values}
        kind, read = tuple(known), known.__getitem__
    elif kind is None:
        kind = (WholeNumber if policy.most == MOST else click.IntRange)(min=policy.least)
    return Option(
        flag, text, kind, policy.metavar, to="policy", read=read, default=policy.default, multiple=policy.several
    )


@dataclass(frozen=True)
class Command:
    """A command: its name, what it does in a line and in full, examples of it, and its arguments and options.

    ``verb`` is the module of the function that does the work; ``way`` is the function of ``cli.ways`` that calls it, where there is
    more to do than to call it and to write its result. ``usage`` says what has to be typed, for those who did not; with the options
    in ``alone`` no file has to be. Of a log the options in ``of_log`` name columns, where they else name files. ``bar`` tells whether the
    verb says how far it is.
    """

    name: str
    about: str
    text: str
    examples: tuple[str, ...]
    takes: tuple[click.Parameter | ScoringOptions, ...]
    verb: str = ""
    way: str = ""
    usage: str = "QRELS RUN..."
    alone: tuple[str, ...] = ()
    of_log: tuple[str, ...] = ()
    bar: bool = False

    @property
    def function(self) -> Callable[..., Any]:
        """The function that does the work; its module has its name."""
        function: Callable[..., Any] = getattr(import_module(self.verb), self.verb.rpartition(".")[2])
        return function

    @property
    def parameters(self) -> list[click.Parameter]:
        """All arguments and options."""
        out: list[click.Parameter] = []
        for one in self.takes:
            if isinstance(one, click.Parameter):
                out.append(one)
                continue
            from rankscope.scoring.policies import POLICIES

            chosen = [policy for name, policy in POLICIES.items() if not one.only or name in one.only]
            levels = any("--level" in other.opts for other in self.takes if isinstance(other, click.Parameter))
            out += [_option_of(policy, one.helps.get(policy.name, policy.help), levels) for policy in chosen]
        return out

    def build(self, call: Callable[..., None] | None = None) -> click.Command:
        """The command as click runs it; ``call`` is what it does."""
        examples = "\n".join(f"  rankscope {one}" for one in self.examples)
        text = f"{cleandoc(self.text)}\n\n\b\nExamples:\n{examples}"
        return click.Command(self.name, callback=call, params=self.parameters, help=text, short_help=self.about)
