"""Commands on logs of users, simulated users and the ledger of launches."""

from __future__ import annotations

import sys
from typing import Any

from rankscope import words
from rankscope.cli import output
from rankscope.cli.handlers.judged import command_again
from rankscope.cli.runner import Call
from rankscope.errors import InputError
from rankscope.words import option_named

# options that are only for simulate aa
OF_AA = ("rounds", "covariates", "winsorise", "clusters", "test", "alpha", "columns", "log_format")


def position_bias(call: Call) -> int:
    """Estimate the examination curve, and save it if there is one; otherwise the reason was printed."""
    place = call.params["save"]
    _refuse_stdout("--save", place, "examination.json")
    result = call.result()
    code = call.show(result)
    if place is not None and result.points:
        result.save_curve(place)
        output.say_where(place, f"examination curve by {result.methods[0]}", call.quiet)
    return code


def clicks(call: Call) -> int:
    """Fit click models, and write the model, grades and weights that were asked for."""
    writers = {"save": "save_model", "to_qrels": "write_qrels", "to_weights": "write_weights"}
    for name, like in (("save", "model.json"), ("to_qrels", "grades.csv"), ("to_weights", "weights.csv")):
        _refuse_stdout(option_named(name), call.params[name], like)
    result = call.result()
    code = call.show(result)
    models = call.explicit.get("models") or ()
    model = result.fits[-1].name if len(models) == 1 else None
    for name, method in writers.items():
        if (place := call.params[name]) is not None:
            getattr(result, method)(place, model)
            output.say_where(
                place,
                {"save": "click model", "to_qrels": "grades from clicks"}.get(name, "weights of queries"),
                call.quiet,
            )
    return code


def _refuse_stdout(flag: str, place: str | None, like: str) -> None:
    """Refuse standard output, and a place that cannot be written, before any work."""
    if place == "-":
        raise InputError(f"{flag} -: name a file, like {flag} {like}")
    output.check_place(place, ())


def simulate(call: Call) -> int:
    """Simulate a log, write it and its users if asked to, and print the truth; or measure false verdicts on a log."""
    from rankscope.files.writers import check_ending

    kind = call.params["kind"]
    if kind in {"aa", "launches"}:
        return _aa(call) if kind == "aa" else _launches_made(call)
    if "launches" in call.explicit:
        raise InputError(f"--launches is for simulate launches: leave it out of simulate {kind}")
    if odd := [*filter(None, [call.log]), *(option_named(name) for name in OF_AA if name in call.explicit)]:
        raise InputError(f"{odd[0]} is for simulate aa LOG: leave it out of simulate {kind}")
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
        raise InputError(f"--set {both[0]}: --{both[0]} sets it already: leave one out")
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


def _launches_made(call: Call) -> int:
    """Write simulated launches as CSV to a pipe or a file, or print their truth on a terminal."""
    from rankscope.verbs.simulate.simulate import simulate_launches

    if odd := next(
        (name for name in call.explicit if name not in {"launches", "seed", "parameters", "form", "quiet", "place"}),
        None,
    ):
        raise InputError(f"{option_named(odd)} is for other kinds: leave it out of simulate launches")
    place, form = call.params["place"], call.params["form"]
    output.check_place(place)
    chosen = {name: call.explicit[name] for name in ("launches", "seed") if name in call.explicit}
    made = simulate_launches(**chosen, **call.explicit.get("parameters", {}))
    if place is None and form is None and output.is_terminal(sys.stdout):
        form = "table"
    width, colour = output.output_style()
    output.write(made.write(form or "csv", width=width, colour=colour), place, drawn=form == "table")
    if not call.quiet and form != "table":
        output.say(" ".join(made.sentences()))
    output.say_where(place, words.counted(len(made.rows), "row"), call.quiet)
    return 0


ACTIONS = {  # the options of each action of launches
    "add": {"offline", "online", "baseline", "candidate", "day", "launched", "notes", "tags"}, "list": {"tags"}, "import": set(),
    "predict": {"offline", "online", "tags", "mixed"}, "correlate": {"offline", "online", "tags", "mixed"}, "report": {"offline", "online", "tags", "mixed"},
}  # fmt: skip


WITH_NAME = {"add": "the launch", "import": "the file (- for standard input)"}


def launches(call: Call) -> int:
    """Write to the ledger, read from it, or correlate offline with online metrics."""
    from rankscope.verbs.launches import launches as verb

    action, names = call.params["action"], list(call.params["names"])
    options: dict[str, Any] = {k: v for k, v in call.explicit.items() if k not in {"ledger", "quiet", "form", "out"}}
    if odd := next((name for name in options if name not in ACTIONS[action]), None):
        raise InputError(f"{call.own[odd].opts[0]} is not for launches {action}: leave it out")
    if action in WITH_NAME and len(names) != 1:
        raise InputError(
            f"launches {action} takes one name, of {WITH_NAME[action]}, like {call.path} {action} {'launches.csv' if action == 'import' else 'NAME'}"
        )
    if (action in {"correlate", "report"} and names) or (action == "predict" and len(names) > 1):
        raise InputError(f"launches {action} {names[-1]}: leave the name out; --offline and --online name metrics")
    ledger = call.params["ledger"]
    if action == "report":
        return _launches_page(call, verb.correlate(ledger, **options))
    call.check()
    if action == "predict":
        if bool(names) == bool(options.get("offline")):
            raise InputError(
                f"give the new offline difference, like {call.path} predict --offline nDCG@10=0.012,0.004, or the name of a launch"
            )
        return call.show(verb.predict(names[0] if names else options.pop("offline"), ledger, **options))
    if action == "correlate":
        return call.show(verb.correlate(ledger, **options))
    if action == "list":
        return call.show(verb.list(ledger, names, **options))
    made = verb.add(names[0], ledger=ledger, **options) if action == "add" else verb.import_(names[0], ledger)
    if call.params["form"] is not None or call.out is not None:
        return call.show(made)
    output.write(["".join(f"{line}\n" for line in made.sentences())])
    return 0


def _launches_page(call: Call, result: Any) -> int:
    from rankscope.reporting.report import report

    out = call.out or "launches.html"
    output.check_page(out)
    output.write([report(result, title="Does offline predict online?", command=command_again(call.ctx.obj)).html], out)
    output.say_where(out, "opens in a browser", call.quiet)
    if out != "-":
        output.write(["".join(f"{line}\n" for line in result.sentences())])
    return int(result.exit_code)


def _aa(call: Call) -> int:
    from rankscope.verbs.simulate.aa import simulate_aa

    if call.log is None:
        raise InputError(f"give a log: {call.path} aa LOG, like {call.path} aa log.parquet")
    takes = {*OF_AA, "metrics", "seed", "split"}
    if odd := next((name for name in call.explicit if name not in {*takes, "form", "quiet"}), None):
        raise InputError(f"{option_named(odd)} is for simulate log and experiment: leave it out of simulate aa")
    options = {name: value for name, value in call.explicit.items() if name in takes}
    if isinstance(options.get("split"), list):
        options["split"] = dict(zip("ABCDEFGH", options["split"], strict=False))
    width, colour = output.output_style()
    made = simulate_aa(call.log, **options)
    output.write(made.write(call.params["form"] or "table", width=width, colour=colour), drawn=True)
    return 0
