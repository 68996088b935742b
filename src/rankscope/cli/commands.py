"""Commands and options: flags, help, type and reader of each; arguments and options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from rankscope.errors import LARGEST_INT, InputError
from rankscope.show import ENDINGS
from rankscope.words import as_share, counted, hint, listing

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
    """A name of a kind that the shell completes. The verb checks it."""

    name: str

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that complete the typed text."""
        from click.shell_completion import CompletionItem

        start, names = incomplete.casefold(), names_of(self.name, incomplete)
        return [CompletionItem(name, help=about) for name, about in names if name.casefold().startswith(start)]


def names_of(kind: str, start: str = "") -> Names:
    """Return the names of a kind with their meanings. Their modules are loaded only if a shell or a help asks."""
    if kind in {"metric", "name"}:
        from rankscope.verbs.catalogue.catalogue import spellings

        return spellings(() if kind == "name" else CUTOFFS if "@" in start else (10,))
    if kind == "online metric":
        from rankscope.verbs.catalogue.result import online_spellings

        return online_spellings()
    if kind == "tool":
        from rankscope.dialects import DIALECTS

        return ((name, dialect.about) for name, dialect in DIALECTS.items())
    if kind == "task":
        from rankscope.verbs.advise.tasks import TASKS

        return ((task.name, task.about) for task in TASKS)
    if kind == "log format":
        from rankscope.files.logs import LOG_FORMATS, TABLE

        formats = ((one.name, one.about) for one in LOG_FORMATS.values())
        return [*formats, (TABLE, "a table with one row per shown item, or one row per user")]
    from rankscope.declared import doc_of

    if kind == "click model":
        from rankscope.click_models.models import MODELS

        return ((name, doc_of(one).partition("\n")[0]) for name, one in MODELS.items())
    if kind == "position bias estimator":
        from rankscope.click_models.bias import BiasEstimator

        return ((name, doc_of(one).partition("\n")[0]) for name, one in BiasEstimator.catalogue.items())
    if kind in {"fusion", "normalisation", "search", "diversifier", "learner"}:
        from rankscope.rankers.catalogue import KINDS

        return ((one.__name__, doc_of(one).partition("\n")[0]) for one in dict.fromkeys(KINDS[kind].catalogue.values()))
    if kind == "estimator":
        from rankscope.estimators import catalogue  # noqa: F401 - declares them
        from rankscope.estimators.base import Estimator

        return ((one.__name__, doc_of(one).partition("\n")[0]) for one in dict.fromkeys(Estimator.catalogue.values()))
    if kind in {"mixing", "credit"}:
        from rankscope.behaviour.mixing import Mixing
        from rankscope.interleavings.credits import Credit

        named = (Mixing if kind == "mixing" else Credit).catalogue
        return ((one.__name__, doc_of(one).partition("\n")[0]) for one in dict.fromkeys(named.values()))
    from rankscope.inference import names_offered
    from rankscope.inference.base import Correction, Interval, PairedTest
    from rankscope.panels.method import find_method

    base: Any = {"test": PairedTest, "interval": Interval, "correction": Correction}[kind.removesuffix(" of logs")]
    return ((name, doc_of(find_method(base, name)).partition("\n")[0]) for name in names_offered(kind))


class WholeNumber(click.IntRange):
    """A whole number with a lowest value. Numbers that are too large to compute with are refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the typed number."""
        number = super().convert(value, param, ctx)
        if number > LARGEST_INT:
            self.fail(f"{value} is too large, {LARGEST_INT:,} is the most", param, ctx)
        return number


def label(text: str) -> str:
    """Check the label of a LaTeX table. Raises InputError if it is invalid."""
    from rankscope.show.latex import check_label

    return check_label(text)


def listed_queries(text: str) -> str | list[str]:
    """Return the name of a population, or the ids listed in the file after an @."""
    if not text.startswith("@"):
        return text
    try:
        lines = Path(text[1:]).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        remedy = "--queries @FILE wants one query id per line"
        raise InputError(f"{text[1:]}: cannot be read ({reason}): {remedy}") from None
    ids = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    if not ids:
        raise InputError(f"{text[1:]}: lists no query: --queries @FILE needs one query id per line")
    return ids


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
            from rankscope.inference import NAMES, names_offered

            kind = self.type.name
            known = names_offered(kind) if kind in NAMES else [name for name, _ in names_of(kind)]
            self.help = self.help.replace("{names}", listing(known, most=len(known), last="or"))
        return super().get_help_record(ctx)


