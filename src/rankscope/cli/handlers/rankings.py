"""Commands that make rankings, or compare them without judgments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rankscope import words
from rankscope.cli import output
from rankscope.cli.runner import Call
from rankscope.errors import InputError


def fuse(call: Call) -> int:
    """Fuse runs and write the result."""
    from rankscope.files.writers import write_run

    if call.out is None or call.out == "-":
        raise InputError(f"name a file for the fused run: {call.path} a.run b.run -o fused.run")
    call.check(of_result=False)
    fused = call.command.function(call.files, **call.options)
    path = write_run(fused, call.out)
    counts = f"{words.counted(fused.frame.height, 'document')} for {words.counted(len(fused.queries), 'query')}"
    output.say_where(str(path), f"{fused.name}: {counts}", call.quiet)
    return 0


def interleave(call: Call) -> int:
    """Mix runs and write the lists."""
    from rankscope.files.writers import check_ending

    if call.out is None or call.out == "-":
        raise InputError(f"name a file for the lists: {call.path} a.run b.run -o lists.jsonl")
    check_ending(call.out)
    call.check(of_result=False)
    mixed = call.command.function(call.files, **call.options)
    path = mixed.write(call.out)
    if not call.quiet:
        output.report(mixed.notes, (), "table")
    output.say_where(str(path), str(mixed), call.quiet)
    return 0


def tune(call: Call) -> int:
    """Choose parameters, and write the runs that were asked for."""
    result = call.result()
    code = call.show(result)
    _write_ranking(call, "ranking", lambda: result.run)
    _write_ranking(call, "held_out", lambda: result.held_out_run)
    return code


def diversify(call: Call) -> int:
    """Diversify a run, print the changes of metrics if there are judgments, and write the run."""
    return _reorder(call, "diverse.run")


def rerank(call: Call) -> int:
    """Re-rank a run, print quality and latency, and write the run."""
    for option in ("scorer", "queries_text", "docs_text"):
        if option not in call.options:
            raise InputError(f"--{option.replace('_', '-')} is missing: {call.path} --help has examples")
    return _reorder(call, "reranked.run")


def learn(call: Call) -> int:
    """Train rankers, print the comparison, and write the run and the model of the first."""
    from rankscope.verbs.learn.learn import USUAL, learners_of

    if len(call.runs) not in {1, 2}:
        raise InputError(f"give the training file, and the test file if there is one: {call.path} train.txt test.txt")
    if Path(test := str(call.options.get("test_method", ""))).is_file():
        raise InputError(f"--test is a statistical test: give the test file second: {call.path} train.txt {test}")
    place, first = call.params["saved_model"], learners_of(call.options.get("learners", USUAL))[0]
    if place is not None and not first.saves:
        raise InputError(f"--model {place}: {first} has no file format: only boosted trees are saved")
    call.check(of_result=False)
    call.say_settings()
    result = call.command.function(*call.runs, **({"metrics": call.metrics} if call.metrics else {}), **call.options)
    code = call.show(result)
    name, model = next(iter(result.models.items()))
    _write_ranking(call, "ranking", lambda: result.runs[name], name.replace(" ", ""))
    if place is not None and model.save is not None:
        model.save(place)
        output.say_where(place, name, call.quiet)
    return code


def _reorder(call: Call, example: str) -> int:
    """Call a verb that makes a run of a run."""
    if len(call.files) != 1:
        many = words.counted(len(call.files), "run")
        raise InputError(
            f"{many} {words.agree(len(call.files), 'was')} given: {call.path} my.run -o {example} takes one, and judgments after --qrels"
        )
    if call.params["ranking"] is None and "qrels" not in call.options:
        raise InputError(f"name a file for the run, or judgments to score it: {call.path} my.run ... -o {example}")
    call.check(of_result=False)
    call.say_settings()
    judged = "qrels" in call.options or call.params["metrics"]  # metrics that are set are for runs with judgments
    more = {"metrics": call.metrics} if judged and call.metrics else {}
    result = call.command.function(call.files, **more, **call.options)
    code = call.show(result)
    _write_ranking(call, "ranking", lambda: result.run)
    return code


def _write_ranking(call: Call, option: str, make: Callable[[], Any], name: str | None = None) -> None:
    """Write a run to the file of an option, if it was named. ``name`` is the run's, if its rows have none."""
    from rankscope.files import run_of
    from rankscope.files.writers import write_run

    if (place := call.params[option]) is not None:
        run = run_of(make(), name)
        path = write_run(run, place)
        output.say_where(str(path), f"{run.name}: {words.counted(len(run.queries), 'query')}", call.quiet)


def agree(call: Call) -> int:
    """Show how much the rankings of runs agree."""
    if len(call.files) < 2:
        raise InputError(f"agreement is of two runs or more: {call.path} a.run b.run")
    return _of_files(call)


def contexts(call: Call) -> int:
    """Show how good the contexts of questions are."""
    if not call.files:
        raise InputError(f"no table was given: {call.path} contexts.jsonl, with one row per question")
    return _of_files(call)


def _of_files(call: Call) -> int:
    call.check()
    return call.show(call.command.function(call.files, **call.options))
