"""Options and arguments that several commands take, each written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import click

from rankscope import words
from rankscope.cli import names
from rankscope.cli.names import NameType
from rankscope.errors import InputError

FILE = click.Path()  # to read
PLACE = click.Path()  # to write
FOLDER = click.Path()
NUMBER = click.IntRange(min=1)

Reader = Literal["verb", "policy", "result", "command"]


class Option(click.Option):
    """An option: its ``flags``, its ``help``, its ``kind`` (a type, a tuple of choices, bool for a flag), and who reads it.

    The ``verb`` takes it as a keyword of the same name, also where it is a ``policy`` of scoring; the ``result`` takes it where
    it is written; all others are for the ``command`` alone. What is not typed is left to the defaults of whoever reads it.
    ``{names}`` in the help stands for the names that the kind knows: they are looked up when the help is shown.
    """

    def __init__(
        self, flags: str, text: str, kind: Any = str, metavar: str | None = None, *, to: Reader = "verb", **more: Any
    ) -> None:
        if kind is bool:
            more["is_flag"] = True
        else:
            more["type"] = click.Choice(kind) if isinstance(kind, tuple) else kind
        if isinstance(kind, click.Path):
            metavar = "DIR" if kind is FOLDER else "FILE"
        has_default = more.get("default") is not None
        super().__init__(flags.split(), help=text, metavar=metavar, show_default=has_default, **more)
        self.to = to

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The flags and the help, with the names that the type knows."""
        if self.help and "{names}" in self.help and isinstance(self.type, NameType):
            from rankscope.inference import NAMES

            known = NAMES.get(self.type.name) or [name for name, _ in self.type.known("")]
            self.help = self.help.replace("{names}", words.listing(known, most=len(known), last="or"))
        return super().get_help_record(ctx)


Options = Callable[[], Iterable[click.Parameter]]  # a group that is made when its command is called

# --- what is read ---------------------------------------------------------------------------------

QRELS = click.Argument(["qrels"], type=FILE, required=False, metavar="QRELS")
RUNS = click.Argument(["runs"], type=FILE, nargs=-1, metavar="RUN...")
ANY_RUNS = click.Argument(["runs"], type=FILE, nargs=-1, metavar="[RUN]...")
QUIET = Option("-q --quiet", "No notes about what was read and written.", bool, to="command")
SCORES = Option(
    "--scores", "The files are tables of scores (systems and queries), not judgments and runs.", bool, to="command"
)
SETTINGS = Option(
    "--settings",
    "Settings as TOML. Default: [tool.rankscope] of the nearest pyproject.toml. The command line wins.",
    FILE,
    to="command",
)


def metric(text: str) -> Option:
    """The option for metrics, and what the command takes for one."""
    return Option("-m --metric metrics", text, names.METRIC, "METRIC", multiple=True, to="command")


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
    "--test", "Of the differences: {names}; with parameters: permutation(rounds=20000). Default: t.", names.TEST, "TEST"
)


def interval(text: str, usual: str = "t") -> Option:
    """The option for intervals: what they are of, and what holds without it."""
    text = f"{text}: {{names}}; with parameters: bca(rounds=20000). Default: {usual}."
    return Option("--interval", text, names.INTERVAL, "INTERVAL")


def _margin(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> Any:
    """One margin for all metrics, or one for each that is named."""
    by_metric = [text.rpartition("=") for text in texts if "=" in text]
    if not texts:
        return None
    if by_metric and len(by_metric) < len(texts):
        raise InputError("--margin: give one number for all metrics, or METRIC=X for each")
    if by_metric:
        from rankscope.metrics import parse

        return {str(parse(name)): _number(value) for name, _, value in by_metric}
    if len(texts) > 1:
        raise InputError(f"--margin is given {len(texts)} times: give one number, or METRIC=X for each metric")
    return _number(texts[0])


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--margin {text}: that is no number; write it like 0.01 or nDCG@10=0.01") from None


def tolerances(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> dict[str, str] | None:
    """The tolerances by metric; one that names none holds for all."""
    out: dict[str, str] = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        if (name or "default") in out:
            raise InputError(f"--tolerance {text}: {name or 'the general tolerance'} is given twice")
        out[name or "default"] = value
    return out or None


# fmt: off
COMPARISON = (
    BASELINE, ALL_PAIRS,
    Option("--primary", "The metric declared in advance: it leads the verdict.", names.METRIC, "METRIC"),
    TEST, interval("Of the differences"),
    Option("--correction", "For several comparisons: {names}. Default: holm.", names.CORRECTION, "NAME"),
    Option("--family",
        "What is corrected together: the runs of each metric, or all runs and metrics.", ("metric", "all"), default="metric"),
    ALPHA,
    Option("--margin",
        "A difference that would not matter, like 0.01: tests whether runs are practically the same.",
        str, "[METRIC=]X", multiple=True, callback=_margin),
    Option("--bayes", "Also the chances that a run is better, by the Bayesian bootstrap.", bool),
    CLUSTERS, SLICES,
    Option("--costs", "A CSV of runs and what they cost: latency, price, size.", FILE),
    Option("--limit limits", "The best run within a budget, like latency_ms=100.", str, "COLUMN=X", multiple=True),
    Option("--tried", "How many systems were tried on these judgments.", NUMBER, "N"),
    SETTINGS, SCORES,
)
# fmt: on

# --- how rankings are scored ----------------------------------------------------------------------


def policies(*only: str, **helps: str) -> Options:
    """The options of the declared policies, or of some; ``helps`` say what one is for here."""

    def build() -> list[Option]:
        from rankscope.scoring.policies import POLICIES

        return [
            _of_policy(one, helps.get(one.name, one.help)) for one in POLICIES.values() if not only or one.name in only
        ]

    return build


POLICIES = policies()


def _of_policy(policy: Any, text: str) -> Option:
    """The option of a policy: its values to choose from, a number, a file or a name."""
    flag, more = f"--{policy.name.replace('_', '-')}", {"default": policy.default}
    kind: Any = {"queries": names.QueryList(), "dialect": names.DIALECT, "weights": FILE}.get(policy.name)
    if kind is None and policy.values:
        kind = tuple(map(str, policy.values))
        more["callback"] = lambda _ctx, _param, text: policy.parse(text)
    elif kind is None:
        kind = click.IntRange(min=policy.least)
    return Option(flag, text, kind, policy.metavar, to="policy", **more)


# --- how the result is written --------------------------------------------------------------------

ENDINGS = {
    ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".txt": "table", ".trec": "trec",
}  # fmt: skip


def output(*formats: str, more: str = "") -> tuple[Option, Option]:
    """The options of a command that prints a result in one of these formats; ``more`` says what else a file can be."""
    endings = " ".join(ending for ending, form in ENDINGS.items() if form in formats)
    return (
        Option("--format form", "How to print. Default: table, or by the ending of FILE.", formats, to="command"),
        Option("-o --output out", f"Write to FILE ({endings}{more}).", PLACE, to="command"),
    )


FORMATS = ("table", "json", "jsonl", "csv", "markdown")
OUTPUT = output(*FORMATS)