def read_margin(texts: Sequence[str]) -> Any:
    """Return one margin for all metrics, or one per named metric. A percentage stays text."""
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
    share = as_share(text)
    if share is None:
        raise InputError(f"--margin {text}: a margin must be a number, like 0.01, 1% or nDCG@10=0.01")
    number, relative = share
    return text if relative else number


def named_tables(paths: Sequence[str]) -> Any:
    """Return a file, or several by the names of ``NAME=FILE`` or of the files."""
    if len(paths) == 1 and ("=" not in paths[0] or Path(paths[0]).exists()):
        return paths[0]
    out = {}
    for path in paths:
        name, equals, file = path.partition("=")
        is_named = bool(equals) and not Path(path).exists()
        out[name if is_named else Path(path).name.partition(".")[0]] = file if is_named else path
    if len(out) < len(paths):
        raise InputError("--events: two tables have one name: give each its own, like --events clicks=a.csv")
    return out


def tolerances(texts: Sequence[str]) -> dict[str, str]:
    """Return the tolerances by metric. One without a metric is the default."""
    out: dict[str, str] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if (name or "default") in out:
            raise InputError(f"--tolerance {text}: {name or 'the general tolerance'} is given twice")
        out[name or "default"] = value
    return out


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


def read_values(texts: Sequence[str]) -> dict[str, str]:
    """Return the values of each parameter of ``NAME=VALUES``."""
    out: dict[str, str] = {}
    for text in texts:
        name, _, values = (part.strip() for part in text.partition("="))
        if not name or not values:
            raise InputError(f"--vary {text}: write a parameter and its values, like --vary k=1,10,60")
        if name in out:
            raise InputError(f"--vary {text}: {name} is given twice")
        out[name] = values
    return out


def whole_numbers(option: str) -> Callable[[str], list[int]]:
    """Return a reader of whole numbers that are separated by commas."""

    def read(text: str) -> list[int]:
        try:
            return [int(part) for part in text.split(",")]
        except ValueError:
            raise InputError(f"{option} {text}: write whole numbers, like {option} 10,50,100") from None

    return read


def scorer_named(text: str) -> Any:
    """Return the scorer of ``file.py:function``, ``module:function`` or ``cross-encoder:MODEL``. Raises InputError if there is none."""
    place, _, name = text.partition(":")
    if place == "cross-encoder" and name:
        from rankscope.rankers.scorers import CrossEncoderScorer

        return CrossEncoderScorer(name)
    path = Path(place)
    if not place or not name:
        raise InputError(f"--scorer {text}: write file.py:function, module:function or cross-encoder:MODEL")
    if path.suffix == ".py" and not path.exists():
        raise InputError(f"{place}: no such file (--scorer)")
    if path.suffix == ".py":
        sys.path.insert(0, str(path.resolve().parent))
    try:
        module = import_module(path.stem if path.suffix == ".py" else place)
    except Exception as error:  # noqa: BLE001 - the file is the user's: whatever it raises is the answer
        raise InputError(f"--scorer {text}: {place} cannot be imported: {type(error).__name__}: {error}") from None
    scorer = getattr(module, name, None)
    if not callable(scorer):
        known = [one for one in vars(module) if not one.startswith("_")]
        raise InputError(f"--scorer {text}: {place} has no function {name}{hint(name, known, otherwise='')}")
    return scorer


@dataclass(frozen=True)
class ScoringOptions:
    """The options of the declared policies, or only those in ``only``, built when their command is called. ``helps`` replaces some help texts."""

    only: tuple[str, ...] = ()
    helps: Mapping[str, str] = field(default_factory=dict)


POLICIES = ScoringOptions()


