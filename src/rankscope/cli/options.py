"""Options and arguments that several commands take, each written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import click

from rankscope import words
from rankscope.cli import names
from rankscope.cli.names import Name
from rankscope.errors import InputError

FILE = click.Path()  # to read
PLACE = click.Path()  # to write
FOLDER = click.Path()
NUMBER = click.IntRange(min=1)

Reader = Literal["verb", "policy", "result", "command"]


class Option(click.Option):
    """An option, and who reads it.

    The ``verb`` takes it as a keyword of the same name, also where it is a ``policy`` of scoring; the ``result`` takes it where
    it is written; all others are for the ``command`` alone. What is not typed is left to the defaults of whoever reads it.
    ``{names}`` in the help stands for the names that the type knows: they are looked up when the help is shown.
    """

    def __init__(self, *flags: str, to: Reader = "verb", **settings: Any) -> None:
        settings.setdefault("show_default", settings.get("default") is not None)
        super().__init__(flags, **settings)
        self.to = to

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The flags and the help, with the names that the type knows."""
        if self.help and "{names}" in self.help and isinstance(self.type, Name):
            known = [name for name, _ in self.type.known("")]
            self.help = self.help.replace("{names}", words.listing(known, most=len(known), last="or"))
        return super().get_help_record(ctx)


Options = Callable[[], Iterable[click.Parameter]]  # a group that is made when its command is called

# --- what is read ---------------------------------------------------------------------------------

QRELS = click.Argument(["qrels"], type=FILE, required=False, metavar="QRELS")
RUNS = click.Argument(["runs"], type=FILE, nargs=-1, metavar="RUN...")
ANY_RUNS = click.Argument(["runs"], type=FILE, nargs=-1, metavar="[RUN]...")
QUIET = Option("-q", "--quiet", is_flag=True, to="command", help="No notes about what was read and written.")
SCORES = Option(
    "--scores",
    is_flag=True,
    to="command",
    help="The files are tables of scores (systems and queries), not judgments and runs.",
)
SETTINGS = Option(
    "--settings",
    type=FILE,
    to="command",
    metavar="FILE",
    help="Settings as TOML. Default: [tool.rankscope] of the nearest pyproject.toml. The command line wins.",
)


def metric(text: str) -> Option:
    """The option for metrics, and what the command takes for one."""
    return Option("-m", "--metric", "metrics", multiple=True, type=names.METRIC, to="command", help=text)


# --- what is compared, and how --------------------------------------------------------------------

BASELINE = Option("--baseline", metavar="NAME", help="The run that all others are compared with. Default: the first.")
ALL_PAIRS = Option("--all-pairs", is_flag=True, help="Compare every run with every other.")
ALPHA = Option(
    "--alpha", type=float, default=0.05, help="The accepted share of false differences; 0.05 also means 95% intervals."
)
CLUSTERS = Option("--clusters", type=FILE, metavar="FILE", help="One query per line, with its user, session or topic.")
SLICES = Option(
    "--slices",
    type=FILE,
    metavar="FILE",
    help="A CSV of attributes of queries: each of their values is looked at, too.",
)
TEST = Option(
    "--test",
    type=names.TEST,
    metavar="TEST",
    help="Of the differences: {names}; with parameters: permutation(rounds=20000). Default: t.",
)
DETAILS = Option("--details", is_flag=True, to="result", help="A full table for each metric.")


def interval(text: str, usual: str = "t") -> Option:
    """The option for intervals: what they are of, and what holds without it."""
    text = f"{text}: {{names}}; with parameters: bca(rounds=20000). Default: {usual}."
    return Option("--interval", type=names.INTERVAL, metavar="INTERVAL", help=text)


def _margin(_ctx: click.Context, _param: click.Parameter, typed: tuple[str, ...]) -> Any:
    """One margin for all metrics, or one for each that is named."""
    by_metric = [text.rpartition("=") for text in typed if "=" in text]
    if not typed:
        return None
    if by_metric and len(by_metric) < len(typed):
        raise InputError("--margin: give one number for all metrics, or METRIC=X for each")
    if by_metric:
        from rankscope.metrics import parse

        return {str(parse(name)): _number(value) for name, _, value in by_metric}
    if len(typed) > 1:
        raise InputError(f"--margin is given {len(typed)} times: give one number, or METRIC=X for each metric")
    return _number(typed[0])


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


COMPARISON = (
    BASELINE,
    ALL_PAIRS,
    Option(
        "--primary", metavar="METRIC", type=names.METRIC, help="The metric declared in advance: it leads the verdict."
    ),
    TEST,
    interval("Of the differences"),
    Option(
        "--correction", type=names.CORRECTION, metavar="NAME", help="For several comparisons: {names}. Default: holm."
    ),
    Option(
        "--family",
        type=click.Choice(["metric", "all"]),
        default="metric",
        help="What is corrected together: the runs of each metric, or all runs and metrics.",
    ),
    ALPHA,
    Option(
        "--margin",
        multiple=True,
        metavar="[METRIC=]X",
        callback=_margin,
        help="A difference that would not matter, like 0.01: tests whether runs are practically the same.",
    ),
    Option("--bayes", is_flag=True, help="Also the chances that a run is better, by the Bayesian bootstrap."),
    CLUSTERS,
    SLICES,
    Option("--costs", type=FILE, metavar="FILE", help="A CSV of runs and what they cost: latency, price, size."),
    Option(
        "--limit",
        "limits",
        multiple=True,
        metavar="COLUMN=X",
        help="The best run within a budget, like latency_ms=100.",
    ),
    Option("--tried", type=NUMBER, metavar="N", help="How many systems were tried on these judgments."),
    SETTINGS,
    SCORES,
)

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
    settings: dict[str, Any] = {"metavar": policy.metavar, "default": policy.default}
    if policy.name == "queries":
        settings["type"] = names.Queries()
    elif policy.name == "dialect":
        settings["type"] = names.DIALECT
    elif policy.metavar == "FILE":
        settings["type"] = FILE
    elif policy.values:
        settings |= {
            "type": click.Choice([str(value) for value in policy.values]),
            "callback": lambda _ctx, _param, text: policy.parse(text),
        }
    else:
        settings["type"] = click.IntRange(min=policy.least)
    return Option(f"--{policy.name.replace('_', '-')}", to="policy", help=text, **settings)


# --- how the result is written --------------------------------------------------------------------

ENDINGS = {
    ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".txt": "table", ".trec": "trec",
}  # fmt: skip


def output(*formats: str, more: str = "") -> tuple[Option, Option]:
    """The options of a command that prints a result in one of these formats; ``more`` says what else a file can be."""
    endings = " ".join(ending for ending, form in ENDINGS.items() if form in formats)
    return (
        Option(
            "--format",
            "form",
            type=click.Choice(formats),
            to="command",
            help="How to print. Default: table, or by the ending of FILE.",
        ),
        Option(
            "-o", "--output", "out", type=PLACE, to="command", metavar="FILE", help=f"Write to FILE ({endings}{more})."
        ),
    )


FORMATS = ("table", "json", "jsonl", "csv", "markdown")
OUTPUT = output(*FORMATS)
