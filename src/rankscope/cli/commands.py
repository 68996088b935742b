"""Commands, and the arguments and options that they share: flags, help, type and reader of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Literal

import click

from rankscope.errors import LARGEST_INT, InputError
from rankscope.show import ENDINGS
from rankscope.words import as_share, counted, listing

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    Kind = click.ParamType[Any]
else:
    Kind = click.ParamType  # not generic before click 8.4

COMPLETION = "_RANKSCOPE_COMPLETE"  # the environment variable by which a shell asks for completions
CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)

Names = Iterable[tuple[str, str]]  # each with its meaning


@dataclass(frozen=True, eq=False, repr=False)
class NameType(Kind):
    """A name that the shell completes; the verb checks it.

    ``offers`` takes the typed text and returns names with their meanings.
    """

    name: str
    offers: Callable[[str], Names]

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that complete the typed text."""
        from click.shell_completion import CompletionItem

        start = incomplete.casefold()
        offers = self.offers(incomplete)
        return [CompletionItem(name, help=about) for name, about in offers if name.casefold().startswith(start)]


class WholeNumber(click.IntRange):
    """A whole number with a lowest value; numbers that are too large to compute with are refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the typed number."""
        number = super().convert(value, param, ctx)
        if number > LARGEST_INT:
            self.fail(f"{value} is too large, {LARGEST_INT:,} is the most", param, ctx)
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
    yield TABLE, "a table with one row per shown item, or one row per user"


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
    """Check the label of a LaTeX table. Raises InputError if it is invalid."""
    from rankscope.show.latex import check_label

    return check_label(text)


def listed_queries(text: str) -> str | list[str]:
    """Return the name of a population, or the ids listed in the file after an @."""
    if not text.startswith("@"):
        return text
    from pathlib import Path

    try:
        lines = Path(text[1:]).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        remedy = "--queries @FILE wants one query id per line"
        raise InputError(f"{text[1:]}: cannot be read: {reason}; {remedy}") from None
    ids = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    if not ids:
        raise InputError(f"{text[1:]}: lists no query; --queries @FILE wants one query id per line")
    return ids


# --- options ------------------------------------------------------------------------------------

FILE, PLACE, FOLDER = click.Path(), click.Path(), click.Path()  # to read, to write, to write into
NUMBER = WholeNumber(min=1)

Reader = Literal["verb", "policy", "result", "command"]


