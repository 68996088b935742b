"""The table of commands: what each takes and says of itself, and where its verb lives."""

from __future__ import annotations

from functools import partial

import click

from rankscope.cli.commands import (
    ALL_PAIRS,
    ALPHA,
    ANY_RUNS,
    BASELINE,
    CLUSTERS,
    COMPARISON,
    CORRECTION_NAME,
    DETAILS,
    DISTRIBUTION,
    ENGINE,
    FAMILY_NAME,
    FILE,
    FOLDER,
    FORMATS,
    INTERVAL,
    JUDGED,
    LIMITS,
    LOG,
    LOG_COLUMNS,
    LOG_FORMAT,
    NUMBER,
    OF_VARIANTS,
    ONLINE_NAME,
    OUTPUT,
    PER_QUERY,
    PLACE,
    POLICIES,
    QRELS,
    QUIET,
    SCORES,
    SETTINGS,
    SEVERAL,
    SLICES,
    TASK_NAME,
    TEST,
    Command,
    Option,
    ScoringOptions,
    WholeNumber,
    interval,
    label,
    log_format,
    metric,
    output,
    read_numbers,
    read_parameters,
    tolerances,
)

# fmt: off
COMMANDS = (
    Command("evaluate", "Score rankings against judgments.",
        """Score one or more RUNs against the judgments in QRELS.

        Files may be TREC, CSV, TSV, JSON, JSON lines or Parquet, also compressed; - is standard input. A RUN may
        be given a name: bm25=path/to/file.""",
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
            interval("Of each mean: {names}; with parameters: bca(rounds=20000). Default: t, and wilson for scores of 0 and 1."),
            Option("--level", "The level of intervals, between 0.5 and 1; from 1 to 10 it is that of --relevance-level.", float, default=0.95),
            CLUSTERS, SLICES, *ENGINE, POLICIES, SETTINGS, *LIMITS,
            Option("--partition",
                "Only the I-th of N parts of one run, written to -o part.parquet; rankscope merge makes the result of all.",
                str, "I/N"),
            Option("--resume", "Keep what is judged of large files in DIR, and go on from it after an interruption.", FOLDER),
            *output(*FORMATS, "latex", "trec", more="; .parquet with --partition"),
        ),
        verb="rankscope.verbs.evaluate.evaluate", way="evaluate", bar=True),
    Command("compare", "Say which run is better, and whether the difference is real.",
        """Compare RUNs, judged by QRELS, with the first of them or with --baseline.

        A run given several times under one name (a=1.run a=2.run) is one system that ran several times: its scores are averaged
        query by query. With --scores, files hold scores that were computed elsewhere.""",
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
            Option("--caption", "With --format latex: what stands above the table.", str, "TEXT", to="result", form="latex"),
            Option("--label", "With --format latex: what the text refers to the table by. Default: tab:systems.", str, "NAME", to="result", form="latex",
                read=label),
            Option("--digits", "With --format latex: digits after the decimal point. Default: 3.", WholeNumber(min=1, max=9), "N", to="result",
                form="latex"),
        ),
        verb="rankscope.verbs.compare.compare", usage="QRELS RUN RUN...", bar=True),
    Command("report", "Make one page of it all: verdict, charts, every query to look into.",
        """Make one HTML page of RUNs judged by QRELS, to be opened without a network.

        The answer comes first, with the scoreboard and one thing to doubt; then every query with its rankings side by side, and what it
        rests on, closed until it is opened. The first RUN (or --baseline) is what the others are compared with, from four RUNs on the
        best one; one RUN alone makes a page, too. One file alone may be a log of what users did.

        With --log the page says whether judgments and users point the same way. Runs that are called as variants are these
        (control=old.run treatment=new.run); of two and two the first run is the baseline.""",
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
            Option("--log", "The log of an experiment on the same change (CSV, JSON lines, Parquet): do judgments and users agree?", FILE),
            Option("--online", "With --log: an online metric, like CTR; the first decides.", ONLINE_NAME, "METRIC", multiple=True, read=list),
            Option("--split", "Of a log: the planned shares, A=0.9,B=0.1. Default: even.", str, "NAME=X,..."),
            Option("--guardrail guardrails", "Of a log: a metric that must not get worse, maybe with the loss that would be accepted: RPM=1%.",
                str, "METRIC[=X]", multiple=True, read=list),
            Option("--covariate covariates", "Of a log: what was known of users before, 'Mean(revenue)=revenue_before'.", str, "METRIC=COLUMN",
                multiple=True, read=list),
            Option("--prior", "Of a log: also a Bayesian summary, flat or how far lifts usually are from 0, like 0.05.", str, "flat|X"),
            Option("--queries-text", "Texts of the queries: TSV, CSV, JSONL (BEIR) or TREC topics.", FILE),
            Option("--docs-text", "Texts of the documents: TSV, CSV, JSONL (BEIR) or TREC documents.", FILE),
            Option("--title", "What stands on top. Default: the runs.", str, "TEXT"),
            Option("--about", "What stands below it: what a reader should know of the data.", str, "TEXT"),
            Option("--shown", "Documents shown of each ranking. Default: as many as there is room for, up to 20.", NUMBER, "N"),
            Option("--notes", "Notes and grades that were saved from an earlier page (JSON).", FILE),
            log_format(to="command"),
            Option("--export", "Also write every table (CSV, JSON) and figure (SVG, PNG, PDF, with and without its title) into DIR.", FOLDER, to="command"),
            *COMPARISON, POLICIES, *LIMITS,
            Option("-o --output out",
                "The page, one HTML file; - is standard output.", PLACE, to="command", default="report.html"),
        ),
        verb="rankscope.reporting.report", way="report", of_log=("slices",), bar=True),
    Command("explain", "Say why a ranking scores what it scores, or why two differ.",
        """Explain the score of one query, rank by rank; with two RUNs, the difference between them.

        Without --query: for one RUN (or several) what it loses over all queries and why, for two where in the ranking their
        difference comes from (add --query to see documents).""",
        (
            "explain qrels.txt my.run --query 7 -m nDCG@10",
            "explain qrels.txt old.run new.run --query 7 -m AP",
            "explain qrels.txt my.run --query 7 --docs-text docs.jsonl",
            "explain qrels.txt old.run new.run",
            "explain qrels.txt my.run",
        ),
        (
            *JUDGED, metric("A metric, like nDCG@10 (the default)."), QUIET,
            Option("--query", "The query to explain.", str, "ID"),
            Option("--docs-text", "With --query: texts of the documents, shown beneath it; TSV, CSV, JSONL (BEIR) or TREC documents.", FILE),
            POLICIES, SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.explain.explain", way="explain", usage="QRELS RUN [RUN] --query ID"),
    Command("check", "Find what can make a number wrong.",
        """Find what can make a number wrong, unfair or misleading: a linter for evaluations, and for logs.

        One file alone is looked at as a LOG of what users were shown and did. Every rule has a code. Exits with 1 if there is a warning, with 0 otherwise.""",
        ("check qrels.txt my.run", "check qrels.txt a.run b.run -m nDCG@10 --ignore RS102", "check log.parquet", "check --explain RS101"),
        (
            *JUDGED, metric("A metric, like nDCG@10; may be repeated."), QUIET,
            Option("--select", "Only these rules: RS101, or RS1 for a family.", str, "CODES", multiple=True),
            Option("--exit-zero", "Exit with 0 even if there are warnings.", bool, to="command"),
            Option("--explain", "Explain a rule: what it is about, why it matters, what to do.", str, "CODE", to="command"),
            Option("--list list", "List all rules.", bool, to="command"),
            Option("--scale", "The intended scale of the grades, like 0-3.", str, "LOW-HIGH"),
            Option("--train", "Interactions that a recommender was trained on.", FILE),
            Option("--docs-text", "Texts of documents: JSONL, TSV, CSV, Parquet or TREC documents.", FILE),
            Option("--covariate covariates", "Of a log: a column that was measured before the experiment began.", str, "COLUMN", multiple=True),
            log_format(to="command"),
            ScoringOptions(helps={"ignore": "All rules but these: RS101, or RS1 for a family; may be repeated."}), SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.check.check", way="check", alone=("explain", "list")),
    Command("gate", "Pass or fail a change, for continuous integration.",
        """Say whether CANDIDATE may replace BASELINE: exit code 0 pass, 1 fail, 4 cannot tell.

        Every metric, on all queries and on every slice, is a check. It passes if the 95% interval of its difference lies above minus
        the tolerance, or if nothing changed. It fails if a loss is proved (Holm-corrected for all checks). If fewer than 6 queries
        differ, the losses alone must stay within the tolerance, and no error rate is promised. BASELINE is a run, or the JSON that
        rankscope evaluate QRELS RUN --per-query -o baseline.json wrote.

        The LOG of an experiment may stand in the place of QRELS: each variant is gated against the baseline, or those that BASELINE and
        CANDIDATE name. Exit code 3 where users were not split as planned.""",
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
            metric("A metric that must pass, like nDCG@10 (the default), of a log CTR; may be repeated, or several in quotes."),
            QUIET,
            Option("--tolerance",
                "How much worse the candidate may be: a number, a percentage of the baseline's mean, or one of these for a "
                "metric; may be repeated. Default: 0.01 for metrics from 0 to 1, 1% of a log. 0 requires a proved improvement "
                "wherever six or more queries changed.", str, "0.01|2%|METRIC=0.02", multiple=True, read=tolerances),
            Option("--fail-on",
                "What fails: a proved loss that is not certain to stay within the tolerance, or only a proved loss of more than"
                " it.", ("loss", "tolerance"), default="loss"),
            ALPHA,
            Option("--slices", "A CSV of attributes of queries: each of their values must pass, too. Of a log: columns of it, country,device.", FILE),
            CLUSTERS, INTERVAL, TEST, *OF_VARIANTS, LOG_FORMAT, POLICIES, *LIMITS, SETTINGS,
            Option("--junit", "Also write JUnit XML to FILE.", PLACE, to="command"),
            Option("--github-summary", "Also append Markdown to the job's summary ($GITHUB_STEP_SUMMARY).", bool, to="command"),
            *OUTPUT,
        ),
        verb="rankscope.verbs.gate.gate", way="gate", usage="QRELS BASELINE CANDIDATE", of_log=("slices",), bar=True),
    Command("online", "Say what users did: clicks, conversions, returns, from a log.",
        """Compute online metrics of a LOG of what users were shown and did: a row a shown item, or a row a user.

        Files may be CSV, TSV, JSON lines or Parquet, also compressed, or a folder of them. Intervals hold where users come back,
        as far as the log names them. Columns are known by their usual names: item, position, clicked, user, time ...""",
        (
            "online log.parquet",
            "online log.csv -m CTR -m SatisfiedClicks --by day --by position",
            "online log.parquet -m Retention@7 --columns visitor=unit_id",
            "online log.csv -m CTR --slices country --slices device",
            'online users.csv -m "Ratio(orders, sessions)"',
        ),
        (
            LOG,
            Option("-m --metric metrics", "An online metric, like CTR; may be repeated. Default: all that the columns allow.",
                   ONLINE_NAME, "METRIC", multiple=True, to="command"),
            QUIET, LOG_COLUMNS, LOG_FORMAT,
            Option("--by", "Also by day, or by position.", ("day", "position"), multiple=True),
            Option("--slices", "A column of the log: each of its values is looked at, too; may be repeated.", str, "COLUMN", multiple=True),
            Option("--level", "The level of intervals, between 0.5 and 1.", float, default=0.95),
            Option("--ignore", "Leave out these warnings: RS611, or RS6 for a family; may be repeated.", str, "CODES", multiple=True, read=list),
            *OUTPUT,
        ),
        verb="rankscope.verbs.online.online", usage="LOG"),
    Command("power", "What difference queries can detect, and how many it takes.",
        """What difference the queries at hand can detect, and how many queries others need.

        From RUNs, judged by QRELS: the results hold for queries like these. Without runs, from the standard deviation of
        the differences, or by a design for a test collection. From a LOG of what users did: how many users and days an experiment takes.""",
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
            Option("--lift", "Of a log of what users did: a relative difference to detect, like 2%; may be repeated.", str, "X", multiple=True, read=list),
            Option("--covariate covariates", "Of a log: what was known of users before, 'Mean(revenue)=revenue_before'.", str, "METRIC=COLUMN",
                multiple=True, read=list),
            log_format(to="command"),
            Option("--share", "Of a log: the share of users who would get the new variant. Default: 0.5.", float, "X"),
            Option("--difference",
                "A difference to detect, like 0.02; may be repeated. Default: 0.01, 0.02, 0.05 and the observed one.", float, "X", multiple=True),
            Option("--power", "The chance to detect a difference that is there.", float, default=0.8),
            ALPHA,
            Option("--comparisons", "How many comparisons you will make: each gets alpha / M.", NUMBER, "M", default=1),
            Option("-n", "Plan for N queries instead of those at hand.", WholeNumber(min=2), "N"),
            BASELINE, ALL_PAIRS, CLUSTERS, SCORES,
            Option("--deviation", "Without runs: the standard deviation of the differences, known from elsewhere.", float, "S"),
            Option("--design",
                "Without runs: topics of a collection, for a --difference with a t test or an analysis of variance, or for a "
                "--width.", ("t", "anova", "interval")),
            Option("--variance", "For --design: of differences (t, interval), within systems (anova).", float, "V"),
            Option("--systems", "For --design anova: how many systems will be compared.", WholeNumber(), "M"),
            Option("--width", "For --design interval: from end to end.", float, "W", multiple=True),
            DETAILS, POLICIES, SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.power.power", way="power", usage="QRELS RUN RUN...", alone=("deviation", "design", "variance", "width"), bar=True),
    Command("unjudged", "Say how much depends on unjudged documents.",
        """Say how much depends on unjudged documents: the bounds of each value and difference, how many would have to be
        relevant to turn a verdict, and which to judge next.""",
        (
            "unjudged qrels.txt my.run -m nDCG@10",
            "unjudged qrels.txt old.run new.run -m nDCG@10 -m P@5",
            "unjudged qrels.txt old.run new.run --worklist judge.csv -n 200",
        ),
        (
            *JUDGED,
            metric("A metric, like nDCG@10 (the default); may be repeated. The worklist is made for the first."),
            QUIET, BASELINE,
            Option("--grade", "The best grade a document can get. Default: the highest of the qrels.", float, "X"),
            Option("-n", "Documents to judge.", WholeNumber(min=0), "N", default=50),
            Option("--worklist",
                "Write the documents to judge to FILE, as CSV: query, document, ranks and effect.", PLACE, to="command"),
            POLICIES, SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.unjudged.unjudged", way="unjudged"),
    Command("experiment", "Say which variant of an experiment is better for users.",
        """Analyse an experiment from a LOG: a row a shown item, or a row a user with numbers.

        Rows are rolled up to the users who were given variants, and these are compared. First it is checked that users were split as planned; where
        they were not, the verdict is withheld (exit code 3).""",
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
            Option("--primary", "The metric that decides. Default: the first.", str, "METRIC"),
            Option("--guardrail guardrails", "A metric that must not get worse, maybe with the loss that would be accepted: RPM=1%.",
                str, "METRIC[=X]", multiple=True, read=list),
            Option("--margin", "A difference that would not matter, 0.01 or 1% of the baseline: tests whether variants are practically the same; may be repeated.",
                str, "[METRIC=]X", multiple=True, read=list),
            Option("--variant", "The column of variants, where it has an unusual name.", str, "COLUMN"),
            Option("--baseline", "The variant that others are compared with. Default: control, A or the first.", str, "NAME"),
            Option("--covariate covariates", "What was known of users before, which takes chance away (CUPED): 'Mean(revenue)=revenue_before'.",
                str, "METRIC=COLUMN", multiple=True, read=list),
            Option("--strata", "A column of users' attributes to adjust for.", str, "COLUMN"),
            Option("--split", "The planned shares: A=0.9,B=0.1. Default: even.", str, "NAME=X,..."),
            Option("--winsorise", "Cut what users add at this quantile, like 0.99.", float, "Q"),
            Option("--by", "Also by day: the difference on each, and whether it wears off.", ("day",)),
            Option("--slices", "A column of attributes: variants are compared within each value, too; may be repeated.", str, "COLUMN", multiple=True, read=list),
            TEST, INTERVAL,
            Option("--correction", "For several comparisons: {names}. Default: holm.", CORRECTION_NAME, "NAME"),
            ALPHA,
            Option("--prior", "Also a Bayesian summary: flat, or how far lifts usually are from 0, a standard deviation like 0.05.", str, "flat|X"),
            LOG_COLUMNS, LOG_FORMAT, QUIET, *OUTPUT,
        ),
        verb="rankscope.verbs.experiment.experiment", usage="LOG"),
    Command("simulate", "Make a log of users, or an experiment, whose truth is known.",
        """Make a log of impressions of users who are made up, or an experiment with them: to try things on, to plan by, to test with.

        Users come, ask, look, click, stay, buy, ask again, come back and leave for good. KIND is log, for lists by one or several policies whose
        probabilities the log tells exactly, or experiment, for users who were given variants whose true effect is told. One seed gives one log.""",
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
            Option("--users", "How many users there are. Default: 5000.", NUMBER, "N"),
            Option("--days", "How many days the log spans. Default: 14.", NUMBER, "N"),
            Option("--items", "How many items a list shows. Default: 20.", NUMBER, "N"),
            Option("--seed", "What all that is random depends on.", WholeNumber(min=0), "N", default=0),
            Option("--quality", "Of rankers, from 0 (by chance) to 1 (ideal). Default: 0.6, of an experiment 0.5,0.6.",
                str, "X,...", multiple=True, read=partial(read_numbers, "--quality")),
            Option("--policy", "How lists are made: Fixed, PlackettLuce(temperature=0.3), EpsilonShuffle(epsilon=0.1), TopShuffle(top=5).",
                str, "POLICY", multiple=True, read=list),
            Option("--browsing", "How users look: PositionBased(decay=0.85) or Cascade(decay=0.77, stop=0.1). Default: PositionBased.", str, "BROWSING"),
            Option("--qrels", "Judgments that say what draws clicks.", FILE, to="command"),
            Option("--run runs", "With --qrels: a ranking to show; may be repeated.", FILE, multiple=True, to="command"),
            Option("--interleave", "Of a log: lists mix two rankers' items (team draft).", bool),
            Option("--split", "Of an experiment: the shares of users of each variant. Default: even.", str, "X,...",
                multiple=True, read=partial(read_numbers, "--split")),
            Option("--truth", "Of an experiment: how many further users meet every variant, to know the truth. Default: 20000.",
                WholeNumber(min=0), "N"),
            Option("-m --metric metrics", "Of an experiment: a metric whose true effect is told; may be repeated.", str, "METRIC", multiple=True, read=list),
            Option("--set parameters", "Another parameter of the world, like taste=0.3 or attraction=(0.1,0.5).", str, "NAME=VALUE",
                multiple=True, to="command", read=read_parameters),
            QUIET,
            Option("--format form", "How to print what was made. Default: table.", FORMATS, to="command"),
            Option("-o --output place", "Write the log to FILE (.parquet .csv .tsv .jsonl; also .gz).", PLACE, to="command"),
            Option("--units", "Write the users to FILE: a row a user, with what each did before.", PLACE, to="command"),
        ),
        verb="rankscope.verbs.simulate.simulate", way="simulate", usage="log|experiment"),
    Command("pool", "Say whether judgments favour the runs that were pooled.",
        """Say whether judgments favour the runs that they were made from: each run is scored without the judgments of the documents
        that it alone found. Also how far metrics order the systems alike (Kendall's tau).""",
        ("pool qrels.txt *.run", 'pool qrels.txt a.run b.run c.run -m "nDCG@10 AP" --pool-depth 50'),
        (
            *JUDGED, metric("A metric, like nDCG@10; may be repeated."), QUIET,
            Option("--pool-depth", "How many documents of each ranking were pooled.", NUMBER, "N", default=100),
            POLICIES, SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.pool.pool", usage="QRELS RUN RUN..."),
    Command("ties", "Say how much equal scores matter.",
        """Say how much equal scores matter: how much of the top k is tied, and how far each metric could move.""",
        ("ties qrels.txt my.run", 'ties qrels.txt a.run b.run -m nDCG@10 -m "RR AP"'),
        (
            *JUDGED, metric("A metric, like nDCG@10; may be repeated."), QUIET, ScoringOptions(("queries", "depth", "columns", "grades", "seed")), SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.ties.ties"),
    Command("reconcile", "Say what other tools print, and why.",
        """Say what other tools print for a metric on these data, and the one reason for each difference.

        With --value, search the conventions for those that give the number. With two runs, say whether the
        choice of convention changes which is best.""",
        (
            "reconcile qrels.txt my.run -m nDCG@10",
            "reconcile qrels.txt my.run -m nDCG@10 --value 0.71",
            "reconcile qrels.txt a.run b.run -m MAP@10",
        ),
        (
            *JUDGED,
            metric("A metric, like nDCG@10 (the default); may be repeated."),
            QUIET,
            Option("--value", "A number that was printed somewhere, like 0.71: say which conventions give it.", str, "X"),
            ScoringOptions(("duplicates", "columns", "grades")), SETTINGS, *OUTPUT,
        ),
        verb="rankscope.verbs.reconcile.reconcile", usage="QRELS RUN -m METRIC"),
    Command("advise", "Recommend metrics that fit the data and the task.",
        """Recommend metrics and cutoffs, the one to declare in advance, and what not to use.

        Considers the judgments, the runs if there are any, and the task.""",
        ("advise qrels.txt", "advise qrels.txt bm25.run dense.run --task web", "advise qrels.txt my.run --task rag --k 8"),
        (
            QRELS, ANY_RUNS,
            Option("--task", "{names}. Default: the task that fits the data best.", TASK_NAME, "TASK"),
            Option("-k --k",
                "How many results people see, the next stage takes, or the context of a language model holds. Default: that of "
                "the task.", NUMBER, "N"),
            ScoringOptions(("duplicates", "columns", "grades"), {"duplicates":
                "A document with several grades or ranks: take the grades for subtopics and refuse the ranks, or keep the first or the best."}),
            SETTINGS, QUIET, *OUTPUT,
        ),
        verb="rankscope.verbs.advise.advise", usage="QRELS [RUN...]"),
    Command("merge", "Put the parts of an evaluation together.",
        """Make the result of an evaluation whose parts were made apart, with rankscope evaluate --partition.

        Numbers, intervals, warnings and notes are those of one evaluation of the whole run. PARTs may be given in any order, or as a folder.""",
        (
            "merge part*.parquet",
            "merge parts/ --per-query -o scores.csv",
        ),
        (
            click.Argument(["parts"], type=FILE, nargs=-1, metavar="PART..."),
            ScoringOptions(("ignore",)), SETTINGS, QUIET, PER_QUERY, DISTRIBUTION, *output(*FORMATS, "latex", "trec"),
        ),
        verb="rankscope.verbs.merge.merge", way="merge", usage="PART..."),
    Command("playground", "Rearrange rankings in a page and see which metrics move.",
        """Make a page of worked examples: rankings to rearrange, and the metrics that move with them.

        Drag a document to another rank or change a grade, and see P, R, RR, AP, DCG, nDCG, ERR and RBP with what every position
        adds. The page needs no network. It opens in the browser where there is a screen for it.""",
        ("playground", "playground --no-open", "playground -o lesson.html"),
        (
            Option("--no-open", "Do not open the page in a browser.", bool, to="command"),
            Option("-o --output out",
                "The page, one HTML file, written and not opened; - is standard output. Default: playground.html, opened.", PLACE, to="command"),
        ),
        way="playground"),
    Command("metrics", "List the metrics, or tell all about one.",
        """List the metrics, those of a family or a set, or tell all about one or some.""",
        (
            "metrics               every metric in a line",
            "metrics nDCG          formula, convention, parameters, an example",
            "metrics ndcg_cut_10   trec_eval's names are known, too",
            "metrics official      those of a set, or of a family, like pairs",
            "metrics --table AP RR compare some: formula, what each is for",
            "metrics RR --plot     what each rank is worth to it",
            "metrics --format json",
        ),
        (
            click.Argument(["names"], type=FAMILY_NAME, nargs=-1, metavar="[NAME]..."),
            Option("--table traits", "Compare them: grades, order, range, formula, what each is best for, and not for.", bool, to="result"),
            Option("--plot", "Draw what each rank is worth to a metric; -o FILE.svg, .png or .pdf for a figure.", bool, to="command"),
            *output("table", "json", more="; .svg .png .pdf with --plot"),
        ),
        verb="rankscope.verbs.catalogue.catalogue", way="metrics"),
    Command("demo", "See it work on three real rankings, offline.",
        """Evaluate three real rankings that come along, offline, and tell how to read the result.""",
        ("demo", "demo --copy demo", "demo --report demo.html"),
        (
            Option("-q --quiet", "The numbers alone, and no notes about what was written.", bool, to="command"),
            Option("--copy", "Copy the demo's files into DIR, to try commands on them.", FOLDER, to="command"),
            Option("--report", "Also write the page that rankscope report makes of them (.html).", PLACE, to="command"),
        ),
        way="demo"),
    Command("completion", "Complete commands, metrics and files in your shell.",
        """Print the script that completes commands, metrics and files in your SHELL.""",
        (
            "completion bash >> ~/.bashrc",
            "completion zsh >> ~/.zshrc",
            "completion fish > ~/.config/fish/completions/rankscope.fish",
        ),
        (click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])),),
        way="completion"),
)
# fmt: on
