"""Arguments and options that several commands share, with the words of their help."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import click

from rankscope.cli.commands import FILE, NUMBER, PLACE, NameType, Option, WholeNumber, label, read_margin
from rankscope.show import ENDINGS

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