class Option(click.Option):
    """An option: its ``flags``, its ``help``, its ``kind`` (a type, a tuple of choices, bool for a flag), and its reader.

    The reader ``to`` is the ``verb`` (a keyword of the same name; also for a ``policy`` of scoring), the ``result`` when it is
    written, or the ``command``. Readers have their own defaults for options that are not typed; ``read`` converts a typed value.
    ``form`` is the only format that the option is for. ``{names}`` in the help is replaced by the names that the kind knows.
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
        """Return the flags and the help, with the names that the type knows."""
        if self.help and "{names}" in self.help and isinstance(self.type, NameType):
            from rankscope.inference import NAMES

            known = NAMES.get(self.type.name) or [name for name, _ in self.type.offers("")]
            self.help = self.help.replace("{names}", listing(known, most=len(known), last="or"))
        return super().get_help_record(ctx)


# --- inputs ---------------------------------------------------------------------------------

QRELS = click.Argument(["qrels"], type=FILE, required=False, metavar="QRELS")
RUNS = click.Argument(["runs"], type=FILE, nargs=-1, metavar="RUN...")
ANY_RUNS = click.Argument(["runs"], type=FILE, nargs=-1, metavar="[RUN]...")
LOG = click.Argument(["log"], type=FILE, required=False, metavar="LOG")
QUIET = Option("-q --quiet", "Print no notes about files.", bool, to="command")
LIMITS = (
    Option("--threads", "Number of threads. Default: $RANKSCOPE_THREADS, or one per core.", NUMBER, "N", to="command"),
    Option("--memory", "Approximate memory limit, like 2GB. Default: $RANKSCOPE_MEMORY, or one part of the run per thread.",
           str, "SIZE", to="command"),
)  # fmt: skip
SCORES = Option(
    "--scores", "Read the files as tables of scores (systems by queries), not judgments and runs.", bool, to="command"
)
SETTINGS = Option("--settings",
    "Settings as TOML; the command line wins. Default: [tool.rankscope] of the nearest pyproject.toml.", FILE, to="command",
)  # fmt: skip


# the option for metrics; commands differ in its help
metric = partial(Option, "-m --metric metrics", kind=METRIC_NAME, metavar="METRIC", multiple=True, to="command")

ENGINE = (
    Option("--engine", "Engine that scores: this process, or Spark, which also reads folders of files. Default: local.",
           ("local", "spark"), to="command"),
    Option("--master", "With --engine spark: the master of Spark, like local[4]. Default: Spark's own setting.", str,
           "URL", to="command"),
)  # fmt: skip

# --- comparisons --------------------------------------------------------------------

BASELINE = Option("--baseline", "Run that all others are compared with. Default: the first.", str, "NAME")
ALL_PAIRS = Option("--all-pairs", "Compare every run with every other.", bool)
ALPHA = Option("--alpha", "Accepted share of false differences; 0.05 also sets 95% intervals.", float, default=0.05)
CLUSTERS = Option("--clusters", "A file with one query per line, and its user, session or topic.", FILE)
SLICES = Option("--slices", "A CSV of query attributes: also report results per value.", FILE)
DETAILS = Option("--details", "Print a full table for each metric.", bool, to="result")
TEST = Option(
    "--test",
    "Test of the differences: {names}; with parameters: permutation(rounds=20000). Default: t.",
    TEST_NAME,
    "TEST",
)
CORRECTION = Option(
    "--correction", "Correction for several comparisons: {names}. Default: holm.", CORRECTION_NAME, "NAME"
)
interval = partial(Option, "--interval", kind=INTERVAL_NAME, metavar="INTERVAL")
INTERVAL = interval("Interval of the differences: {names}; with parameters: bca(rounds=20000). Default: t.")


def _margin(texts: Sequence[str]) -> Any:
    """Return one margin for all metrics, or one per named metric; a percentage stays text."""
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
    """Return the canonical spelling of a metric, offline or online."""
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
        raise InputError(f"--margin {text}: a margin is a number, like 0.01, 1% or nDCG@10=0.01")
    number, relative = found
    return text if relative else number


def tolerances(texts: Sequence[str]) -> dict[str, str]:
    """Return the tolerances by metric; one without a metric is the default."""
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
    Option("--primary", "Metric declared in advance: it leads the verdict.", METRIC_NAME, "METRIC"),
    TEST, INTERVAL,
    CORRECTION,
    Option("--family",
        "Comparisons to correct together: the runs of each metric, or all runs and metrics.", ("metric", "all"), default="metric"),
    ALPHA,
    Option("--margin",
        "Negligible difference, like 0.01: test if runs are practically the same.",
        str, "[METRIC=]X", multiple=True, read=_margin),
    Option("--bayes", "Report the probability that a run is better, by the Bayesian bootstrap.", bool),
    CLUSTERS, SLICES,
    Option("--costs", "A CSV of runs and their costs: latency, price, size.", FILE),
    Option("--limit limits", "Find the best run within a budget, like latency_ms=100.", str, "COLUMN=X", multiple=True),
    Option("--tried", "Number of systems that were tried on these judgments.", NUMBER, "N"),
    SETTINGS, SCORES,
)
# fmt: on

# --- scoring ----------------------------------------------------------------------


@dataclass(frozen=True)
class ScoringOptions:
    """The options of the declared policies, or only those in ``only``; ``helps`` replaces some help texts.

    They are built when their command is called: help on all commands does not need the policies.
    """

    only: tuple[str, ...] = ()
    helps: Mapping[str, str] = field(default_factory=dict)


POLICIES = ScoringOptions()

# --- output --------------------------------------------------------------------


def output(*formats: str, more: str = "") -> tuple[Option, Option]:
    """Return the options of a command that prints a result in one of these formats; ``more`` lists other endings of files."""
    endings = " ".join(ending for ending, form in ENDINGS.items() if form in formats)
    return (
        Option("--format form", "Output format. Default: table, or by the ending of FILE.", formats, to="command"),
        Option("-o --output out", f"Write to FILE ({endings}{more}).", PLACE, to="command"),
    )


FORMATS = ("table", "json", "jsonl", "csv", "markdown")
OUTPUT = output(*FORMATS)

PER_QUERY = Option("--per-query", "Show the values of every query.", bool, to="result")
DISTRIBUTION = Option(
    "--distribution", "Show the distribution of query values, and first relevant ranks.", bool, to="result"
)
SEVERAL = "A metric, like nDCG@10; may be repeated. Default: nDCG@10 AP RR@10 R@100 P@10. With --scores: the metrics of the scores."
JUDGED = (QRELS, RUNS)


LOG_COLUMNS = Option(
    "--columns",
    "Roles of columns with unusual names: visitor=unit_id,hit=click.",
    str,
    "NAME=ROLE",
    multiple=True,
    read=",".join,
)


# options of experiments by their keyword: flags, help, type and metavar; with a further item they may be repeated
# fmt: off
EXPERIMENT: dict[str, tuple[Any, ...]] = {
    "variant": ("--variant", "Column of variants, if it has an unusual name.", str, "COLUMN"),
    "split": ("--split", "Planned shares: A=0.9,B=0.1. Default: even.", str, "NAME=X,..."),
    "guardrails": ("--guardrail guardrails", "A metric that must not get worse, optionally by more than a limit: RPM=1%.", str, "METRIC[=X]", list),
    "covariates": ("--covariate covariates", "A pre-experiment covariate, which reduces variance (CUPED): 'Mean(revenue)=revenue_before'.",
        str, "METRIC=COLUMN", list),
    "strata": ("--strata", "A column of user attributes to adjust for.", str, "COLUMN"),
    "winsorise": ("--winsorise", "Cap user totals at this quantile, like 0.99.", float, "Q"),
    "prior": ("--prior", "Prior of a Bayesian summary: flat, or the usual distance of lifts from 0 as a standard deviation, like 0.05.", str, "flat|X"),
}
# fmt: on


def experiment(*names: str, only: bool = False) -> list[Option]:
    """Return these options of experiments; with ``only`` their help names the log that they are for."""
    out = []
    for flags, text, kind, metavar, *several in map(EXPERIMENT.__getitem__, names):
        read = several[0] if several else None
        text = f"For a log: {text[:1].lower()}{text[1:]}" if only else text  # noqa: PLW2901
        out.append(Option(flags, text, kind, metavar, multiple=bool(several), read=read))
    return out


log_format = partial(
    Option, "--log-format", "Log format: {names}. Default: detected from the content.", LOG_FORMAT_NAME, "NAME"
)
LOG_FORMAT = log_format()


def read_numbers(option: str, texts: Sequence[str]) -> list[float]:
    """Return the numbers of an option that may be repeated or separated by commas."""
    out = []
    for part in (part.strip() for text in texts for part in text.split(",")):
        try:
            out.append(float(part))
        except ValueError:
            raise InputError(f"{option} {part}: write numbers, like {option} 0.5,0.6") from None
    return out


def read_parameters(texts: Sequence[str]) -> dict[str, Any]:
    """Parse ``NAME=VALUE`` of each text: a number, several in brackets, or a word."""
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
    """Return the option of a policy: a choice of its values, a number, a file or a name. With ``levels``, --level is for intervals."""
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
        kind = (WholeNumber if policy.most == LARGEST_INT else click.IntRange)(min=policy.least)
    return Option(
        flag, text, kind, policy.metavar, to="policy", read=read, default=policy.default, multiple=policy.several
    )


@dataclass(frozen=True)
class Command:
    """A command: its name, its summary ``about``, its help ``text``, examples, and its arguments and options.

    ``verb`` is the module of the function that does the work. If ``cli.handlers`` has a function of the command's name, it calls
    the verb; otherwise the verb's result is written. ``usage`` is the example in errors. The options in ``alone`` need no files;
    the options in ``of_log`` name columns for a log, files otherwise. ``bar`` is true if the verb reports progress.
    """

    name: str
    about: str
    text: str
    examples: tuple[str, ...]
    takes: tuple[click.Parameter | ScoringOptions, ...]
    verb: str = ""
    usage: str = "QRELS RUN..."
    alone: tuple[str, ...] = ()
    of_log: tuple[str, ...] = ()
    bar: bool = False

    @property
    def function(self) -> Callable[..., Any]:
        """The function that does the work; its module has the same name."""
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
        """Return the click command that calls ``call``."""
        examples = "\n".join(f"  rankscope {one}" for one in self.examples)
        text = f"{cleandoc(self.text)}\n\n\b\nExamples:\n{examples}"
        return click.Command(self.name, callback=call, params=self.parameters, help=text, short_help=self.about)
