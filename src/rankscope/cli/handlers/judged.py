"""Commands that score rankings by judgments, or gate and report them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankscope import words
from rankscope.cli import output
from rankscope.cli.runner import Call
from rankscope.errors import InputError

if TYPE_CHECKING:
    from rankscope.impressions import Log
    from rankscope.scoring.scores import Scores

SPREAD = ("table", "json", "markdown", "latex")  # formats that have room for --distribution


# options of compare whose results are of one collection
OF_ONE = ("methods", "record", "launch", "details", "bayes", "risk", "slices", "costs", "limits", "tried", "predicted")
SUMMARY = "GITHUB_STEP_SUMMARY"


def evaluate(call: Call) -> int:
    """Score rankings, or one part of one."""
    by_spark, master = call.params["engine"] == "spark", call.params["master"]
    if master is not None and not by_spark:
        raise InputError("--master is the address of Spark: add --engine spark")
    if by_spark and (apart := next((name for name in ("partition", "resume") if name in call.options), None)):
        raise InputError(
            f"--{apart} is for one machine, as Spark parts the work itself: leave out --{apart}, or --engine spark"
        )
    if "slices" not in call.explicit and (by_spark or "partition" in call.options or call.params["form"] == "trec"):
        call.options.pop("slices", None)  # a project's slices are for evaluations that can show them
    if "partition" in call.options:
        return _evaluate_partition(call)
    _refuse_distribution(call)
    scores = call.result(verb=_spark_verb(master) if by_spark else None)
    return _write_methods(call, scores) if call.params["methods"] else _show(call, scores)


def compare(call: Call) -> int:
    """Compare runs, or print how they were compared."""
    if call.params["collections"]:
        from rankscope.verbs.compare.collections import compare_collections

        if alone := next((name for name in OF_ONE if name in call.explicit), None):
            raise InputError(
                f"{words.option_named(alone)} is for one collection: leave it out, or compare each folder by itself"
            )
        return call.show(
            compare_collections([one for one in (call.qrels, *call.runs) if one], call.metrics, **call.options)
        )
    result = call.result()
    return _write_methods(call, result) if call.params["methods"] else call.show(result)


def _write_methods(call: Call, result: Any) -> int:
    output.write([result.methods], call.out)
    return 0


def _refuse_distribution(call: Call) -> None:
    if "distribution" in call.display and call.form not in SPREAD:
        raise InputError(f"--distribution is written as {', '.join(SPREAD)}, not as {call.form}")


def _evaluate_partition(call: Call) -> int:
    """Judge one part of a run and write it. A part is not a result, so nothing is printed."""
    if call.out is None or Path(call.out).suffix.lower() not in {".parquet", ".pq"}:
        raise InputError("--partition writes its part to a Parquet file: name it, like -o part3.parquet")
    if call.display or call.params["form"] is not None:
        option = "--format" if not call.display else f"--{next(iter(call.display)).replace('_', '-')}"
        raise InputError(
            f"{option}: a part is not a result, rankscope merge shows the result of all parts: leave it out"
        )
    call.check(of_result=False)
    arguments, options = call.arguments()
    part = call.command.function(*arguments, call.metrics, **options)
    part.save(call.out)
    output.say_where(call.out, str(part), call.quiet)
    return 0


def merge(call: Call) -> int:
    """Put parts together. The result is written as evaluate writes it."""
    parts = list(call.params["parts"])
    if not parts:
        raise InputError(f"give parts: {call.path} part*.parquet, with the files of rankscope evaluate --partition")
    output.check_place(call.out, parts)
    _refuse_distribution(call)
    _ = call.form
    return _show(call, call.command.function(parts, **call.options))


def _show(call: Call, scores: Scores) -> int:
    """Write scores. A table in the terminal ends with the next command."""
    ends = call.form == "table" and call.out is None and "per_query" not in call.display
    notes = [*scores.reader_notes(), *(scores.request.version_notes() if call.form == "trec" else ())]
    return call.show(scores, notes=notes, **({"next_step": _next(scores)} if ends else {}))


def _spark_verb(master: str | None) -> Callable[..., Scores]:
    def evaluate_by_spark(
        qrels: str, runs: Sequence[tuple[str | None, str]], metrics: Any, *, progress: Any = None, interval: Any = None,
        level: float = 0.95, clusters: Any = None, **policies: Any,
    ) -> Scores:  # fmt: skip
        from rankscope.scoring.request import Request
        from rankscope.scoring.spark.paths import evaluate_paths

        request = Request.of(metrics, policies, interval=interval, level=level, clusters=clusters)
        return evaluate_paths(master, qrels, runs, request, progress)

    return evaluate_by_spark


def _next(scores: Scores) -> str:
    if len(scores.runs) > 1:
        return "next: rankscope compare QRELS RUN RUN tests differences · --per-query shows every query"
    first = next((m for m in scores.metrics if m.aggregate != "sum"), scores.metrics[0])
    name = type(first).__name__
    return f"next: --per-query shows every query · rankscope metrics {name} explains {name}"


def report(call: Call) -> int:
    """Write a page and its exports, and print the verdict."""
    from rankscope.blocks import Paragraph
    from rankscope.reporting import check_folder

    out, folder = str(call.out), call.params["export"]
    output.check_page(out, call.reads())
    if folder is not None:
        check_folder(folder)
    again = command_again(call.ctx.obj)
    if call.log is not None and _reads_a_log(call):
        from rankscope.scoring.logs import read_log

        call.check()
        call.options["log"] = read_log(
            call.log, log_format=call.params["log_format"], time_format=call.params["time_format"]
        )
        page = call.result(command=again)
    else:
        page = _of_log(call, command=again) or call.result(command=again)
    if not call.quiet:
        output.report(page.notes)
    html = page.html
    output.write([html], out)
    output.say_where(out, f"{words.number(len(html.encode()) / 1e6, digits=1)} MB, opens in a browser", call.quiet)
    if folder is not None:
        output.say_where(folder, words.counted(len(page.export(folder)), "file"), call.quiet)
    if out != "-":
        output.write([output.render([Paragraph(verdict.text) for verdict in page.page.verdicts])], drawn=True)
    return int(page.exit_code)


def _reads_a_log(call: Call) -> bool:
    return any(call.params[name] is not None for name in ("log_format", "time_format"))


def _log(call: Call) -> Log | None:
    """Read and return the log if the only file has the columns of a log."""
    form = call.params["log_format"]
    if call.qrels is None or call.runs or call.of_scores:
        if _reads_a_log(call):
            option = "--time-format" if form is None else "--log-format"
            raise InputError(f"{option} is for a log: leave it out, or give a log without runs")
        return None
    if call.qrels == "-" and form is None:
        return None
    from rankscope.scoring.logs import log_of

    call.check(of_log=True)
    reading = {"columns": call.typed.get("columns"), "log_format": form, "time_format": call.params["time_format"]}
    if (plan := call.typed.get("plan")) is not None:
        from rankscope.experiments.plan import read_plan

        reading = read_plan(plan).reading(reading)
    return log_of(call.qrels, target=call.typed.get("target"), **reading)


def _of_log(call: Call, *systems: Any, log: Any = None, **more: Any) -> Any:
    """Return the result of the verb on the log that is the only input. None without a log."""
    log = _log(call) if log is None else log
    if log is None:
        return None
    if call.log_options != call.typed:
        call.say_settings()
    metrics = list(call.params["metrics"]) or None
    return call.command.function(log, *(systems or [None]), metrics, **more, **call.log_options)


def command_again(arguments: Iterable[str]) -> str:
    """Return the typed command without its output options: the same page has the same text."""
    line, rest = iter(arguments), []
    for word in line:
        if word in {"-o", "--output", "--export"}:
            next(line, None)
        elif not word.startswith(("-o", "--output=", "--export=")) and word not in {"-q", "--quiet"}:
            rest.append(word)
    return shlex.join(["rankscope", *rest])


def explain(call: Call) -> int:
    """Explain a score or a difference; without a query, and of one ranking or of many, diagnose."""
    metrics = call.metrics or ["nDCG@10"]
    if len(metrics) > 1:
        raise InputError(f"there are {words.counted(len(metrics), 'metric')}: name one, like -m {metrics[0]}")
    if "query" not in call.options and "docs_text" in call.options:
        raise InputError("--docs-text shows documents of one ranking: name its query, like --query 7, or leave it out")
    if "query" in call.options or len(call.files) == 2:
        return call.show(call.result(metrics[0]))
    from rankscope.verbs.diagnose.diagnose import diagnose

    return call.show(call.result(metrics[0], verb=diagnose))


def reproduce(call: Call) -> int:
    """Compare a reproduced run with the original. Judgments may come before the two."""
    files = [(None, call.qrels), *call.files] if call.qrels is not None else call.files
    if len(files) not in {2, 3}:
        example = f"{call.path} original.run mine.run, or {call.path} qrels.txt original.run mine.run"
        raise InputError(f"there {words.agree(len(files), 'is')} {words.counted(len(files), 'file')}: {example}")
    call.check()
    call.say_settings()
    *qrels, original, mine = files
    named = [path if name is None else {name: path} for name, path in (original, mine)]
    judged = {"qrels": qrels[0][1]} if qrels else {}
    return call.show(call.command.function(*named, call.metrics, **judged, **call.options))


def check(call: Call) -> int:
    """Find data problems, or explain one rule, or list all."""
    code = call.params["explain"]
    if code is None and not call.params["list"]:
        # the findings are the rows of every format: no need to repeat them
        log = _log(call) if _reads_a_log(call) else None
        single = call.qrels is not None and not call.runs
        if single:
            call.check()
        if single and (call.params["train"] or call.options.get("history")):
            result = call.command.function(call.qrels, None, call.metrics, **call.options)
        else:
            result = _of_log(call, log=log or call.qrels) if single else call.result()
        exit_code = call.show(result, warnings=())
        return 0 if call.params["exit_zero"] and exit_code == 1 else exit_code
    from rankscope.verbs.check.check import rules

    call.check()
    return call.show(rules(code))


def power(call: Call) -> int:
    """Plan from judgments and runs, from known differences, or from a single log."""
    of_log = call.params["design"] == "interleaving"
    without_files = not of_log and any(name in call.explicit for name in call.command.alone)
    return call.show((None if without_files else _of_log(call)) or call.result())


def gate(call: Call) -> int:
    """Pass or fail a change: set the exit code and write the reports of continuous integration."""
    summary, junit = os.environ.get(SUMMARY), call.params["junit"]
    if call.params["github_summary"] and not summary:
        remedy = "elsewhere use --format markdown -o FILE"
        raise InputError(f"--github-summary: {SUMMARY} is not set, as it is in GitHub Actions; {remedy}")
    verdict = _verdict(call)
    scores = getattr(verdict, "scores", None)  # a log has no scores
    settings = call.settings.place if call.settings and (scores is not None or call.log_options != call.typed) else ""
    code = call.show(verdict, [*(scores.notes if scores is not None else ()), *verdict.notes], settings=settings)
    if call.out not in {None, "-"} and not call.quiet:  # the log of a job has the verdict in any case
        output.say(verdict.sentence)
    if junit is not None:
        output.write([verdict.to_junit()], junit)
        output.say_where(junit, "JUnit XML", call.quiet)
    if call.params["github_summary"] and summary:  # the file that shows on the page of a job
        try:
            with open(summary, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(verdict.to_markdown() + "\n")
        except OSError as error:
            raise InputError(f"{summary}: cannot be written: {error.strerror or error} ({SUMMARY})") from None
    return code


def _verdict(call: Call) -> Any:
    """Return the verdict on two runs, or on the variants of a log. These may be named in place of runs."""
    both = call.params["baseline"], call.params["candidate"]
    from rankscope.verbs.gate.log import check_of_variants, error_of_judgments, log_to_gate

    if call.qrels is not None:
        call.check(of_log=True)
        check_of_variants(**{name: call.typed.get(name) for name in ("split", "covariates", "winsorise")})
        reading = {name: call.typed.get(name) for name in ("target", "plan", "log_format", "time_format")}
        log = log_to_gate(call.qrels, *both, call.typed.get("variant"), call.typed.get("columns"), **reading)
        if log is not None:
            return _of_log(call, *both, log=log)
    if None in both or call.qrels is None:
        like = f"{call.path} {call.command.usage}, like {call.path} qrels.txt main.run branch.run"
        error = InputError(
            f"a gate takes judgments and two runs: {like}, or the log of an experiment: {call.path} log.parquet"
        )
        raise error if call.qrels is None else error_of_judgments(call.qrels, call.typed.get("columns"), error)
    return call.result()


def unjudged(call: Call) -> int:
    """Measure the effect of unjudged documents, and write the documents to judge."""
    place = call.params["worklist"]
    if place == "-":
        raise InputError("--worklist -: name a file for the documents to judge, like judge.csv")
    result = call.result()
    code = call.show(result)
    if place is not None:
        output.write(result.write("csv", table="to_judge"), place)
        output.say_where(place, f"csv, {words.counted(len(result.worklist), 'document')} to judge", call.quiet)
    return code
