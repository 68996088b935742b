"""Command-specific steps beyond read, compute and write: one function per command, called with the parsed command."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankscope import words
from rankscope.cli import output
from rankscope.cli.commands import COMPLETION
from rankscope.cli.runner import Call
from rankscope.errors import InputError

if TYPE_CHECKING:
    from rankscope.impressions import Log
    from rankscope.scoring.scores import Scores

SPREAD = ("table", "json", "markdown", "latex")  # formats that have room for --distribution
SUMMARY = "GITHUB_STEP_SUMMARY"
FIGURES = (".svg", ".png", ".pdf")


def evaluate(call: Call) -> int:
    """Score rankings, or one part of one."""
    by_spark, master = call.params["engine"] == "spark", call.params["master"]
    if master is not None and not by_spark:
        raise InputError("--master sets where Spark runs: add --engine spark")
    if by_spark and (apart := next((name for name in ("partition", "resume") if name in call.options), None)):
        raise InputError(
            f"--{apart} is for one machine; Spark parts the work itself: leave out --{apart}, or --engine spark"
        )
    if "slices" not in call.explicit and (by_spark or "partition" in call.options or call.params["form"] == "trec"):
        call.options.pop("slices", None)  # a project's slices are for evaluations that can show them
    if "partition" in call.options:
        return _evaluate_partition(call)
    _refuse_distribution(call)
    return _show(call, call.result(verb=_spark_verb(master) if by_spark else None))


def _refuse_distribution(call: Call) -> None:
    """Refuse --distribution in a format that has no room for it."""
    if "distribution" in call.display and call.form not in SPREAD:
        raise InputError(f"--distribution is written as {', '.join(SPREAD)}, not as {call.form}")


def _evaluate_partition(call: Call) -> int:
    """Judge one part of a run and write it; a part is not a result, so nothing is printed."""
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
    """Put parts together; the result is written as evaluate writes it."""
    parts = list(call.params["parts"])
    if not parts:
        raise InputError(
            f"no part was given: {call.path} part*.parquet, with the files of rankscope evaluate --partition"
        )
    output.check_place(call.out, parts)
    _refuse_distribution(call)
    _ = call.form
    return _show(call, call.command.function(parts, **call.options))


def _show(call: Call, scores: Scores) -> int:
    """Write scores; a table in the terminal ends with the next command."""
    ends = call.form == "table" and call.out is None and "per_query" not in call.display
    return call.show(scores, notes=scores.reader_notes(), **({"next_step": _next(scores)} if ends else {}))


def _spark_verb(master: str | None) -> Callable[..., Scores]:
    """The verb evaluate, on files that Spark reads."""

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
    again = _command_again(call.ctx.obj)
    if call.log is not None and call.params["log_format"] is not None:
        from rankscope.scoring.logs import read_log

        call.check()
        call.options["log"] = read_log(call.log, log_format=call.params["log_format"])
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
    return 0


def _log(call: Call) -> Log | None:
    """Read and return the log if the only file has the columns of a log."""
    form = call.params["log_format"]
    if call.qrels is None or call.runs or call.of_scores:
        if form is not None:
            raise InputError("--log-format is for a log: leave it out, or give a log without runs")
        return None
    if call.qrels == "-" and form is None:
        return None
    from rankscope.scoring.logs import log_of

    call.check(of_log=True)
    return log_of(call.qrels, columns=call.typed.get("columns"), log_format=form)


def _of_log(call: Call, *systems: Any, log: Any = None, **more: Any) -> Any:
    """Return the result of the verb on the log that is the only input; None if there is none."""
    log = _log(call) if log is None else log
    if log is None:
        return None
    if call.log_options != call.typed:
        call.say_settings()
    metrics = list(call.params["metrics"]) or None
    return call.command.function(log, *(systems or [None]), metrics, **more, **call.log_options)


def _command_again(arguments: Iterable[str]) -> str:
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


def check(call: Call) -> int:
    """Find data problems; or explain one rule, or list all."""
    code = call.params["explain"]
    if code is None and not call.params["list"]:
        # the findings are the rows of every format: no need to repeat them
        log = _log(call) if call.params["log_format"] is not None else None
        single = call.qrels is not None and not call.runs
        if single:
            call.check()
        found = _of_log(call, log=log or call.qrels) if single else call.result()
        exit_code = call.show(found, warnings=())
        return 0 if call.params["exit_zero"] and exit_code == 1 else exit_code
    from rankscope.verbs.check.check import rules

    call.check()
    return call.show(rules(code))


def power(call: Call) -> int:
    """Plan from judgments and runs, from known differences, or from a single log."""
    without_files = any(name in call.explicit for name in call.command.alone)
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
    """Return the verdict on two runs, or on the variants of a log; these may be named in place of runs."""
    both = call.params["baseline"], call.params["candidate"]
    from rankscope.verbs.gate.log import check_of_variants, error_of_judgments, log_to_gate

    if call.qrels is not None:
        call.check(of_log=True)
        check_of_variants(**{name: call.typed.get(name) for name in ("split", "covariates", "winsorise")})
        log = log_to_gate(call.qrels, *both, *(call.typed.get(name) for name in ("variant", "columns", "log_format")))
        if log is not None:
            return _of_log(call, *both, log=log)
    if None in both or call.qrels is None:
        like = f"{call.path} {call.command.usage}, like {call.path} qrels.txt main.run branch.run"
        error = InputError(
            f"a gate takes judgments and two runs: {like}; or the log of an experiment: {call.path} log.parquet"
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


def simulate(call: Call) -> int:
    """Simulate a log, write it and its users if asked to, and print the truth."""
    from rankscope.files.writers import check_ending

    places = [(name, call.params[name]) for name in ("place", "units") if call.params[name] is not None]
    for name, place in places:
        if place == "-":
            flag = "-o" if name == "place" else "--units"
            raise InputError(f"{flag} -: name a file, like {flag} {'log' if name == 'place' else 'users'}.parquet")
        check_ending(place)
    call.check()
    inputs = {"qrels": call.qrels, "runs": call.files or None}
    own = call.explicit.get("parameters", {})
    if both := sorted(own.keys() & call.options.keys()):
        raise InputError(f"--set {both[0]}: --{both[0]} sets it already; leave one out")
    made = call.command.function(call.params["kind"], **inputs, **call.options, **own)
    width, colour = output.output_style()
    output.write(made.write(call.params["form"] or "table", width=width, colour=colour), drawn=True)
    for name, place in places:
        (made.write_log if name == "place" else made.write_units)(place)
        rows = words.counted(len(made.log if name == "place" else made.units), "row")
        output.say_where(place, rows, call.quiet)
    if not places and not call.quiet:
        output.say("nothing was written: add -o log.parquet to keep the log")
    return 0


def metrics(call: Call) -> int:
    """Explain metrics, or draw the weight of each rank."""
    several, traits = list(call.params["names"]), call.params["traits"]
    name = " ".join(several) or None
    ending = Path(call.out).suffix.lower() if call.out not in {None, "-"} else ""
    call.check(of_result=False)
    if call.params["plot"]:
        _check_plot(call, several, traits, ending)
        _plot(several[0], call.out, ending)
        return 0
    if ending in FIGURES and call.params["form"] is None:
        example = f"{call.path} {name or 'RR'} --plot -o {call.out}"
        raise click.UsageError(f"{call.out}: a figure is drawn with --plot: add --plot ({example})", call.ctx)
    _ = call.form
    return call.show(call.command.function(several or None))


def _check_plot(call: Call, several: Sequence[str], traits: bool, ending: str) -> None:
    form = call.params["form"]
    if len(several) != 1 or traits:
        remedy = "name one, like rankscope metrics RR --plot" if len(several) != 1 else "leave out --table"
        raise click.UsageError(f"--plot draws one metric: {remedy}", call.ctx)
    if form == "json" or ending not in {"", ".txt", *FIGURES}:
        said = f"a plot is shown here or written as .svg, .png, .pdf or .txt, not as {ending or form}"
        raise click.UsageError(said, call.ctx)
    from rankscope.verbs.catalogue.catalogue import find_set

    if find_set(several[0]):
        raise InputError(f"--plot draws one metric, and {several[0]} is a set: rankscope metrics {several[0]} lists it")


def _plot(name: str, out: str | None, ending: str) -> None:
    """Draw the weight of each rank in a metric, in the terminal or as a figure."""
    from rankscope.metrics.rank_weights import chart_of, table_of
    from rankscope.verbs.catalogue.catalogue import find_usual

    metric = find_usual(name)
    if out is None or ending not in FIGURES:
        # a terminal has room for one line; the table shows both
        output.write([output.render([chart_of(metric, alone=True), table_of(metric)], out)], out, drawn=True)
        output.say_where(out, "plot")
        return
    from rankscope.show.charts import pdf_of, png_of, svg_of
    from rankscope.store import write_file

    chart = chart_of(metric)
    draw: Any = {".svg": svg_of, ".png": png_of, ".pdf": pdf_of}[ending]
    write_file(out, [draw(chart)])
    output.say_where(out, ending[1:])


def demo(call: Call) -> int:
    """Print the demo, copy its files, or write its page."""
    from rankscope.verbs.demo import demo

    folder, page = call.params["copy"], call.params["report"]
    if page is not None:
        output.check_page(page)
    if folder is not None:
        files = demo.copy_files(folder)
        if not call.quiet:
            output.say(f"copied {words.counted(len(files), 'file')} into {folder}; README.md describes them")
        runs = " ".join(f"{folder}/{name}.run.gz" for name in demo.RUNS)
        output.write([f"rankscope evaluate {folder}/qrels.txt {runs}\n"])
    else:
        output.write([output.render(demo.introduction(demo.demo(), brief=call.quiet))], drawn=True)
    if page is not None:
        from rankscope.reporting.report import demo_report

        output.write([demo_report().html], page)
        if not call.quiet:
            output.say(f"wrote {page}: the same in one page, with every query to look into; open it in a browser")
    return 0


def playground(call: Call) -> int:
    """Write the page, and open it in a browser unless -o names a file."""
    place = call.out or "playground.html"
    output.check_page(place, charts=False)

    from rankscope.reporting.playground import playground
    from rankscope.show.html.page import render

    output.write([render(playground())], place)
    # a person at the terminal of a machine with a screen
    screen = sys.platform in {"darwin", "win32"} or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    wanted = call.out is None and not call.params["no_open"] and screen and output.is_terminal(sys.stdout)
    opens = wanted and _open(Path(place))
    if place != "-":
        output.say(f"wrote {place} ({'open in your browser' if opens else 'open it in a browser'})")
    return 0


def _open(path: Path) -> bool:
    """True if a browser opened the page."""
    import webbrowser

    try:
        return webbrowser.open(path.resolve().as_uri())
    except webbrowser.Error:
        return False


def completion(call: Call) -> int:
    """Print the script for a shell."""
    from click.shell_completion import ShellComplete, get_completion_class

    kind = get_completion_class(call.params["shell"])
    assert kind is not None
    # the script of the base class: bash's own checks the installed version of bash
    script = ShellComplete.source(kind(call.ctx.find_root().command, {}, "rankscope", COMPLETION))
    output.write([script.strip() + "\n"])
    return 0
