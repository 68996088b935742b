"""The table of commands: the arguments, options and help of each, and the module of its verb."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from rankscope.cli.commands import (
    FILE,
    FOLDER,
    NUMBER,
    PLACE,
    POLICIES,
    Command,
    NameType,
    Option,
    ScoringOptions,
    WholeNumber,
    label,
    read_margin,
    read_numbers,
    read_parameters,
    tolerances,
)
from rankscope.show import ENDINGS

# fmt: off
METRIC_NAME, ONLINE_NAME = NameType("metric"), NameType("online metric")

# --- inputs

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
    "Settings as TOML; the command line wins. Default: [tool.rankscope] of the nearest pyproject.toml.", FILE, to="command")
metric = partial(Option, "-m --metric metrics", kind=METRIC_NAME, metavar="METRIC", multiple=True, to="command")
SEVERAL = "A metric, like nDCG@10; may be repeated. Default: nDCG@10 AP RR@10 R@100 P@10. With --scores: the metrics of the scores."

# --- comparisons

BASELINE = Option("--baseline", "Run that all others are compared with. Default: the first.", str, "NAME")
ALL_PAIRS = Option("--all-pairs", "Compare every run with every other.", bool)
ALPHA = Option("--alpha", "Accepted share of false differences; 0.05 also sets 95% intervals.", float, default=0.05)
CLUSTERS = Option("--clusters", "A file with one query per line, and its user, session or topic.", FILE)
SLICES = Option("--slices", "A CSV of query attributes: also report results per value.", FILE)
DETAILS = Option("--details", "Print a full table for each metric.", bool, to="result")
TEST = Option("--test", "Test of the differences: {names}; with parameters: permutation(rounds=20000). Default: t.", NameType("test"), "TEST")
CORRECTION = Option("--correction", "Correction for several comparisons: {names}. Default: holm.", NameType("correction"), "NAME")
interval = partial(Option, "--interval", kind=NameType("interval"), metavar="INTERVAL")
INTERVAL = interval("Interval of the differences: {names}; with parameters: bca(rounds=20000). Default: t.")
COMPARISON = (
    BASELINE, ALL_PAIRS,
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

# --- logs

LOG_COLUMNS = Option("--columns", "Roles of columns with unusual names: visitor=unit_id,hit=click.", str, "NAME=ROLE",
    multiple=True, read=",".join)
log_format = partial(Option, "--log-format", "Log format: {names}. Default: detected from the content.", NameType("log format"), "NAME")
# options of experiments by their keyword: flags, help, type and metavar; with a further item they may be repeated
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


def experiment(*names: str, only: bool = False) -> list[Option]:
    """Return these options of experiments; with ``only`` their help names the log that they are for."""
    out = []
    for flags, text, kind, metavar, *several in map(EXPERIMENT.__getitem__, names):
        about = f"For a log: {text[:1].lower()}{text[1:]}" if only else text
        out.append(Option(flags, about, kind, metavar, multiple=bool(several), read=several[0] if several else None))
    return out


# --- output

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
DISTRIBUTION = Option("--distribution", "Show the distribution of query values, and first relevant ranks.", bool, to="result")

# --- commands

COMMANDS = (
    Command("evaluate", "Score rankings against judgments.",
        """Score one or more RUNs against the judgments in QRELS.

        Files may be TREC, CSV, TSV, JSON, JSON lines or Parquet, also compressed; - is standard input. Name a
        RUN with NAME=FILE: bm25=path/to/file.""",
        (
            "evaluate qrels.txt bm25.run dense.run.gz",
            'evaluate qrels.txt new=out.run -m "nDCG@5,10 RR" --per-query',
            "evaluate qrels.txt my.run -m official --format trec",
            "evaluate qrels.txt *.run --per-query -o scores.csv",
            "evaluate qrels.txt my.run --ties expected --no-relevant skip",
            "evaluate qrels.txt my.run -m nDCG@10 --dialect lightgbm",
            "evaluate qrels.txt my.run --interval bca --distribution",
            "evaluate qrels.txt my.run --slices queries.csv",
            "evaluate qrels.txt big.parquet --partition 3/8 -o part3.parquet",
            "evaluate qrels.parquet run/ --engine spark --master 'local[4]'",
        ),
        (
            *JUDGED,
            metric("A metric, like nDCG@10; may be repeated, or several in quotes. Default: nDCG@10 AP RR@10 R@100 P@10 Judged@10."),
            QUIET,
            PER_QUERY, DISTRIBUTION,
            interval("Interval of each mean: {names}; with parameters: bca(rounds=20000). Default: t; wilson for 0/1 scores."),
            Option("--level", "Confidence level, between 0.5 and 1; a value from 1 to 10 sets --relevance-level.", float, default=0.95),
            CLUSTERS, SLICES,
            Option("--engine", "Engine that scores: this process, or Spark, which also reads folders of files. Default: local.",
                ("local", "spark"), to="command"),
            Option("--master", "With --engine spark: the master of Spark, like local[4]. Default: Spark's own setting.", str, "URL", to="command"),
            POLICIES, SETTINGS, *LIMITS,
            Option("--partition",
                "Evaluate only part I of N and write it to -o part.parquet; rankscope merge combines all parts.",
                str, "I/N"),
            Option("--resume", "Save progress on large files in DIR and resume from it after an interruption.", FOLDER),
            *output(*FORMATS, "latex", "trec", more="; .parquet with --partition"),
        ),
        verb="rankscope.verbs.evaluate.evaluate", bar=True),
    Command("compare", "Find the better run, and test whether the difference is real.",
        """Compare RUNs, judged by QRELS, with the first RUN or with --baseline.

        Several runs with one name (a=1.run a=2.run) are repeated runs of one system: their scores are averaged per query.
        With --scores, files contain scores computed elsewhere.""",
        (
            "compare qrels.txt bm25.run dense.run hybrid.run -m nDCG@10",
            "compare qrels.txt *.run --baseline bm25 --primary nDCG@10",
            "compare qrels.txt *.run --all-pairs --correction max_t",
            "compare qrels.txt old.run new.run --margin 0.01",
            "compare qrels.txt old.run new.run --slices queries.csv",
            "compare --scores scores.csv -m AP",
            "compare qrels.txt *.run --format latex -o table.tex",
        ),
        (
            *JUDGED, metric(SEVERAL), QUIET, *COMPARISON, DETAILS, POLICIES, *LIMITS, *output(*FORMATS, "latex"),
            Option("--caption", "With --format latex: the table's caption.", str, "TEXT", to="result", form="latex"),
            Option("--label", "With --format latex: the table's \\label. Default: tab:systems.", str, "NAME", to="result", form="latex",
                read=label),
            Option("--digits", "With --format latex: digits after the decimal point. Default: 3.", WholeNumber(min=1, max=9), "N", to="result",
                form="latex"),
        ),
        verb="rankscope.verbs.compare.compare", usage="QRELS RUN RUN...", bar=True),
    Command("report", "Write one HTML report: verdict, charts and every query.",
        """Write one HTML page about RUNs judged by QRELS. It needs no network.

        The answer comes first, with the scoreboard and one caveat; then every query with its rankings side by side; the evidence is
        folded below. Runs are compared with the first RUN (or --baseline); from four RUNs on, with the best. One RUN also makes
        a page. A single file may be a user log.

        With --log the page shows whether judgments and users agree. Name runs after their variants
        (control=old.run treatment=new.run); with two of each, the first run is the baseline.""",
        (
            "report qrels.txt bm25.run dense.run -o report.html",
            "report qrels.txt my.run",
            "report qrels.txt *.run --queries-text topics.xml --docs-text docs.jsonl",
            "report qrels.txt old.run new.run --export figures",
            "report --scores scores.csv -m AP",
            "report log.parquet -m CTR --slices country --margin 1%",
            "report qrels.txt control=old.run treatment=new.run --log log.parquet --online CTR",
        ),
        (
            *JUDGED, metric(SEVERAL), QUIET,
            Option("--log", "Log of an experiment on the same change (CSV, JSON lines, Parquet): do judgments and users agree?", FILE),
            Option("--online", "With --log: an online metric, like CTR. The first decides.", ONLINE_NAME, "METRIC", multiple=True, read=list),
            *experiment("split", "guardrails", "covariates", "prior", only=True),
            Option("--queries-text", "Query texts: TSV, CSV, JSONL (BEIR) or TREC topics.", FILE),
            Option("--docs-text", "Document texts: TSV, CSV, JSONL (BEIR) or TREC documents.", FILE),
            Option("--title", "Title of the page. Default: the runs.", str, "TEXT"),
            Option("--about", "Text below the title: what to know about the data.", str, "TEXT"),
            Option("--shown", "Documents to show per ranking. Default: as many as fit, up to 20.", NUMBER, "N"),
            Option("--notes", "Notes and grades saved from an earlier page (JSON).", FILE),
            log_format(to="command"),
            Option("--export", "Write every table (CSV, JSON) and figure (SVG, PNG, PDF; with and without title) into DIR.", FOLDER, to="command"),
            *COMPARISON, POLICIES, *LIMITS,
            Option("-o --output out",
                "Write the page to FILE, one HTML file; - is standard output.", PLACE, to="command", default="report.html"),
        ),
        verb="rankscope.reporting.report", of_log=("slices",), bar=True),
    Command("explain", "Explain the score of a ranking, or the difference of two.",
        """Explain the score of one query, rank by rank; with two RUNs, the difference between them.

        Without --query: for one RUN (or several) the losses over all queries and their causes; for two the ranks that cause the
        difference (add --query to see documents).""",
        (
            "explain qrels.txt my.run --query 7 -m nDCG@10",
            "explain qrels.txt old.run new.run --query 7 -m AP",
            "explain qrels.txt my.run --query 7 --docs-text docs.jsonl",
            "explain qrels.txt old.run new.run",
            "explain qrels.txt my.run",
        ),
        (
            *JUDGED, metric("A metric, like nDCG@10 (the default)."), QUIET,
            Option("--query", "Id of the query to explain.", str, "ID"),
            Option("--docs-text", "With --query: document texts to show below; TSV, CSV, JSONL (BEIR) or TREC documents.", FILE),
            POLICIES, SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.explain.explain", usage="QRELS RUN [RUN] --query ID"),
    Command("check", "Find data problems that make numbers wrong.",
        """Find data problems that make numbers wrong, unfair or misleading: a linter for evaluations and logs.

        A single file is checked as a LOG of impressions. Every rule has a code. The exit code is 1 if there is a warning, otherwise 0.""",
        ("check qrels.txt my.run", "check qrels.txt a.run b.run -m nDCG@10 --ignore RS102", "check log.parquet", "check --explain RS101"),
        (
            *JUDGED, metric("A metric, like nDCG@10; may be repeated."), QUIET,
            Option("--select", "Apply only these rules: RS101, or RS1 for a family.", str, "CODES", multiple=True),
            Option("--exit-zero", "Exit with 0 even if there are warnings.", bool, to="command"),
            Option("--explain", "Explain a rule: the problem, why it matters and what to do.", str, "CODE", to="command"),
            Option("--list list", "List all rules.", bool, to="command"),
            Option("--scale", "Intended scale of the grades, like 0-3.", str, "LOW-HIGH"),
            Option("--train", "Training interactions of the recommender.", FILE),
            Option("--docs-text", "Document texts: JSONL, TSV, CSV, Parquet or TREC documents.", FILE),
            Option("--covariate covariates", "For a log: a column measured before the experiment began.", str, "COLUMN", multiple=True),
            log_format(to="command"),
            ScoringOptions(helps={"ignore": "Skip these rules: RS101, or RS1 for a family; may be repeated."}), SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.check.check", alone=("explain", "list")),
    Command("gate", "Pass or fail a change, for continuous integration.",
        """Decide if CANDIDATE may replace BASELINE: exit code 0 pass, 1 fail, 4 cannot tell.

        Every metric is a check, on all queries and on every slice. It passes if the 95% interval of its difference is above minus
        the tolerance, or if nothing changed. It fails if a loss is proved (Holm-corrected for all checks). If fewer than 6 queries
        differ, only the losses must stay within the tolerance, without a guaranteed error rate. BASELINE is a run, or a JSON
        written by rankscope evaluate QRELS RUN --per-query -o baseline.json.

        The LOG of an experiment can replace QRELS: then every variant is gated against the baseline, or only the variants named
        as BASELINE and CANDIDATE. The exit code is 3 if users were not split as planned.""",
        (
            "gate qrels.txt main.run branch.run -m nDCG@10 --tolerance 0.01",
            'gate qrels.txt main.run branch.run -m "nDCG@10 R@100" --tolerance 2%',
            "gate qrels.txt baseline.json branch.run --junit gate.xml",
            "gate qrels.txt main.run branch.run --slices queries.csv --github-summary",
            "gate log.parquet -m CTR -m RPM --tolerance 1% --tolerance RPM=2%",
            "gate log.parquet control treatment --slices country --split control=0.9,treatment=0.1",
        ),
        (
            QRELS,
            click.Argument(["baseline"], type=FILE, required=False, metavar="BASELINE"),
            click.Argument(["candidate"], type=FILE, required=False, metavar="CANDIDATE"),
            metric("A metric that must pass, like nDCG@10 (the default); for a log CTR; may be repeated, or several in quotes."),
            QUIET,
            Option("--tolerance",
                "Accepted loss: a number or a percentage of the baseline's mean, for all metrics or for one; may be repeated. "
                "0 requires a proved improvement if six or more queries changed. Default: 0.01 for metrics from 0 to 1; for a log 1%.", str, "0.01|2%|METRIC=0.02", multiple=True, read=tolerances),
            Option("--fail-on",
                "Fail on a proven loss that may exceed the tolerance, or only on a loss proven to exceed it.", ("loss", "tolerance"), default="loss"),
            ALPHA,
            Option("--slices", "A CSV of query attributes: also gate every value. For a log: its columns, like country,device.", FILE),
            CLUSTERS, INTERVAL, TEST, *experiment("variant", "split", "covariates", "strata", "winsorise", only=True), log_format(), POLICIES, *LIMITS, SETTINGS,
            Option("--junit", "Write JUnit XML to FILE.", PLACE, to="command"),
            Option("--github-summary", "Append Markdown to the job's summary ($GITHUB_STEP_SUMMARY).", bool, to="command"),
            *OUTPUT,
        ),
        verb="rankscope.verbs.gate.gate", usage="QRELS BASELINE CANDIDATE", of_log=("slices",), bar=True),
    Command("online", "Compute clicks, conversions and returns of users from a log.",
        """Compute online metrics from a LOG with one row per shown item, or one row per user.

        Files may be CSV, TSV, JSON lines or Parquet, also compressed, or a folder of them. Intervals stay valid when users return,
        if the log names them. Columns are found by usual names: item, position, clicked, user, time ...""",
        (
            "online log.parquet",
            "online log.csv -m CTR -m SatisfiedClicks --by day --by position",
            "online log.parquet -m Retention@7 --columns visitor=unit_id",
            "online log.csv -m CTR --slices country --slices device",
            'online users.csv -m "Ratio(orders, sessions)"',
        ),
        (
            LOG,
            Option("-m --metric metrics", "An online metric, like CTR; may be repeated. Default: every metric that the columns allow.",
                   ONLINE_NAME, "METRIC", multiple=True, to="command"),
            QUIET, LOG_COLUMNS, log_format(),
            Option("--by", "Split the numbers by day or by position.", ("day", "position"), multiple=True),
            Option("--slices", "A column of the log: also report its values; may be repeated.", str, "COLUMN", multiple=True),
            Option("--level", "Confidence level, between 0.5 and 1.", float, default=0.95),
            Option("--ignore", "Skip these warnings: RS611, or RS6 for a family; may be repeated.", str, "CODES", multiple=True, read=list),
            *OUTPUT,
        ),
        verb="rankscope.verbs.online.online", usage="LOG"),
    Command("power", "Plan: what your queries can detect, and how many you need.",
        """Compute the difference that your queries can detect, and the number of queries that other differences need.

        With RUNs judged by QRELS, results hold for similar queries. Without runs, plan from the standard deviation of
        the differences, or by a design for a test collection. With a LOG, plan the users and days of an experiment.""",
        (
            "power qrels.txt bm25.run dense.run -m nDCG@10",
            "power qrels.txt *.run --all-pairs --difference 0.03",
            "power qrels.txt old.run new.run -n 500 --comparisons 10",
            "power --scores scores.csv -m AP",
            "power --deviation 0.2 --difference 0.02",
            "power --design anova --systems 10 --variance 0.05 --difference 0.1",
            "power log.parquet -m CTR --lift 2%",
        ),
        (
            *JUDGED, metric(SEVERAL), QUIET,
            Option("--lift", "For a log: a relative difference to detect, like 2%; may be repeated.", str, "X", multiple=True, read=list),
            *experiment("covariates", only=True),
            log_format(to="command"),
            Option("--share", "For a log: share of users in the new variant. Default: 0.5.", float, "X"),
            Option("--difference",
                "A difference to detect, like 0.02; may be repeated. Default: 0.01, 0.02, 0.05 and the observed one.", float, "X", multiple=True),
            Option("--power", "Probability of detecting a real difference.", float, default=0.8),
            ALPHA,
            Option("--comparisons", "Number of planned comparisons: each gets alpha / M.", NUMBER, "M", default=1),
            Option("-n", "Number of queries to plan for. Default: those of the files.", WholeNumber(min=2), "N"),
            BASELINE, ALL_PAIRS, CLUSTERS, SCORES,
            Option("--deviation", "Without runs: standard deviation of the differences, from an earlier study.", float, "S"),
            Option("--design",
                "Without runs: plan the topics of a collection for a --difference (t test, analysis of variance) or a --width.", ("t", "anova", "interval")),
            Option("--variance", "With --design: variance of differences (t, interval) or within systems (anova).", float, "V"),
            Option("--systems", "With --design anova: number of systems to compare.", WholeNumber(), "M"),
            Option("--width", "With --design interval: width from end to end.", float, "W", multiple=True),
            DETAILS, POLICIES, SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.power.power", usage="QRELS RUN RUN...", alone=("deviation", "design", "variance", "width"), bar=True),
    Command("unjudged", "Measure how much depends on unjudged documents.",
        """Measure how much depends on unjudged documents: the bounds of each value and difference, the number of relevant ones that
        would reverse a verdict, and the documents to judge next.""",
        (
            "unjudged qrels.txt my.run -m nDCG@10",
            "unjudged qrels.txt old.run new.run -m nDCG@10 -m P@5",
            "unjudged qrels.txt old.run new.run --worklist judge.csv -n 200",
        ),
        (
            *JUDGED,
            metric("A metric, like nDCG@10 (the default); may be repeated. The worklist is made for the first."),
            QUIET, BASELINE,
            Option("--grade", "Best grade a document can get. Default: the highest of the qrels.", float, "X"),
            Option("-n", "Number of documents to judge.", WholeNumber(min=0), "N", default=50),
            Option("--worklist",
                "Write the documents to judge to FILE, as CSV: query, document, ranks and effect.", PLACE, to="command"),
            POLICIES, SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.unjudged.unjudged"),
    Command("experiment", "Find the better variant of an experiment for users.",
        """Analyse an experiment from a LOG with one row per shown item, or one row per user.

        Rows are aggregated per user, then variants are compared. If users were not split as planned, the verdict is withheld
        (exit code 3).""",
        (
            "experiment log.parquet --primary CTR",
            'experiment users.csv --variant variant --primary "Ratio(orders, sessions)" -m "Mean(revenue)"',
            'experiment users.csv -m "Mean(revenue)" --covariate "Mean(revenue)=revenue_before"',
            "experiment log.parquet --primary CTR --guardrail RPM=1% --slices country",
            "experiment log.parquet --primary CTR --margin 1% --by day",
        ),
        (
            LOG,
            metric("A further metric, like CTR or 'Mean(revenue)'; may be repeated.", kind=ONLINE_NAME),
            Option("--primary", "Metric that decides. Default: the first.", str, "METRIC"),
            *experiment("guardrails"),
            Option("--margin", "Negligible difference, 0.01 or 1% of the baseline: test if variants are practically the same; may be repeated.",
                str, "[METRIC=]X", multiple=True, read=list),
            *experiment("variant"),
            Option("--baseline", "Variant that the others are compared with. Default: control, A or the first.", str, "NAME"),
            *experiment("covariates", "strata", "split", "winsorise"),
            Option("--by", "Report the difference of each day, and its trend.", ("day",)),
            Option("--slices", "A column of attributes: also compare variants within each value; may be repeated.", str, "COLUMN", multiple=True, read=list),
            TEST, INTERVAL,
            CORRECTION, ALPHA, *experiment("prior"),
            LOG_COLUMNS, log_format(), SETTINGS, QUIET, *OUTPUT,
        ),
        verb="rankscope.verbs.experiment.experiment", usage="LOG"),
    Command("simulate", "Simulate a log or an experiment with known truth.",
        """Simulate a log of impressions, or an experiment: to try commands, to plan, to test.

        Users visit, query, browse, click, buy, return and churn. KIND is log (lists by one or several policies, with exact
        probabilities) or experiment (variants with a known true effect). One seed gives one log.""",
        (
            "simulate log -o log.parquet",
            "simulate experiment -o log.parquet",
            "simulate experiment --quality 0.5,0.5 --users 20000 --seed 7 -o same.parquet",
            "simulate experiment --set before=28 --units users.csv",
            'simulate log --policy Fixed --policy "PlackettLuce(temperature=1)" -o log.parquet',
            "simulate log --interleave --quality 0.5,0.6 -o mixed.csv",
            "simulate experiment --qrels qrels.txt --run old.run --run new.run -o log.parquet",
        ),
        (
            click.Argument(["kind"], type=click.Choice(["log", "experiment"]), metavar="log|experiment"),
            Option("--users", "Number of users. Default: 5000.", NUMBER, "N"),
            Option("--days", "Number of days. Default: 14.", NUMBER, "N"),
            Option("--items", "Items per list. Default: 20.", NUMBER, "N"),
            Option("--seed", "Seed of all random numbers.", WholeNumber(min=0), "N", default=0),
            Option("--quality", "Ranker quality, 0 (random) to 1 (ideal). Default: 0.6; for an experiment 0.5,0.6.",
                str, "X,...", multiple=True, read=partial(read_numbers, "--quality")),
            Option("--policy", "Policy that makes the lists: Fixed, PlackettLuce(temperature=0.3), EpsilonShuffle(epsilon=0.1), TopShuffle(top=5).",
                str, "POLICY", multiple=True, read=list),
            Option("--browsing", "Browsing model of users: PositionBased(decay=0.85) or Cascade(decay=0.77, stop=0.1). Default: PositionBased.", str, "BROWSING"),
            Option("--qrels", "Judgments that determine attraction.", FILE, to="command"),
            Option("--run runs", "With --qrels: a ranking to show; may be repeated.", FILE, multiple=True, to="command"),
            Option("--interleave", "For a log: mix the items of two rankers in each list (team draft).", bool),
            Option("--split", "For an experiment: share of users per variant. Default: even.", str, "X,...",
                multiple=True, read=partial(read_numbers, "--split")),
            Option("--truth", "For an experiment: extra simulated users per variant that establish the truth. Default: 20000.",
                WholeNumber(min=0), "N"),
            Option("-m --metric metrics", "For an experiment: a metric to compute the true effect of; may be repeated.", str, "METRIC", multiple=True, read=list),
            Option("--set parameters", "Set another parameter of the world, like taste=0.3 or attraction=(0.1,0.5).", str, "NAME=VALUE",
                multiple=True, to="command", read=read_parameters),
            QUIET,
            Option("--format form", "Format of the summary. Default: table.", FORMATS, to="command"),
            Option("-o --output place", "Write the log to FILE (.parquet .csv .tsv .jsonl; also .gz).", PLACE, to="command"),
            Option("--units", "Write the users to FILE: one row per user, with pre-experiment numbers.", PLACE, to="command"),
        ),
        verb="rankscope.verbs.simulate.simulate", usage="log|experiment"),
    Command("pool", "Test if judgments favour pooled runs.",
        """Test if judgments favour the runs of the pool: each run is scored without the judgments of the documents
        that no other run retrieved. Also measure how similarly metrics order the systems (Kendall's tau).""",
        ("pool qrels.txt *.run", 'pool qrels.txt a.run b.run c.run -m "nDCG@10 AP" --pool-depth 50'),
        (
            *JUDGED, metric("A metric, like nDCG@10; may be repeated."), QUIET,
            Option("--pool-depth", "Pooled documents per ranking.", NUMBER, "N", default=100),
            POLICIES, SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.pool.pool", usage="QRELS RUN RUN..."),
    Command("ties", "Measure how much ties matter.",
        """Measure how much ties (equal scores) matter: the tied share of the top k, and how far each metric could move.""",
        ("ties qrels.txt my.run", 'ties qrels.txt a.run b.run -m nDCG@10 -m "RR AP"'),
        (
            *JUDGED, metric("A metric, like nDCG@10; may be repeated."), QUIET, ScoringOptions(("queries", "depth", "columns", "grades", "seed")), SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.ties.ties"),
    Command("reconcile", "Compute the numbers of other tools, and explain them.",
        """Compute the numbers that other tools print for a metric on these data, with the one reason for each difference.

        With --value, search for the conventions that give the number. With two runs, check if the
        convention changes which is best.""",
        (
            "reconcile qrels.txt my.run -m nDCG@10",
            "reconcile qrels.txt my.run -m nDCG@10 --value 0.71",
            "reconcile qrels.txt a.run b.run -m MAP@10",
        ),
        (
            *JUDGED,
            metric("A metric, like nDCG@10 (the default); may be repeated."),
            QUIET,
            Option("--value", "A printed number, like 0.71: find the conventions that give it.", str, "X"),
            ScoringOptions(("duplicates", "columns", "grades")), SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.reconcile.reconcile", usage="QRELS RUN -m METRIC"),
    Command("advise", "Recommend metrics that fit the data and the task.",
        """Recommend metrics and cutoffs, the one to declare in advance, and what not to use.

        The advice depends on the judgments, the runs if given, and the task.""",
        ("advise qrels.txt", "advise qrels.txt bm25.run dense.run --task web", "advise qrels.txt my.run --task rag --k 8"),
        (
            QRELS, click.Argument(["runs"], type=FILE, nargs=-1, metavar="[RUN]..."),
            Option("--task", "Task: {names}. Default: the task that fits the data best.", NameType("task"), "TASK"),
            Option("-k --k",
                "Number of results that people see, the next stage takes, or a language model reads. Default: by task.", NUMBER, "N"),
            ScoringOptions(("duplicates", "columns", "grades"), {"duplicates":
                "How to treat a document with several grades or ranks: read grades as subtopics and reject ranks, or keep the first or the best."}),
            SETTINGS, QUIET, *OUTPUT,
        ),
        verb="rankscope.verbs.advise.advise", usage="QRELS [RUN...]"),
    Command("merge", "Combine the parts of an evaluation.",
        """Combine the parts that rankscope evaluate --partition wrote into one result.

        Numbers, intervals, warnings and notes equal those of one evaluation of the whole run. PARTs may be in any order, or a folder.""",
        (
            "merge part*.parquet",
            "merge parts/ --per-query -o scores.csv",
        ),
        (
            click.Argument(["parts"], type=FILE, nargs=-1, metavar="PART..."),
            ScoringOptions(("ignore",)), SETTINGS, QUIET, PER_QUERY, DISTRIBUTION, *output(*FORMATS, "latex", "trec"),
        ),
        verb="rankscope.verbs.merge.merge", usage="PART..."),
    Command("playground", "Rearrange rankings on a page and watch metrics change.",
        """Write a page of worked examples: rankings to rearrange, with live metrics.

        Drag a document to another rank or change a grade: the page shows P, R, RR, AP, DCG, nDCG, ERR and RBP, and the share of
        every position. It needs no network and opens in the browser if there is a screen.""",
        ("playground", "playground --no-open", "playground -o lesson.html"),
        (
            Option("--no-open", "Do not open the page in a browser.", bool, to="command"),
            Option("-o --output out",
                "Write the page to FILE without opening it; - is standard output. Default: playground.html, opened.", PLACE, to="command"),
        ),
    ),
    Command("metrics", "List the metrics, or explain one.",
        """List all metrics or those of a family or a set, or explain some.""",
        (
            "metrics               every metric, one line each",
            "metrics nDCG          formula, convention, parameters, an example",
            "metrics ndcg_cut_10   trec_eval's names work",
            "metrics official      a set of metrics, or a family, like pairs",
            "metrics --table AP RR compare some: formula, purpose",
            "metrics RR --plot     the weight of each rank",
            "metrics --format json",
        ),
        (
            click.Argument(["names"], type=NameType("name"), nargs=-1, metavar="[NAME]..."),
            Option("--table traits", "Compare metrics: grades, order, range, formula, purpose and limits.", bool, to="result"),
            Option("--plot", "Draw the weight of each rank in a metric; -o FILE.svg, .png or .pdf for a figure.", bool, to="command"),
            *output("table", "json", more="; .svg .png .pdf with --plot"),
        ),
        verb="rankscope.verbs.catalogue.catalogue"),
    Command("demo", "See it work on three real rankings, offline.",
        """Evaluate three real rankings that ship with rankscope, offline, and explain how to read the result.""",
        ("demo", "demo --copy demo", "demo --report demo.html"),
        (
            Option("-q --quiet", "Print only the numbers.", bool, to="command"),
            Option("--copy", "Copy the demo's files into DIR, to try commands.", FOLDER, to="command"),
            Option("--report", "Write the report of the demo to FILE (.html).", PLACE, to="command"),
        ),
    ),
    Command("completion", "Complete commands, metrics and files in your shell.",
        """Print the script that completes commands, metrics and files in your SHELL.""",
        (
            "completion bash >> ~/.bashrc",
            "completion zsh >> ~/.zshrc",
            "completion fish > ~/.config/fish/completions/rankscope.fish",
        ),
        (click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])),),
    ),
)
# fmt: on
