"""The table of commands: the arguments, options and help of each, and the module of its verb."""

from __future__ import annotations

from functools import partial

import click

from rankscope.cli import commands as shared
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
    named_tables,
    read_margin,
    read_numbers,
    read_parameters,
    read_values,
    scorer_named,
    tolerances,
    whole_numbers,
)

# fmt: off
COMMANDS = (
    Command("evaluate", "Score rankings against judgments.",
        """Score one or more RUNs against the judgments in QRELS.

        Files may be TREC, CSV, TSV, JSON, JSON lines or Parquet, also compressed. - is standard input. Name a
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
            "evaluate test.csv als.csv -m ILD@10 --items items.csv",
            "evaluate qrels.txt big.parquet --partition 3/8 -o part3.parquet",
            "evaluate qrels.parquet run/ --engine spark --master 'local[4]'",
        ),
        (
            *shared.JUDGED,
            shared.metric("A metric, like nDCG@10. May be repeated, or several in quotes. Default: nDCG@10 AP RR@10 R@100 P@10 Judged@10."),
            shared.QUIET,
            shared.PER_QUERY, shared.DISTRIBUTION, shared.METHODS,
            shared.interval("Interval of each mean: {names}; with parameters: bca(rounds=20000). Default: t; wilson for 0/1 scores."),
            Option("--level", "Confidence level, between 0.5 and 1; a value from 1 to 10 sets --relevance-level.", float, default=0.95),
            shared.CLUSTERS, shared.SLICES, shared.PREDICTED, shared.REFERENCES,
            Option("--sort", "Metric to sort runs by, the best first. Default: as given.", shared.METRIC_NAME, "METRIC"),
            Option("--engine", "Engine that scores: this process, or Spark, which also reads folders of files. Default: local.",
                ("local", "spark"), to="command"),
            Option("--master", "With --engine spark: the master of Spark, like local[4]. Default: Spark's own setting.", str, "URL", to="command"),
            POLICIES, shared.SETTINGS, *shared.LIMITS,
            Option("--partition",
                "Evaluate only part I of N and write it to -o part.parquet. rankscope merge combines all parts.",
                str, "I/N"),
            Option("--resume", "Save progress on large files in DIR and resume from it after an interruption.", FOLDER),
            *shared.output(*shared.FORMATS, "latex", "trec", more="; .parquet with --partition"), *shared.PAPER,
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
            *shared.JUDGED, shared.metric(shared.SEVERAL), shared.QUIET, *shared.COMPARISON,
            Option("--risk", "Report the risk of losses on single queries: U_risk, T_risk, GeoRisk. A loss counts 1 + X times.", float, "X"),
            shared.PREDICTED, shared.REFERENCES, shared.DETAILS, shared.METHODS, *shared.RECORD,
            Option("--collections", "Read each argument as a folder: one collection with a file qrels... and its runs.", bool, to="command"), POLICIES, *shared.LIMITS, *shared.output(*shared.FORMATS, "latex"),
            *shared.PAPER,
        ),
        verb="rankscope.verbs.compare.compare", usage="QRELS RUN RUN...", bar=True),
    Command("report", "Write one HTML report: verdict, charts and every query.",
        """Write one HTML page about RUNs judged by QRELS. It needs no network.

        The answer comes first, with the scoreboard and one caveat, then every query with its rankings side by side. The evidence is
        folded below. Runs are compared with the first RUN (or --baseline), or from four RUNs on with the best. One RUN also makes
        a page. A single file may be a user log: of an experiment, of interleaved lists, or with --target of the policy that ran.

        With --log the page shows whether judgments and users agree. Name runs after their variants
        (control=old.run treatment=new.run). With two of each, the first run is the baseline.""",
        (
            "report qrels.txt bm25.run dense.run -o report.html",
            "report qrels.txt my.run",
            "report qrels.txt *.run --queries-text topics.xml --docs-text docs.jsonl",
            "report qrels.txt old.run new.run --export figures",
            "report --scores scores.csv -m AP",
            "report log.parquet -m CTR --slices country --margin 1%",
            "report log.parquet --target new.run",
            "report log.parquet --clicks",
            "report qrels.txt control=old.run treatment=new.run --log log.parquet --online CTR",
        ),
        (
            *shared.JUDGED, shared.metric(shared.SEVERAL), shared.QUIET,
            Option("--log", "Log of an experiment on the same change (CSV, JSON lines, Parquet): do judgments and users agree?", FILE),
            Option("--online", "With --log: an online metric, like CTR. The first decides.", shared.ONLINE_NAME, "METRIC", multiple=True, read=list),
            *shared.experiment("plan", "split", "guardrails", "covariates", "prior", only=True),
            Option("--clicks", "For a log: add position bias and click models.", bool),
            Option("--queries-text", "Query texts: TSV, CSV, JSONL (BEIR) or TREC topics.", FILE),
            Option("--docs-text", "Document texts: TSV, CSV, JSONL (BEIR) or TREC documents.", FILE),
            Option("--title", "Title of the page. Default: the runs.", str, "TEXT"),
            Option("--about", "Text below the title, such as facts about the data.", str, "TEXT"),
            Option("--shown", "Documents to show per ranking. Default: up to 20, if they fit.", NUMBER, "N"),
            Option("--notes", "Notes and grades saved from an earlier page (JSON).", FILE),
            *shared.estimate(only=True), shared.log_format(to="command"), shared.time_format(to="command"),
            Option("--export", "Write every table (CSV, JSON) and figure (SVG, PNG, PDF, with and without title) into DIR.", FOLDER, to="command"),
            shared.BASELINE, *({shared.SLICES: shared.SLICES_OF_EITHER, shared.CLUSTERS: shared.CLUSTERS_OF_EITHER}.get(one, one) for one in shared.COMPARISON[1:]), POLICIES, *shared.LIMITS,
            Option("-o --output out",
                "Write the page to FILE, one HTML file. - is standard output.", PLACE, to="command", default="report.html"),
        ),
        verb="rankscope.reporting.report", of_log=("slices", "clusters"), bar=True),
    Command("explain", "Explain the score of a ranking, or the difference of two.",
        """Explain the score of one query, rank by rank, or with two RUNs the difference between them.

        Without --query: for one RUN (or several) the losses over all queries and their causes, for two the ranks that cause the
        difference (add --query to see documents).""",
        (
            "explain qrels.txt my.run --query 7 -m nDCG@10", "explain qrels.txt old.run new.run --query 7 -m AP",
            "explain qrels.txt my.run --query 7 --docs-text docs.jsonl", "explain qrels.txt old.run new.run",
            "explain qrels.txt my.run",
        ),
        (
            *shared.JUDGED, shared.metric("A metric, like nDCG@10 (the default)."), shared.QUIET,
            Option("--query", "Id of the query to explain.", str, "ID"),
            Option("--queries-text", "Query texts to show: TSV, CSV, JSONL (BEIR) or TREC topics.", FILE),
            Option("--docs-text", "With --query: document texts to show below, as TSV, CSV, JSONL (BEIR) or TREC documents.", FILE),
            POLICIES, shared.SETTINGS, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.explain.explain", usage="QRELS RUN [RUN] --query ID"),
    Command("check", "Find data problems that make numbers wrong.",
        """Find data problems that make numbers wrong, unfair or misleading: a linter for evaluations and logs.

        A single file is checked as a LOG of impressions, or with --train as the test part of a split. Every rule has a code. The exit code is 1 if there is a warning, otherwise 0.""",
        ("check qrels.txt my.run", "check qrels.txt a.run b.run -m nDCG@10 --ignore RS102", "check test.csv --train train.csv --items items.csv", "check log.parquet", "check --explain RS101"),
        (
            *shared.JUDGED, shared.metric("A metric, like nDCG@10. May be repeated."), shared.QUIET,
            Option("--select", "Apply only these rules: RS101, or RS1 for a family.", str, "CODES", multiple=True),
            Option("--exit-zero", "Exit with 0 even if there are warnings.", bool, to="command"),
            Option("--explain", "Explain a rule: the problem, why it matters and what to do.", str, "CODE", to="command"),
            Option("--list list", "List all rules.", bool, to="command"),
            Option("--scale", "Intended scale of the grades, like 0-3.", str, "LOW-HIGH"),
            Option("--train", "Training interactions of the recommender: audits the split, with or without runs. Default: --history.", FILE),
            Option("--docs-text", "Document texts: JSONL, TSV, CSV, Parquet or TREC documents.", FILE),
            Option("--covariate covariates", "For a log: a column measured before the experiment began.", str, "COLUMN", multiple=True),
            shared.log_format(to="command"), shared.time_format(to="command"),
            ScoringOptions(helps={"ignore": "Skip these rules: RS101, or RS1 for a family. May be repeated."}), shared.SETTINGS, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.check.check", alone=("explain", "list")),
    Command("gate", "Pass or fail a change, for continuous integration.",
        """Decide if CANDIDATE may replace BASELINE: exit code 0 pass, 1 fail, 4 cannot tell.

        Every metric is a check, on all queries and on every slice. It passes if the 95% interval of its difference is above minus
        the tolerance, or if nothing changed. It fails if a loss is proved (Holm-corrected for all checks). If fewer than 6 queries
        differ, only the losses must stay within the tolerance, without a guaranteed error rate. BASELINE is a run, or a JSON
        written by rankscope evaluate QRELS RUN --per-query -o baseline.json.

        A LOG can replace QRELS: of an experiment every variant is gated against the baseline, of interleaved lists every ranker, and with
        --target every policy against the one that ran. BASELINE and CANDIDATE name two variants, rankers or policies. If the LOG allows no verdict, the exit code is 3
        (users not split as planned, lists not mixed fairly) or 4 (a policy that it does not support).""",
        (
            "gate qrels.txt main.run branch.run -m nDCG@10 --tolerance 0.01",
            'gate qrels.txt main.run branch.run -m "nDCG@10 R@100" --tolerance 2%',
            "gate qrels.txt baseline.json branch.run --junit gate.xml",
            "gate qrels.txt main.run branch.run --slices queries.csv --github-summary",
            "gate log.parquet -m CTR -m RPM --tolerance 1% --tolerance RPM=2%",
            "gate log.parquet control treatment --slices country --split control=0.9,treatment=0.1",
            "gate log.parquet --target new=new.run -m SNIPS --tolerance 2%",
        ),
        (
            shared.QRELS,
            click.Argument(["baseline"], type=FILE, required=False, metavar="BASELINE"),
            click.Argument(["candidate"], type=FILE, required=False, metavar="CANDIDATE"),
            shared.metric("A metric that must pass, like nDCG@10 (the default), for a log CTR, with --target SNIPS. May be repeated, or several in quotes."),
            shared.QUIET,
            Option("--tolerance",
                "Accepted loss: a number or a percentage of the baseline's mean, for all metrics or for one. May be repeated. "
                "0 requires a proved improvement if six or more queries changed. Default: 0.01 for metrics from 0 to 1, for a log 1%.", str, "0.01|2%|METRIC=0.02", multiple=True, read=tolerances),
            Option("--fail-on",
                "Fail on a proven loss that may exceed the tolerance, or only on a loss proven to exceed it.", ("loss", "tolerance"), default="loss"),
            shared.ALPHA,
            shared.SLICES_OF_EITHER,
            shared.CLUSTERS_OF_EITHER, shared.INTERVAL_OF_EITHER, shared.TEST_OF_EITHER, *shared.experiment("plan", "variant", "split", "covariates", "strata", "winsorise", only=True), *shared.estimate(only=True),
            shared.log_format(), shared.time_format(), POLICIES, *shared.LIMITS, shared.SETTINGS,
            Option("--junit", "Write JUnit XML to FILE.", PLACE, to="command"),
            Option("--github-summary", "Append Markdown to the job's summary ($GITHUB_STEP_SUMMARY).", bool, to="command"),
            *shared.OUTPUT,
        ),
        verb="rankscope.verbs.gate.gate", usage="QRELS BASELINE CANDIDATE", of_log=("slices", "clusters"), bar=True),
    Command("online", "Compute clicks, conversions and returns of users from a log.",
        """Compute online metrics from a LOG with one row per shown item, or one row per user.

        Files may be CSV, TSV, JSON lines or Parquet, also compressed, or a folder of files. Intervals stay valid when users return,
        if the log names them. Columns are found by usual names: item, position, clicked, user, time ...""",
        (
            "online log.parquet",
            "online log.csv -m CTR -m SatisfiedClicks --by day --by position",
            "online log.parquet -m Retention@7 --columns visitor=unit_id",
            "online log.csv -m CTR --slices country --slices device",
            'online users.csv -m "Ratio(orders, sessions)"',
        ),
        (
            shared.LOG,
            Option("-m --metric metrics", "An online metric, like CTR. May be repeated. Default: every metric that the columns allow.",
                   shared.ONLINE_NAME, "METRIC", multiple=True, to="command"),
            shared.QUIET, shared.LOG_COLUMNS, shared.log_format(), *shared.TIMES,
            Option("--by", "Split the numbers by day or by position.", ("day", "position"), multiple=True),
            Option("--slices", "A column of the log: also report its values. May be repeated.", str, "COLUMN", multiple=True),
            Option("--level", "Confidence level, between 0.5 and 1.", float, default=0.95),
            Option("--ignore", "Skip these warnings: RS611, or RS6 for a family. May be repeated.", str, "CODES", multiple=True, read=list),
            *shared.OUTPUT,
        ),
        verb="rankscope.verbs.online.online", usage="LOG"),
    Command("position-bias", "Estimate how probable it is that users look at each position.",
        """Estimate the examination curve from clicks in a LOG, relative to position 1, by several methods side by side.

        A method needs the same items at different positions: randomised lists, swaps, or several rankers. If the LOG has none, nothing is
        identified: the reason is printed, and the exit code is 4.""",
        (
            "position-bias log.parquet --method harvesting",
            "position-bias log.parquet --method swaps --save examination.json",
            'position-bias log.csv --method "randomised(top=5)" --slices device',
        ),
        (
            shared.LOG,
            Option("--method", "Estimator, may be repeated: {names}. Default: all that the log identifies.", NameType("position bias estimator"), "METHOD",
                multiple=True, read=list),
            shared.QUIET, shared.LOG_COLUMNS, shared.log_format(), *shared.TIMES,
            Option("--slices", "A column of the log, like a device: one curve per value; may be repeated.", str, "COLUMN", multiple=True),
            shared.DEPTH,
            Option("--level", "Confidence level, between 0.5 and 1.", float, default=0.95),
            Option("--rounds", "Resamples of the bootstrap. Default: 100, or 50 for regression_em.", NUMBER, "N"),
            Option("--seed", "Seed of the resamples.", WholeNumber(min=0), "N", default=0),
            Option("--save", "Write the curve of the first method to FILE (JSON), for metrics and estimators.", PLACE, to="command"),
            *shared.OUTPUT,
        ),
        verb="rankscope.verbs.position_bias.position_bias", usage="LOG"),
    Command("clicks", "Fit click models to a log, and find the one that predicts best.",
        """Fit click models to a LOG, and test which predicts the clicks of held-out sessions better.

        Models: GCTR RCTR DCTR (click rates), PBM (positions), CM DCM CCM (cascades), UBM (last click), DBN SDBN (satisfaction).""",
        (
            "clicks log.parquet",
            'clicks log.parquet --model PBM --model "DBN(smoothing=3)" --test later.parquet',
            "clicks log.parquet --model DBN --save dbn.json",
            'clicks log.parquet --grades "click=1,dwell>=30=2,purchase=3" --to-qrels grades.csv',
        ),
        (
            shared.LOG,
            Option("--model models", "A click model, may be repeated: {names}. Default: RCTR DCTR PBM UBM DBN.", NameType("click model"), "MODEL",
                multiple=True, read=list),
            Option("--test --test-log test_log", "A log to test on. Default: held-out sessions of LOG.", FILE, "LOG"),
            Option("--holdout", "Share of sessions to hold out.", float, default=0.25),
            Option("--split", "Hold out sessions at random, or the last ones.", ("session", "time"), default="session"),
            Option("--baseline", "Model that all others are compared with. Default: RCTR, or the first.", str, "NAME"),
            shared.DEPTH, shared.QUIET, shared.LOG_COLUMNS, shared.log_format(), *shared.TIMES,
            Option("--significance test", "Test of the differences: {names}; with parameters: permutation(rounds=20000). Default: t.", NameType("test"), "TEST"),
            shared.INTERVAL, shared.CORRECTION, shared.ALPHA,
            Option("--rounds", "Most steps of EM.", NUMBER, "N", default=200),
            Option("--seed", "Seed of the sessions to hold out.", WholeNumber(min=0), "N", default=0),
            Option("--save", "Write the model to FILE (JSON): the best one, or the only one named.", PLACE, to="command"),
            Option("--grades", "Grades of engagement: click=1,dwell>=30=2,purchase=3. Default: click=1.", str, "NAME[>=X]=GRADE,..."),
            Option("--to-qrels", "Write grades from behaviour to FILE: TREC lines, or .csv .tsv .jsonl .parquet with errors and views.", PLACE, to="command"),
            Option("--to-weights", "Write the views behind the grades of each query to FILE (.csv), as weights of queries.", PLACE, to="command"),
            *shared.OUTPUT,
        ),
        verb="rankscope.verbs.clicks.clicks", usage="LOG", bar=True),
    Command("estimate", "Estimate how another ranking would have done, from the log of the one that ran.",
        """Estimate the value that other policies would have had, from the LOG of the policy that ran.

        The LOG has one row per shown item: the item, its reward (a click) and the probability with which it was shown
        (propensity_score, p_item_pos; for lists also p_prefix or p_slate). Warnings come first. If the log cannot support an estimate,
        it is refused (exit code 4).""",
        (
            "estimate obd/bts/men --target uniform",
            'estimate log.parquet --target p_new --estimator SNIPS --estimator "IPS(clip=50)"',
            "estimate log.parquet --target new.run --target 'EpsilonShuffle(epsilon=0.1) new.run'",
            "estimate log.parquet --target new.run --examination 1,0.6,0.4 --estimator \"Clicked(metric='DCG@10')\"",
        ),
        (
            shared.LOG,
            *shared.estimate()[:1],
            Option("--estimator estimators", "Estimator, like IPS(clip=50): {names}; may be repeated, the first leads. Default: SNIPS, IPS and DR; for lists SNIIPS, IIPS and RIPS.",
                   NameType("estimator"), "ESTIMATOR", multiple=True, read=list),
            Option("--baseline", "Policy that others are compared with. Default: logged, the policy that ran.", str, "NAME"),
            *shared.estimate()[1:],
            Option("--slices", "A column of the log: also compare within its values; may be repeated.", str, "COLUMN", multiple=True),
            shared.TEST, shared.INTERVAL, shared.CORRECTION, shared.ALPHA,
            Option("--margin", "Negligible difference, like 0.001 or 1%: test if policies are practically the same.", str, "X", multiple=True, read=read_margin),
            Option("--ignore", "Skip these warnings: RS681, or RS68 for a family; may be repeated.", str, "CODES", multiple=True, read=list),
            shared.QUIET, shared.LOG_COLUMNS, shared.log_format(), *shared.TIMES, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.estimate.estimate", usage="LOG --target TARGET"),
    Command("power", "Plan: the difference your queries can detect, and how many you need.",
        """Compute the difference that your queries can detect, and the number of queries that other differences need.

        With RUNs judged by QRELS, results hold for similar queries. Without runs, plan from the standard deviation of
        the differences, or by a design for a test collection. With a LOG, plan the users and days of an experiment,
        or with --target the users that tell policies apart.""",
        (
            "power qrels.txt bm25.run dense.run -m nDCG@10",
            "power qrels.txt *.run --all-pairs --difference 0.03",
            "power qrels.txt old.run new.run -n 500 --comparisons 10",
            "power --scores scores.csv -m AP",
            "power --deviation 0.2 --difference 0.02",
            "power --design anova --systems 10 --variance 0.05 --difference 0.1",
            "power log.parquet -m CTR --lift 2%",
            "power log.parquet --design interleaving",
            "power log.parquet --target new.run",
        ),
        (
            *shared.JUDGED, shared.metric(shared.SEVERAL), shared.QUIET,
            Option("--lift", "For a log: a relative difference to detect, like 2%. May be repeated.", str, "X", multiple=True, read=list),
            *shared.experiment("covariates", "strata", "winsorise", "guardrails", only=True),
            *shared.estimate(only=True),
            Option("--margin", "For a log: a loss of the first metric to rule out, 0.01 or 1% of the value now.", str, "X"),
            Option("--test", "For a log: t (the default), group_sequential(looks=5) or anytime for looks, permutation.", NameType("test of logs"), "TEST"),
            shared.log_format(to="command"), shared.time_format(to="command"),
            Option("--share", "For a log: share of users in the new variant. Default: 0.5.", float, "X"),
            Option("--difference",
                "A difference to detect, like 0.02. May be repeated. Default: 0.01, 0.02, 0.05 and the observed one.", float, "X", multiple=True),
            Option("--power", "Probability of detecting a real difference.", float, default=0.8),
            shared.ALPHA,
            Option("--comparisons", "Number of planned comparisons: each gets alpha / M.", NUMBER, "M", default=1),
            Option("-n", "Number of queries to plan for. Default: the queries of the files.", WholeNumber(min=2), "N"),
            shared.BASELINE, shared.ALL_PAIRS, shared.CLUSTERS_OF_EITHER, shared.SCORES,
            Option("--deviation", "If there are no runs: standard deviation of the differences, from an earlier study.", float, "S"),
            Option("--design",
                "Without runs: plan the topics of a collection for a --difference (t test, analysis of variance) or a --width. "
                "With a LOG of interleaved lists: interleaving, next to an A/B test.", ("t", "anova", "interval", "interleaving")),
            Option("--variance", "With --design: variance of differences (t, interval) or within systems (anova).", float, "V"),
            Option("--systems", "With --design anova: number of systems to compare.", WholeNumber(), "M"),
            Option("--width", "With --design interval: width from end to end.", float, "W", multiple=True),
            shared.DETAILS, POLICIES, shared.SETTINGS, *shared.OUTPUT,
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
            *shared.JUDGED,
            shared.metric("A metric, like nDCG@10 (the default). May be repeated. The worklist is made for the first."),
            shared.QUIET, shared.BASELINE,
            Option("--grade", "Best grade a document can get. Default: the highest of the qrels.", float, "X"),
            Option("-n", "Number of documents to judge.", WholeNumber(min=0), "N", default=50),
            Option("--worklist",
                "Write the documents to judge to FILE, as CSV: query, document, ranks and effect.", PLACE, to="command"),
            POLICIES, shared.SETTINGS, *shared.OUTPUT,
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
            "experiment --assignments users.csv --events events.csv --window 7d --primary 'Mean(amount)' --covariate 'Mean(amount)=before'",
        ),
        (
            shared.LOG,
            Option("--assignments", "Table of units and their variants, together with --events instead of a LOG.", FILE),
            Option("--events", "Table of events of the units, may be repeated as NAME=FILE. Units without events count as 0.", str, "FILE", multiple=True,
                read=named_tables),
            *shared.experiment("plan"),
            Option("--window", "With --events: how long after the assignment events count, like 7d or 24h.", str, "TIME"),
            shared.metric("A further metric, like CTR or 'Mean(revenue)'. May be repeated.", kind=shared.ONLINE_NAME),
            Option("--primary", "Metric that decides. Default: the first.", str, "METRIC"),
            *shared.experiment("guardrails"),
            Option("--margin", "Negligible difference, 0.01 or 1% of the baseline: test if variants are practically the same. May be repeated.",
                str, "[METRIC=]X", multiple=True, read=list),
            *shared.experiment("variant"),
            Option("--baseline", "Variant that the others are compared with. Default: control, A or the first.", str, "NAME"),
            Option("--all-pairs", "Compare every variant with every other.", bool),
            *shared.experiment("covariates", "strata", "split", "winsorise", "clusters"),
            Option("--by", "Report the difference of each day, and its trend.", ("day",)),
            Option("--slices", "A column of attributes: also compare variants within each value. May be repeated.", str, "COLUMN", multiple=True, read=list),
            *shared.METHOD_OF_LOGS, shared.ALTERNATIVE, shared.ALPHA, *shared.experiment("prior"),
            Option("--decide", "Decide by a rule: better on the primary metric, guardrails hold, split as planned.", bool),
            shared.LOG_COLUMNS, shared.log_format(), *shared.TIMES, shared.SETTINGS, shared.QUIET, *shared.RECORD, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.experiment.experiment", usage="LOG", alone=("assignments", "events")),
    Command("simulate", "Simulate a log or an experiment with known truth.",
        """Simulate a log of impressions, or an experiment: to try commands, to plan, to test.

        Users visit, query, browse, click, buy, return and churn. KIND is log (lists by one or several policies, with exact
        probabilities) or experiment (variants with a known true effect). One seed gives one log.

        KIND aa takes a LOG of your own, splits its users at random, and prints the rate of false verdicts per metric. KIND launches
        makes launches with known correlations, as a file for rankscope launches import.""",
        (
            "simulate log -o log.parquet",
            "simulate experiment -o log.parquet",
            "simulate experiment --quality 0.5,0.5 --users 20000 --seed 7 -o same.parquet",
            "simulate experiment --set before=28 --units users.csv",
            'simulate aa log.parquet -m CTR -m "Mean(revenue)" --split 0.9,0.1',
            "simulate launches --launches 300 --set reliability=0.6 -o launches.csv",
            'simulate log --policy Fixed --policy "PlackettLuce(temperature=1)" -o log.parquet',
            "simulate log --interleave --quality 0.5,0.6 -o mixed.csv",
            "simulate experiment --qrels qrels.txt --run old.run --run new.run -o log.parquet",
        ),
        (
            click.Argument(["kind"], type=click.Choice(["log", "experiment", "aa", "launches"]), metavar="log|experiment|aa|launches"),
            click.Argument(["log"], required=False, type=FILE, metavar="[LOG]"),
            Option("--users", "Number of users. Default: 5000.", NUMBER, "N"),
            Option("--days", "Number of days. Default: 14.", NUMBER, "N"),
            Option("--items", "Items per list. Default: 20.", NUMBER, "N"),
            Option("--seed", "Seed of all random numbers.", WholeNumber(min=0), "N", default=0),
            Option("--quality", "Ranker quality, 0 (random) to 1 (ideal). Default: 0.6; for an experiment 0.5,0.6.",
                str, "X,...", multiple=True, read=partial(read_numbers, "--quality")),
            Option("--policy", "Policy that makes the lists: Fixed, PlackettLuce(temperature=0.3), EpsilonShuffle(epsilon=0.1), TopShuffle(top=5), SwapFirst(top=10).",
                str, "POLICY", multiple=True, read=list),
            Option("--browsing", "Browsing model of users: PositionBased(decay=0.85), Cascade(decay=0.77, stop=0.1), UserBrowsing, DynamicBayesian ... Default: PositionBased.", str, "BROWSING"),
            Option("--qrels", "Judgments that determine attraction.", FILE, to="command"),
            Option("--run runs", "With --qrels: a ranking to show. May be repeated.", FILE, multiple=True, to="command"),
            Option("--interleave", "For a log: mix the items of two rankers in each list (team draft).", bool),
            Option("--split", "Share of users per variant. Default: even.", str, "X,...",
                multiple=True, read=partial(read_numbers, "--split")),
            Option("--truth", "For an experiment: extra simulated users per variant that establish the truth. Default: 20000.",
                WholeNumber(min=0), "N"),
            Option("-m --metric metrics", "A metric of the true effects, or of the A/A test. May be repeated.", str, "METRIC", multiple=True, read=list),
            Option("--rounds", "For aa: number of random splits. Default: 500.", NUMBER, "N"),
            *shared.experiment("covariates", "winsorise", "clusters"), shared.METHOD_OF_LOGS[0], shared.ALPHA, shared.LOG_COLUMNS, shared.log_format(),
            Option("--launches", "For launches: number of launches. Default: 200.", NUMBER, "N", to="command"),
            Option("--set parameters", "Set another parameter of the world, like taste=0.3 or attraction=(0.1,0.5).", str, "NAME=VALUE",
                multiple=True, to="command", read=read_parameters),
            shared.QUIET,
            Option("--format form", "Format of the summary. Default: table.", shared.FORMATS, to="command"),
            Option("-o --output place", "Write the log to FILE (.parquet .csv .tsv .jsonl, also .gz).", PLACE, to="command"),
            Option("--units", "Write the users to FILE: one row per user, with pre-experiment numbers.", PLACE, to="command"),
        ),
        verb="rankscope.verbs.simulate.simulate", usage="log|experiment|aa|launches"),
    Command("launches", "Learn from past launches which offline metric predicts users.",
        """Keep past launches in a ledger, and find out which offline metric predicts which online one, with noise taken off.

        ACTION is add NAME, list [NAME], import FILE, correlate, report, or predict [NAME], which estimates whether a new launch wins. rankscope compare
        --record and rankscope experiment --record add launches.""",
        (
            "launches import launches.csv",
            'launches add "new ranker" --offline nDCG@10=0.012,0.004 --online CTR=0.003,0.001 --date 2024-05-31',
            "launches correlate --online CTR",
            "launches predict --offline nDCG@10=0.012,0.004 --online CTR",
            "launches report -o launches.html",
            "launches list --ledger postgresql+psycopg://user@host/search --format json",
        ),
        (
            click.Argument(["action"], type=click.Choice(["add", "list", "import", "predict", "correlate", "report"]), metavar="ACTION"),
            click.Argument(["names"], nargs=-1, metavar="[NAME|FILE]..."),
            Option("--ledger", f"{shared.LEDGER}. Default: $RANKSCOPE_LEDGER, or launches.db.", str, "LEDGER"),
            Option("--offline", "An offline metric; for add and predict with its difference and standard error; may be repeated.", str, "METRIC[=X,SE]", multiple=True, read=list),
            Option("--online", "An online metric; for add with its difference and standard error; may be repeated.", str, "METRIC[=X,SE]", multiple=True, read=list),
            Option("--tag tags", "For add: a tag (aa for a launch without any change). Otherwise: only launches with this tag. May be repeated.", str, "TAG", multiple=True, read=list),
            Option("--mixed", "For correlate, report and predict: take differences under several conventions together.", bool),
            Option("--baseline", "For add: the baseline.", str, "NAME"),
            Option("--candidate", "For add: the candidate.", str, "NAME"),
            Option("--date day", "For add: the date, like 2024-05-31.", str, "DATE"),
            Option("--launched", "For add: whether the candidate was launched.", ("yes", "no"), read=lambda text: text == "yes"),
            Option("--note notes", "For add: a note.", str, "TEXT"),
            shared.QUIET, *shared.output(*shared.FORMATS, more="; .html for report"),
        ),
        usage="ACTION"),
    Command("pool", "Test if judgments favour pooled runs.",
        """Test if judgments favour the runs of the pool: each run is scored without the judgments of the documents
        that no other run retrieved. Also measure how similarly metrics order the systems (Kendall's tau).""",
        ("pool qrels.txt *.run", 'pool qrels.txt a.run b.run c.run -m "nDCG@10 AP" --pool-depth 50'),
        (
            *shared.JUDGED, shared.metric("A metric, like nDCG@10. May be repeated."), shared.QUIET,
            Option("--pool-depth", "Pooled documents per ranking.", NUMBER, "N", default=100),
            POLICIES, shared.SETTINGS, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.pool.pool", usage="QRELS RUN RUN..."),
    Command("reproduce", "Measure how close a reproduced run is to the original.",
        """Compare a reproduced run (MINE) with the ORIGINAL: order of documents (Kendall's tau, rank-biased overlap).

        With QRELS also values (root mean square error, p of the paired t test), and with both baselines the effect ratio. The numbers
        equal repro_eval's (Breuer et al., SIGIR 2020).""",
        (
            "reproduce original.run mine.run",
            "reproduce qrels.txt original.run mine.run -m nDCG@10",
            "reproduce qrels.txt their.run my.run --original-baseline their_bm25.run --baseline my_bm25.run",
        ),
        (
            *shared.JUDGED, shared.metric("A metric, like nDCG@10 (repeat for more)."), shared.QUIET,
            Option("--original-baseline", "Run that the ORIGINAL improves on.", FILE),
            Option("--baseline", "Run that MINE improves on: with both there is an effect ratio.", FILE),
            Option("--rbo-p p", "Persistence of rank-biased overlap, between 0 and 1.", float, "P", default=0.95),
            Option("--rbo-depth depth_of_overlap", "Ranks to compare.", NUMBER, "N", default=1000),
            shared.PER_QUERY, POLICIES, shared.SETTINGS, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.reproduce.reproduce", usage="[QRELS] ORIGINAL MINE"),
    Command("ties", "Measure how much ties matter.",
        """Measure how much ties (equal scores) matter: the tied share of the top k, and how far each metric could move.""",
        ("ties qrels.txt my.run", 'ties qrels.txt a.run b.run -m nDCG@10 -m "RR AP"'),
        (
            *shared.JUDGED, shared.metric("A metric, like nDCG@10. May be repeated."), shared.QUIET, ScoringOptions(("queries", "depth", "columns", "grades", "seed")), shared.SETTINGS, *shared.OUTPUT,
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
            *shared.JUDGED,
            shared.metric("A metric, like nDCG@10 (the default). May be repeated."),
            shared.QUIET,
            Option("--value", "A printed number, like 0.71: find the conventions that give it.", str, "X"),
            ScoringOptions(("duplicates", "columns", "grades")), shared.SETTINGS, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.reconcile.reconcile", usage="QRELS RUN -m METRIC"),
    Command("advise", "Recommend metrics that fit the data and the task.",
        """Recommend metrics and cutoffs, the one to declare in advance, and metrics not to use.

        The advice depends on the judgments, the runs if given, and the task.""",
        ("advise qrels.txt", "advise qrels.txt bm25.run dense.run --task web", "advise qrels.txt my.run --task rag --k 8"),
        (
            shared.QRELS, click.Argument(["runs"], type=FILE, nargs=-1, metavar="[RUN]..."),
            Option("--task", "Task: {names}. Default: the task that fits the data best.", NameType("task"), "TASK"),
            Option("-k --k",
                "Number of results that people see, the next stage takes, or a language model reads. Default: by task.", NUMBER, "N"),
            ScoringOptions(("duplicates", "columns", "grades"), {"duplicates":
                "How to treat a document with several grades or ranks: read grades as subtopics and reject ranks, or keep the first or the best."}),
            shared.SETTINGS, shared.QUIET, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.advise.advise", usage="QRELS [RUN...]"),
    Command("fuse", "Combine several runs into one ranking.",
        """Combine the rankings of several RUNs, query by query, and write the fused run to FILE.

        Fusions of ranks: RRF ISR LogISR RBC Borda Condorcet. Fusions of scores, which are normalised first: CombSUM CombMNZ CombANZ CombMIN
        CombMAX CombMED CombGMNZ WeightedSum WeightedMNZ Mixed. Learned from --qrels of training queries: PosFuse SlideFuse ProbFuse SegFuse
        BayesFuse MAPFuse.""",
        (
            "fuse bm25.run dense.run -o hybrid.run",
            'fuse bm25.run dense.run --method "RRF(k=10, weights=(2, 1))" -k 1000 -o hybrid.run',
            "fuse *.run --method CombMNZ --normalise z_score -o fused.parquet",
            "fuse *.run --method BayesFuse --qrels train.txt -o fused.run",
        ),
        (
            shared.RUNS,
            Option("--method", "Fusion, like RRF(k=10): {names}. Default: RRF(k=60).", NameType("fusion"), "FUSION"),
            Option("--normalise", "Normalisation of scores per query: {names}. Default: MinMax if the method uses scores.",
                NameType("normalisation"), "NAME"),
            Option("--qrels", "Judgments of training queries, for methods that learn.", FILE),
            Option("-k", "Documents to keep per query. Default: all.", NUMBER, "N"),
            Option("--name", "Name of the fused run. Default: the method.", str, "NAME"),
            ScoringOptions(only=("ties", "depth", "duplicates", "columns")), shared.QUIET,
            Option("-o --output out", f"Write the run to FILE: {shared.RUN_FILE}", PLACE, to="command"),
        ),
        verb="rankscope.verbs.fuse.fuse", usage="RUN RUN... -o FILE"),
    Command("agree", "Measure how much the rankings of runs agree.",
        """Measure how much the rankings of each two runs agree, per query and over queries: rank-biased overlap, Jaccard, Kendall's tau, tau_ap and weighted tau.

        No judgments are needed. Queries that only one of two runs has are left out, and counted.""",
        (
            "agree bm25.run dense.run",
            'agree a.run b.run c.run -m "RBO(p=0.95)" -m Jaccard@20 --per-query --format csv -o agreement.csv',
        ),
        (
            shared.RUNS,
            Option("-m --measure measures", "A measure: RBO(p=0.9), Jaccard@10, Kendall, TauAP or WeightedTau; may be repeated. Default: all five.", str,
                "MEASURE", multiple=True, read=list),
            Option("--depth", "Ranks to compare.", WholeNumber(min=1), "N", default=100),
            Option("--per-query", "Show the values of every query.", bool),
            ScoringOptions(only=("ties", "duplicates", "columns")), shared.QUIET, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.agree.agree", usage="RUN RUN..."),
    Command("contexts", "Score what was retrieved for the questions of a language model.",
        """Score the contexts of questions by the texts of their evidence and answers, so that the ids of chunks do not matter: recall by evidence and by tokens, answers in context, precision, redundancy.

        TABLEs have one row per question, as Ragas, LlamaIndex, LangChain and DeepEval write them: question, contexts, reference contexts, answer.""",
        (
            "contexts rag.jsonl",
            'contexts small=a.jsonl large=b.jsonl -m "EvidenceRecall(tokens=2048)" -m AnswerInContext@5',
        ),
        (
            click.Argument(["runs"], type=FILE, nargs=-1, metavar="TABLE..."),
            Option("-m --measure measures", "A measure, like EvidenceRecall@5, EvidenceRecall(tokens=2048), AllEvidence or RankedPrecision; may be repeated. Default: the usual ones.", str,
                "MEASURE", multiple=True, read=list),
            Option("--budget budgets", "Tokens for recall by tokens, like 1024; may be repeated. Default: 256 512 1024 ...", WholeNumber(min=1), "N", multiple=True, read=list),
            Option("--threshold", "Share of a passage's words that must be in the contexts.", float, "X", default=0.8),
            Option("--dialect", "Measures of another tool by its names, like context_precision of ragas; without -m, all measures of the tool.", ("ragas", "deepeval", "llamaindex")),
            Option("--docs-text", "Texts of the documents that the spans refer to: JSONL, TSV, CSV, Parquet or TREC documents.", FILE),
            Option("--per-query", "Show the values of every question.", bool),
            shared.QUIET, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.contexts.contexts", usage="TABLE..."),
    Command("tune", "Choose parameters, and measure the gain on held-out queries.",
        """Choose the parameters of a fusion of RUNs, or the best of several RUNs, by the judgments in QRELS.

        The gain over the baseline is measured on queries that did not choose the parameters, next to the gain on those that did. -o writes the run
        with the parameters that all queries choose.""",
        (
            "tune qrels.txt bm25.run dense.run --method RRF --vary k=1..100:log -o tuned.run",
            "tune qrels.txt bm25.run dense.run --method WeightedSum --guardrail R@100",
            'tune qrels.txt *.run --method RRF --vary weights=simplex --search "random(trials=100)"',
            "tune qrels.txt k1=0.8.run k1=1.2.run k1=1.6.run -m AP",
            "tune qrels.txt *.run --method BayesFuse --baseline bm25",
        ),
        (
            *shared.JUDGED, shared.metric("A metric, like nDCG@10; the first decides. May be repeated. Default: nDCG@10."), shared.QUIET,
            Option("--method", "Fusion whose parameters are chosen: {names}. Default: choose one of the runs.", NameType("fusion"), "FUSION"),
            Option("--vary space", "Values of a parameter: k=1,10,60, k=1..100, k=1..100:log, weights=simplex; also of normalise and method. May be repeated. Default: weights.",
                str, "NAME=VALUES", multiple=True, read=read_values),
            Option("--normalise", "Normalisation of scores per query: {names}. Default: MinMax if the method uses scores.", NameType("normalisation"), "NAME"),
            Option("--search", "Search: {names}; with parameters: random(trials=100). Default: grid.", NameType("search"), "SEARCH"),
            Option("--baseline", "Run to gain upon. Default: the method with its own parameters, or the first run.", str, "NAME"),
            Option("--guardrail guardrails", "A metric that must not fall, optionally by more than a limit: R@100=1%. May be repeated.", str, "METRIC[=X]", multiple=True, read=list),
            Option("--folds", "Number of parts of the queries; each is scored with the choice of the others.", WholeNumber(min=2), "N", default=5),
            shared.TEST, shared.INTERVAL, shared.ALPHA, shared.CLUSTERS, POLICIES, shared.SETTINGS, shared.PRINTED, shared.RANKING,
            Option("--held-out", "Write the run that ranks each query with the choice of the other folds.", PLACE, to="command"),
        ),
        verb="rankscope.verbs.tune.tune", bar=True),
    Command("diversify", "Reorder a run so that its top covers more.",
        """Reorder the first documents of each ranking of RUN so that they repeat each other less, or cover features in proportion.

        MMR and DPP take any --features or --docs-text. xQuAD, PM2 and Calibrated take --features with categories. With --qrels the run is scored before
        and after, and at several levels of diversity.""",
        (
            "diversify bm25.run --method MMR --docs-text docs.jsonl -o diverse.run",
            'diversify bm25.run --method "xQuAD(diversity=0.3)" --features subtopics.csv --qrels qrels.txt -o diverse.run',
            "diversify movies.run --method Calibrated --features genres.csv --targets history.csv --qrels qrels.txt",
        ),
        (
            shared.RUNS, Option("--method", "Diversifier, like MMR(diversity=0.5): {names}. Default: MMR.", NameType("diversifier"), "METHOD"),
            Option("--features", "Categories or vectors of documents: a table of doc_id and feature, or of doc_id and a number per column.", FILE),
            Option("--docs-text", "Document texts, if there are no features: TSV, CSV, JSONL (BEIR) or TREC documents.", FILE),
            Option("--targets", "Shares of features that each query wants: a table of query_id, feature, weight. Default: as in its documents.", FILE),
            Option("--pool", "Documents of each query to reorder.", NUMBER, "N", default=100),
            Option("--qrels", "Judgments, to score the run before and after.", FILE),
            shared.metric("A metric, like alpha_nDCG@10; may be repeated. Default: alpha_nDCG@10 ERR_IA@10 nDCG@10."),
            Option("--levels", "Levels of diversity to score, like 0,0.5,1.", str, "X,...", read=lambda text: read_numbers("--levels", [text])),
            shared.NAME_OF_RUN, shared.TEST, shared.INTERVAL, shared.ALPHA, POLICIES, shared.SETTINGS, shared.QUIET, shared.PRINTED, shared.RANKING,
        ),
        verb="rankscope.verbs.diversify.diversify", usage="RUN -o FILE"),
    Command("rerank", "Reorder the top of a run by scores of texts.",
        """Reorder the first documents of each ranking of RUN by a scorer of texts, and measure quality and latency at each depth.

        A scorer is a function from a query and a list of texts to a list of scores: file.py:function or module:function. Models of
        sentence-transformers are named cross-encoder:MODEL (a name or a folder).""",
        (
            "rerank bm25.run --scorer overlap.py:score --queries-text queries.tsv --docs-text docs.tsv -o reranked.run",
            "rerank bm25.run --scorer cross-encoder:models/minilm --queries-text q.tsv --docs-text d.tsv --depths 10,50,100 --qrels qrels.txt",
        ),
        (
            shared.RUNS, Option("--scorer", "Scorer: file.py:function, module:function or cross-encoder:MODEL.", str, "SCORER", read=scorer_named),
            Option("--queries-text", "Query texts: TSV, CSV, JSONL (BEIR) or TREC topics.", FILE),
            Option("--docs-text", "Document texts: TSV, CSV, JSONL (BEIR) or TREC documents.", FILE),
            Option("--depths", "Numbers of documents to reorder, like 10,50,100. Default: 100.", str, "N,...", read=whole_numbers("--depths")),
            Option("--qrels", "Judgments, to compare each depth with the run.", FILE),
            shared.metric("A metric, like nDCG@10; the first decides. May be repeated. Default: nDCG@10."),
            shared.NAME_OF_RUN, shared.TEST, shared.INTERVAL, shared.CORRECTION, shared.ALPHA, POLICIES, shared.SETTINGS, shared.QUIET, shared.PRINTED, shared.RANKING,
        ),
        verb="rankscope.verbs.rerank.rerank", usage="RUN --scorer SCORER -o FILE"),
    Command("learn", "Train rankers on features, and compare them on test queries.",
        """Train rankers on the labelled features in TRAIN (LETOR or SVMlight), and compare them with the best single feature on the queries of TEST.

        Without TEST a quarter of the queries is the test. With --clicks models learn from a log instead of the labels; --examination corrects its
        position bias.""",
        (
            "learn train.txt test.txt --learner LambdaMART --learner Linear -m nDCG@5",
            'learn train.txt --learner "LambdaMART(objective=rank_xendcg, truncation=10)" --learner XGBoost',
            "learn train.txt test.txt --clicks log.parquet --examination curve.json -o model.run --model model.txt",
        ),
        (
            click.Argument(["runs"], type=FILE, nargs=-1, metavar="TRAIN [TEST]"),
            Option("--learner learners", "Learner, like LambdaMART(truncation=10): {names}. May be repeated. Default: LambdaMART.", NameType("learner"), "LEARNER", multiple=True, read=list),
            shared.metric("A metric, like nDCG@5; the first stops training. May be repeated. Default: nDCG@10."),
            Option("--group", "Group sizes of TRAIN, if it has no qid. Default: its name with .query or .group.", FILE),
            Option("--test-group", "Group sizes of TEST. Default: its name with .query or .group.", FILE),
            Option("--valid", "Features that stop the training of trees. Default: a fifth of the training queries.", FILE),
            Option("--test-share", "Share of the queries that are the test, if there is no TEST.", float, "X", default=0.25),
            Option("--valid-share", "Share of the training queries that stop the training of trees.", float, "X", default=0.2),
            Option("--clicks", "Log of clicks to learn from: query_id, item_id, position, click and impression_id.", FILE),
            Option("--examination", "Probability of examination by position, as rankscope position-bias writes it.", FILE),
            Option("--test test_method", "Test of the differences: {names}; with parameters: permutation(rounds=20000). Default: t.", NameType("test"), "TEST"),
            shared.INTERVAL, shared.CORRECTION, shared.ALPHA, POLICIES, shared.SETTINGS, shared.QUIET, shared.PRINTED,
            Option("-o --output ranking", f"Write the test run of the first learner to FILE: {shared.RUN_FILE}", PLACE, to="command"),
            Option("--model saved_model", "Write the first model in the format of its library.", PLACE, to="command"),
        ),
        verb="rankscope.verbs.learn.learn", usage="TRAIN [TEST]"),
    Command("interleave", "Mix two or more rankings into lists to show to users.",
        """Mix the rankings of RUNs, query by query, into one list that users see, and write the lists to FILE.

        Ways of mixing: TeamDraft Balanced DebiasedBalanced Probabilistic Optimised PairwisePreference. FILE has one row per item, with the
        ranker that contributed it (team), its ranks, and the credit of a click. rankscope interleaving analyses the clicks.""",
        (
            'interleave old.run new.run -k 10 --method "TeamDraft()" --seed 7 -o lists.jsonl',
            'interleave a.run b.run c.run --method "Probabilistic(tau=3)" -o lists.csv',
        ),
        (
            shared.RUNS,
            Option("--method", "Way of mixing, like TeamDraft() or Probabilistic(tau=3): {names}. Default: TeamDraft.", NameType("mixing"), "METHOD"),
            Option("-k", "Number of documents per list. Default: 10.", NUMBER, "N"),
            Option("--seed", "Seed of all random choices. Default: 0.", WholeNumber(min=0), "N"),
            ScoringOptions(only=("ties", "duplicates", "columns")), shared.QUIET,
            Option("-o --output out", "Write the lists to FILE (.jsonl .csv .tsv .parquet; also .gz).", PLACE, to="command"),
        ),
        verb="rankscope.verbs.interleave.interleave", usage="RUN RUN... -o FILE"),
    Command("interleaving", "Find the ranker that users prefer, from interleaved lists.",
        """Analyse a LOG of interleaved lists with clicks: the preference between rankers, with its interval.

        The preference is the number of lists won less lists lost, out of lists with a click; above 0 users prefer the first ranker. The user
        is the unit, if the log names users. The verdict is withheld (exit code 3) if the mixing was not fair.""",
        (
            "interleaving log.parquet",
            "interleaving log.parquet --pairs competitive --slices country",
            'interleaving log.parquet --credit "TeamCredit(dwell=30)" --test anytime',
            "interleaving log.jsonl --test sign --format json",
        ),
        (
            shared.LOG,
            Option("--credit", "Credit of a click: {names}; with parameters: TeamCredit(dwell=30). Default: by the recorded way of mixing.", NameType("credit"), "CREDIT"),
            Option("--pairs", "Pairs of items to count: all, or only those that rankers disagree about. Default: all.", ("all", "competitive")),
            Option("--baseline", "Ranker that others are compared with, named last. Default: the last.", str, "NAME"),
            Option("--margin", "Negligible preference, like 0.02: test if rankers are practically the same.", str, "X", multiple=True, read=read_margin),
            Option("--slices", "A column of attributes: also compare within each value; may be repeated.", str, "COLUMN", multiple=True, read=list),
            shared.TEST, shared.INTERVAL, shared.CORRECTION, shared.ALPHA, shared.LOG_COLUMNS, shared.log_format(), *shared.TIMES, shared.QUIET, *shared.OUTPUT,
        ),
        verb="rankscope.verbs.interleaving.interleaving", usage="LOG"),
    Command("merge", "Combine the parts of an evaluation.",
        """Combine the files written by rankscope evaluate --partition into one result.

        Numbers, intervals, warnings and notes are the same as in one evaluation of the whole run. PARTs may be in any order, or a folder.""",
        (
            "merge part*.parquet",
            "merge parts/ --per-query -o scores.csv",
        ),
        (
            click.Argument(["parts"], type=FILE, nargs=-1, metavar="PART..."),
            ScoringOptions(("ignore",)), shared.SETTINGS, shared.QUIET, shared.PER_QUERY, shared.DISTRIBUTION, *shared.output(*shared.FORMATS, "latex", "trec"), *shared.PAPER,
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
                "Write the page to FILE without opening it. - is standard output. Default: playground.html, opened.", PLACE, to="command"),
        ),
    ),
    Command("metrics", "List the metrics, or explain one.",
        """List all metrics or the metrics of a family or a set, or explain some.""",
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
            Option("--plot", "Draw the weight of each rank in a metric. -o FILE.svg, .png or .pdf for a figure.", bool, to="command"),
            *shared.output("table", "json", more="; .svg .png .pdf with --plot"),
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
)  # fmt: skip
# fmt: on
