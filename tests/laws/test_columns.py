"""Columns of other names: with their roles said, every verb and every command finds what it finds under the usual names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest
from tests.made.results import world

import rankscope as rs
from rankscope.cli import main
from rankscope.cli.table import COMMANDS
from rankscope.errors import InputError

ODD = {"query_id": "usr", "doc_id": "sku", "score": "pts", "grade": "stars"}
ROLES = {odd: role for role, odd in ODD.items()}
SAID = ",".join(f"{odd}={role}" for odd, role in ROLES.items())

Verb = Callable[..., Any]
PAIR: dict[str, Verb] = {
    "evaluate": lambda q, a, b, **o: rs.evaluate(q, {"a": a, "b": b}, "AP", **o),
    "compare": lambda q, a, b, **o: rs.compare(q, {"a": a, "b": b}, "AP", **o),
    "gate": lambda q, a, b, **o: rs.gate(q, ("a", a), ("b", b), "AP", **o),
    "power": lambda q, a, b, **o: rs.power(q, {"a": a, "b": b}, "AP", **o),
    "explain": lambda q, a, b, **o: rs.explain(q, {"a": a, "b": b}, "AP", query="q05", **o),
    "diagnose": lambda q, a, b, **o: rs.diagnose(q, {"a": a, "b": b}, "AP", **o),
    "check": lambda q, a, b, **o: rs.check(q, {"a": a, "b": b}, "AP", **o),
    "check of what was trained on": lambda q, a, b, **o: rs.check(q, {"a": a, "b": b}, "AP", train=q, **o),
    "unjudged": lambda q, a, b, **o: rs.unjudged(q, {"a": a, "b": b}, "AP", **o),
    "pool": lambda q, a, b, **o: rs.pool(q, {"a": a, "b": b}, "AP", **o),
    "ties": lambda q, a, b, **o: rs.ties(q, {"a": a, "b": b}, "AP", **o),
    "reconcile": lambda q, a, b, **o: rs.reconcile(q, {"a": a, "b": b}, "AP", **o),
    "advise": lambda q, a, b, **o: rs.advise(q, {"a": a, "b": b}, **o),
    "advise by judgments": lambda q, a, b, **o: rs.advise(
        q, columns={c: r for c, r in o.get("columns", {}).items() if r != "score"} or None
    ),
}  # fmt: skip
COMMAND = {
    "explain": "explain {q} {a} {b} --query q05 -m AP",
    "gate": "gate {q} {a} {b} -m AP",
    "report": "report {q} {a} {b} -m AP -o page.html -q",
    "advise": "advise {q} {a} {b}",
}


def tables() -> list[pl.DataFrame]:
    grades, runs = world()
    values: dict[str, list[Any]] = {"grade": [grades], "score": [runs["base"], runs["good"]]}
    return [
        pl.DataFrame([(q, d, v) for q in rows for d, v in rows[q].items()], ["query_id", "doc_id", value], orient="row")
        for value, several in values.items()
        for rows in several
    ]


def odd_tables() -> list[pl.DataFrame]:
    return [table.rename({role: odd for role, odd in ODD.items() if role in table.columns}) for table in tables()]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for place, given in ((Path("plain"), tables()), (Path("odd"), odd_tables())):
        place.mkdir()
        for name, table in zip("qab", given, strict=True):
            table.write_csv(place / f"{name}.csv")
    return tmp_path


@pytest.mark.parametrize("verb", PAIR.values(), ids=PAIR)
def test_every_verb_reads_them(verb: Verb) -> None:
    plain, odd = verb(*tables()), verb(*odd_tables(), columns=ROLES)
    assert odd.to_dicts() == plain.to_dicts()
    assert plain.to_dicts()


def test_an_evaluator_reads_them() -> None:
    (qrels, run, _), (odd_qrels, odd_run, _) = tables(), odd_tables()
    odd = rs.Evaluator(odd_qrels, "AP", columns=ROLES)
    assert odd(odd_run)["AP"] == rs.Evaluator(qrels, "AP")(run)["AP"] == odd(world()[1]["base"])["AP"]


def test_pages_read_them_again(files: Path) -> None:
    scores = rs.evaluate("odd/q.csv", ["odd/a.csv"], "AP", columns=ROLES)
    assert rs.report(scores).page.answer == rs.report("plain/q.csv", "plain/a.csv", "AP").page.answer
    (odd, *odd_runs), (plain, *plain_runs) = odd_tables(), tables()
    page = rs.report(odd, odd_runs, "AP", columns=ROLES).page
    assert page.verdicts == rs.report(plain, plain_runs, "AP").page.verdicts


def test_parts_of_a_run_keep_them(files: Path) -> None:
    parts = [rs.evaluate("odd/q.csv", "odd/a.csv", "AP", columns=ROLES, partition=f"{i}/2") for i in (1, 2)]
    for part in parts:
        part.save(f"{part.number}.parquet")
    assert rs.merge(["1.parquet", "2.parquet"])["AP"] == rs.evaluate("plain/q.csv", "plain/a.csv", "AP")["AP"]


READERS = [c.name for c in COMMANDS if any(isinstance(p, click.Argument) and p.name == "qrels" for p in c.parameters)]


@pytest.mark.parametrize("command", READERS)
def test_every_command_that_reads_judgments_takes_them(
    command: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []
    for place, options in (("plain", []), ("odd", ["--columns", SAID])):
        line = COMMAND.get(command, command + " {q} {a} {b} -m AP").format(
            **{name: f"{place}/{name}.csv" for name in "qab"}
        )
        code = main([*line.split(), *options])
        words = " ".join(capsys.readouterr().out.replace("\\\n", "").split())  # commands go on behind a stroke
        said.append(
            (
                code,
                words.replace(f"{place}/", "")
                .replace(f" --columns {SAID}", "")
                .replace(f'columns = "{SAID}"', "")
                .strip(),
            )
        )
    assert said[0] == said[1]
    assert said[0][0] in {0, 1, 4}
    assert said[0][1]


def test_they_may_be_said_in_several_options_and_go_with_named_grades(files: Path, capsys: Any) -> None:
    text = Path("odd/q.csv").read_text().replace(",0\n", ",Bad\n")
    Path("odd/named.csv").write_text(text)
    pairs = [word for pair in SAID.split(",") for word in ("--columns", pair)]
    assert main(["evaluate", "odd/named.csv", "odd/a.csv", "-m", "AP", "--grades", "Bad=0", *pairs, "-q"]) == 0
    named = capsys.readouterr().out
    assert main(["evaluate", "plain/q.csv", "plain/a.csv", "-m", "AP", "-q"]) == 0
    assert named == capsys.readouterr().out


WRONG: dict[str, tuple[Any, str]] = {
    "a role that does not exist": ("usr=kwery_id", "'usr' has the unknown role 'kwery_id'"),
    "a column that is not there": (SAID + ",uzr=query_id", "the inputs lack a column 'uzr' .* did you mean usr"),
    "a column given twice": ("usr=query_id,usr=doc_id", "'usr' is given twice, as query_id and as doc_id"),
    "two columns of one role": (SAID + ",more=doc_id", "columns sku and more both have the role doc_id"),
    "no role": ("usr", "give the role of each column that has another name"),
    "an empty pair": ("usr=query_id,", "give the role of each column that has another name"),
    "a number": (3, "give the role of each column that has another name"),
    "roles that leave one out": ({"usr": "query_id"}, "no column for doc_id and grade .* like columns='sku=doc_id'"),
}


@pytest.mark.parametrize(("columns", "message"), WRONG.values(), ids=WRONG)
def test_wrong_ones_are_told_by_every_verb(columns: Any, message: str) -> None:
    qrels, *runs = (table.with_columns(more=pl.lit("x")) for table in odd_tables())
    verbs = (rs.evaluate, rs.compare, rs.power, rs.check, rs.unjudged, rs.pool, rs.ties, rs.reconcile, rs.report)
    for verb in verbs:
        with pytest.raises(InputError, match=message):
            verb(qrels, runs, columns=columns)


def test_where_nothing_has_columns_they_are_refused() -> None:
    with pytest.raises(InputError, match=r"the inputs lack a column 'usr' .*; the input has no named columns"):
        rs.evaluate(world()[0], world()[1]["base"], columns={"usr": "query_id"})


def test_lists_of_documents_have_roles_too(tmp_path: Path) -> None:
    rows = pl.DataFrame({"usr": ["u1", "u2"], "recs": [["i1", "i2"], ["i3"]], "other": [[1], [2]]})
    rows.write_ndjson(tmp_path / "recs.jsonl")
    for source in (rows, tmp_path / "recs.jsonl"):
        frame = rs.read_run(source, columns={"usr": "query_id", "recs": "doc_id"}).frame
        assert frame.select("query_id", "doc_id").rows() == [("u1", "i1"), ("u1", "i2"), ("u2", "i3")]


WORDS = {0: "Bad", 1: "fair", 2: "Good", 3: "Perfect"}
WORTH = "bad=0,Fair=1,Good=2,PERFECT=3"
NEEDS_RUNS = {name: verb for name, verb in PAIR.items() if name != "advise by judgments"}


@pytest.mark.parametrize("verb", NEEDS_RUNS.values(), ids=NEEDS_RUNS)
def test_every_verb_reads_grades_that_are_words(verb: Verb) -> None:
    """In dicts and in tables, with the numbers that they are worth."""
    grades, runs = world()
    named = {q: {doc: WORDS[grade] for doc, grade in docs.items()} for q, docs in grades.items()}
    plain, said = (
        verb(q, runs["base"], runs["good"], **more).to_dicts() for q, more in ((grades, {}), (named, {"grades": WORTH}))
    )
    assert said == plain
    qrels, *tables_of_runs = odd_tables()
    column = pl.col("stars").replace_strict(WORDS, return_dtype=pl.String)
    both = verb(qrels.with_columns(column), *tables_of_runs, columns=ROLES, grades=WORTH)
    assert both.to_dicts() == verb(*tables()).to_dicts()


def test_grades_that_are_words_elsewhere() -> None:
    grades, runs = world()
    named = {q: {doc: WORDS[grade] for doc, grade in docs.items()} for q, docs in grades.items()}
    scores = rs.evaluate(named, runs["base"], "AP", grades=WORTH)
    assert scores.json_document()["conventions"]["grades"] == WORTH.lower()
    assert rs.Evaluator(named, "AP", grades=WORTH)(runs["base"])["AP"] == scores["AP"]
    assert rs.report(scores).page.answer == rs.report(grades, {"run": runs["base"]}, "AP").page.answer
    with pytest.raises(InputError, match=r"grade '(Bad|fair|Good|Perfect)' is not a number; name grades with grades="):
        rs.evaluate(named, runs["base"], "AP")
    odd: list[Any] = ["Perfect", "", 3, {"Perfect": "x"}]
    for wrong in odd:
        with pytest.raises(InputError, match="write them like Perfect=4,Good=2,Bad=0"):
            rs.evaluate(named, runs["base"], "AP", grades=wrong)