def _option_of(policy: Any, text: str, levels: bool) -> Option:
    """Return the option of a policy: a choice of its values, a number, a file or a name. With ``levels``, --level is for intervals."""
    flag = f"--{policy.name.replace('_', '-')}"
    if policy.name == "relevance_level" and not levels:
        flag += " --level"
    read: Callable[[str], Any] | None = None
    kind: Any = {
        "queries": str, "dialect": NameType("tool"), "weights": FILE, "fold": FILE, "fold_by": str, "items": FILE, "history": FILE, "lengths": FILE, "columns": str, "grades": str,
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
    the verb. Otherwise the verb's result is written. ``usage`` is the example in errors. The options in ``alone`` need no files.
    The options in ``of_log`` name columns for a log, files otherwise. ``bar`` is true if the verb reports progress.
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
        """The function that does the work. Its module has the same name."""
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


# fmt: off
METRIC_NAME, ONLINE_NAME = NameType("metric"), NameType("online metric")

QRELS = click.Argument(["qrels"], type=FILE, required=False, metavar="QRELS")
RUNS = click.Argument(["runs"], type=FILE, nargs=-1, metavar="RUN...")
LOG = click.Argument(["log"], type=FILE, required=False, metavar="LOG")
JUDGED = (QRELS, RUNS)
QUIET = Option("-q --quiet", "Print no notes about files.", bool, to="command")
LIMITS = (
    Option("--threads", "Number of threads. Default: $RANKSCOPE_THREADS, or one per core.", NUMBER, "N", to="command"),
    Option("--memory", "Approximate memory limit, like 2GB. Default: $RANKSCOPE_MEMORY, or one part of the run per thread.",
           str, "SIZE", to="command"),
)
SCORES = Option("--scores", "Read the files as tables of scores (systems by queries), not judgments and runs.", bool, to="command")
SETTINGS = Option("--settings",
    "Settings as TOML. The command line wins. Default: [tool.rankscope] of the nearest pyproject.toml.", FILE, to="command")
metric = partial(Option, "-m --metric metrics", kind=METRIC_NAME, metavar="METRIC", multiple=True, to="command")
SEVERAL = "A metric, like nDCG@10. May be repeated. Default: nDCG@10 AP RR@10 R@100 P@10. With --scores: the metrics of the scores."

BASELINE = Option("--baseline", "Run that all others are compared with. 'best' chooses the best one and corrects for all pairs. Default: the first.", str, "NAME")
ALL_PAIRS = Option("--all-pairs", "Compare every run with every other.", bool)
ALPHA = Option("--alpha", "Accepted share of false differences. 0.05 also sets 95% intervals.", float, default=0.05)
CLUSTERS = Option("--clusters", "A file with one query per line, and its user, session or topic.", FILE)
CLUSTERS_OF_EITHER = Option("--clusters", "A file with one query per line, and its user, session or topic. For a log: a column, or several with commas.", FILE)
SLICES = Option("--slices", "A CSV of query attributes: also report results per value.", FILE)
SLICES_OF_EITHER = Option("--slices", "A CSV of query attributes: also report results per value. For a log: a column, may be repeated.",
    FILE, multiple=True, read=",".join)
PREDICTED = Option("--predicted", "Judgments by a model of many queries: the judgments by people in QRELS correct them (PPI++).", FILE)
REFERENCES = Option("--references", "Also score a random, a popular and an oracle list of items (with --items or --history).", bool)
DETAILS = Option("--details", "Print a full table for each metric.", bool, to="result")
TEST = Option("--test", "Test of the differences: {names}; with parameters: permutation(rounds=20000). Default: t.", NameType("test"), "TEST")
TEST_OF_EITHER = Option("--test", f"{TEST.help} For a log, see experiment --help.", NameType("test"), "TEST")
CORRECTION = Option("--correction", "Correction for several comparisons: {names}. Default: holm.", NameType("correction"), "NAME")
interval = partial(Option, "--interval", kind=NameType("interval"), metavar="INTERVAL")
INTERVAL = interval("Interval of the differences: {names}; with parameters: bca(rounds=20000). Default: t.")
INTERVAL_OF_EITHER = interval(f"{INTERVAL.help} For a log, see experiment --help.")
BASELINES = Option("--baseline", "Run that all others are compared with (repeat for more). With 'best' the best one, corrected for all pairs. Default: the first.", str, "NAME", multiple=True,
    read=lambda names: names[0] if len(names) == 1 else list(names))
ALTERNATIVE = Option("--alternative", "Test one side: better or worse by the direction of a metric, greater or less by its value. Guardrails stay two-sided.",
    ("two-sided", "better", "worse", "greater", "less"), default="two-sided")
METHOD_OF_LOGS = (
    Option("--test", "Test of the differences: {names}; with parameters: permutation(rounds=20000). Default: t.", NameType("test of logs"), "TEST"),
    Option("--interval", "Interval of the differences: {names}. Default: t.", NameType("interval of logs"), "INTERVAL"),
    Option("--correction", "Correction for several comparisons: {names}. Default: holm.", NameType("correction of logs"), "NAME"),
)
COMPARISON = (
    BASELINES, ALL_PAIRS,
    Option("--primary", "Metric declared in advance: it leads the verdict.", METRIC_NAME, "METRIC"),
    TEST, INTERVAL, CORRECTION,
    Option("--family",
        "Comparisons to correct together: the runs of each metric, or all runs and metrics.", ("metric", "all"), default="metric"),
    ALPHA,
    Option("--margin", "Negligible difference, like 0.01: test if runs are practically the same.",
        str, "[METRIC=]X", multiple=True, read=read_margin),
    Option("--bayes", "Report the probability that a run is better, by the Bayesian bootstrap.", bool),
    CLUSTERS, SLICES,
    Option("--costs", "A CSV of runs and their costs: latency, price, size.", FILE),
    Option("--limit limits", "Find the best run within a budget, like latency_ms=100.", str, "COLUMN=X", multiple=True),
    Option("--tried", "Number of systems that were tried on these judgments.", NUMBER, "N"),
    SETTINGS, SCORES,
)

LOG_COLUMNS = Option("--columns", "Roles of columns with unusual names: visitor=unit_id,hit=click.", str, "NAME=ROLE",
    multiple=True, read=",".join)
log_format = partial(Option, "--log-format", "Log format: {names}. Default: detected from the content.", NameType("log format"), "NAME")
time_format = partial(Option, "--time-format", "Form of written times, like %d/%m/%Y or '%d.%m.%Y %H:%M'. Default: ISO 8601, or seconds since 1970.", str, "FORM")
TIMES = (
    time_format(),
    Option("--time-zone", "Time zone of days, like Europe/Berlin. Default: UTC.", str, "ZONE"),
    Option("--from start", "First day to use, like 2024-05-01.", str, "DATE"),
    Option("--to end", "Last day to use, like 2024-05-14, included.", str, "DATE"),
)
DEPTH = Option("--depth", "Leave out positions below N.", NUMBER, "N")
# options of experiments by their keyword: flags, help, type and metavar; with a further item they may be repeated
EXPERIMENT: dict[str, tuple[Any, ...]] = {
    "variant": ("--variant", "Column of variants, if it has an unusual name.", str, "COLUMN"),
    "plan": ("--plan", "A file (TOML or JSON) with options of an experiment, written before it. With looks, each run on more users is a look, counted in FILE.looks.json.", FILE, None),
    "split": ("--split", "Planned shares: A=0.9,B=0.1. Default: even.", str, "NAME=X,..."),
    "guardrails": ("--guardrail guardrails", "A metric that must not get worse, optionally by more than a limit: RPM=1%.", str, "METRIC[=X]", list),
    "covariates": ("--covariate covariates", "A pre-experiment covariate, which reduces variance (CUPED): 'Mean(revenue)=revenue_before'. Default: the same metric before the assignment, if known ('none' leaves it out).",
        str, "METRIC=COLUMN", list),
    "strata": ("--strata", "A column of user attributes to adjust for.", str, "COLUMN"),
    "winsorise": ("--winsorise", "Cap user totals at this quantile, like 0.99.", float, "Q"),
    "clusters": ("--clusters", "A column of groups that were given variants, like household. May be repeated: city and hour.", str, "COLUMN", list),
    "prior": ("--prior", "Prior of a Bayesian summary: flat, a standard deviation of usual lifts, like 0.05, or a file of past experiments to learn it from.", str, "flat|X|FILE"),
}


# options of estimates by their keyword, in the same form
ESTIMATE: dict[str, tuple[Any, ...]] = {
    "target": ("--target", "Policy to evaluate: uniform, a column of the log, a run, or a policy and a run, like 'PlackettLuce(temperature=0.5) new.run'; may be repeated. NAME= names it.",
        str, "[NAME=]TARGET", list),
    "reward": ("--reward", "Column to average. Default: reward, click, conversion or revenue.", str, "COLUMN"),
    "logging": ("--logging", "Policy that ran, if the log lacks its probabilities: a policy and a run, frequencies, or classifier.", str, "POLICY"),
    "model": ("--model", "Reward model of DM and DR: ItemMeans, Logistic or Boosting. Default: ItemMeans.", str, "MODEL"),
    "examination": ("--examination", "Probability that each position is examined: 1,0.6,0.4, or a file of position-bias.", str, "CURVE"),
    "force": ("--force", "Print estimates that the log cannot support.", bool, None),
}


def experiment(*names: str, only: bool = False) -> list[Option]:
    """Return these options of experiments; with ``only`` their help names the log that they are for."""
    return _options(EXPERIMENT, names, "For a log" if only else "")


def estimate(*, only: bool = False) -> list[Option]:
    """Return the options of estimates; with ``only`` their help names what they are for."""
    first, *others = ESTIMATE
    return _options(ESTIMATE, [first], "For a log" if only else "") + _options(ESTIMATE, others, "With --target" if only else "")


def _options(table: dict[str, tuple[Any, ...]], names: Iterable[str], about: str) -> list[Option]:
    out = []
    for flags, text, kind, metavar, *several in map(table.__getitem__, names):
        help_ = f"{about}: {text[:1].lower()}{text[1:]}" if about else text
        out.append(Option(flags, help_, kind, metavar, multiple=bool(several), read=several[0] if several else None))
    return out


LEDGER = "SQLite file or PostgreSQL address (postgresql+psycopg://...) of the ledger"
RECORD = (  # for every command that compares systems: Call.show records its result
    Option("--record", f"Write the differences with their errors to this ledger: {LEDGER}.", str, "LEDGER", to="command"),
    Option("--launch", "With --record: name of the launch. Default: the candidate.", str, "NAME", to="command"),
)

def output(*formats: str, more: str = "") -> tuple[Option, Option]:
    """Return the options of a command that prints a result in ``formats``; ``more`` lists other file endings."""
    endings = " ".join(ending for ending, form in ENDINGS.items() if form in formats)
    return (
        Option("--format form", "Output format. Default: table, or by the ending of FILE.", formats, to="command"),
        Option("-o --output out", f"Write to FILE ({endings}{more}).", PLACE, to="command"),
    )


FORMATS = ("table", "json", "jsonl", "csv", "markdown")
OUTPUT = output(*FORMATS)
RUN_FILE = "TREC lines, or .csv .tsv .jsonl .json .parquet by its ending, also with .gz."
# commands that make a ranking write it to -o, and print their result
PRINTED = Option("--format form", "Format of the printed result. Default: table.", FORMATS, to="command")
NAME_OF_RUN = Option("--name", "Name of the new run. Default: of the run and the method.", str, "NAME")
RANKING = Option("-o --output ranking", f"Write the run to FILE: {RUN_FILE}", PLACE, to="command")
PER_QUERY = Option("--per-query", "Show the values of every query.", bool, to="result")
METHODS = Option("--methods", "Print the statement of method for a paper, with its sources as BibTeX.", bool, to="command")
DISTRIBUTION = Option("--distribution", "Show the distribution of query values, and first relevant ranks.", bool, to="result")

PAPER = (
    Option("--caption", "With --format latex: the table's caption.", str, "TEXT", to="result", form="latex"),
    Option("--label", "With --format latex: the table's \\label. Default: tab:systems.", str, "NAME", to="result", form="latex", read=label),
    Option("--digits", "With --format latex: digits after the decimal point. Default: 3 (evaluate: 4).", WholeNumber(min=1, max=9), "N", to="result", form="latex"),
)
