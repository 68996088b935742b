"""Files and folders that Spark reads hold what they hold when they are read here; so does the command line."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.scoring.spark.conftest import assert_same
from tests.scoring.spark.test_same_numbers import QRELS, RUN

import rankscope as rs
from rankscope.cli import main
from rankscope.scoring.request import Request

pytestmark = pytest.mark.filterwarnings("ignore:::pyspark")  # not ours to mend

METRICS = ["nDCG@10", "AP"]


def lines_of(frame: pl.DataFrame, form: str) -> str:
    return "".join(form.format(*row) for row in frame.iter_rows())


WRITERS: dict[str, Callable[[pl.DataFrame, Path, str], Any]] = {
    "trec": lambda frame, path, form: path.with_suffix(".txt").write_text("# ours\n\n" + lines_of(frame, form)),
    "gz": lambda frame, path, form: path.with_suffix(".gz").write_bytes(gzip.compress(lines_of(frame, form).encode())),
    "csv": lambda frame, path, _: frame.write_csv(path.with_suffix(".csv")),
    "tsv": lambda frame, path, _: frame.write_csv(path.with_suffix(".tsv"), separator="\t"),
    "jsonl": lambda frame, path, _: frame.write_ndjson(path.with_suffix(".jsonl")),
    "parquet": lambda frame, path, _: frame.write_parquet(path.with_suffix(".parquet")),
}


def written(kind: str, folder: Path) -> tuple[str, str]:
    WRITERS[kind](QRELS.with_columns(pl.col("grade").cast(pl.Int64)), folder / "qrels", "{} 0  {}\t{}\n")
    WRITERS[kind](RUN, folder / "bm25", "{} Q0 {} 1 {} tagged\n")
    return tuple(str(next(folder.glob(f"{name}.*"))) for name in ("qrels", "bm25"))  # type: ignore[return-value]


@pytest.mark.parametrize("kind", WRITERS)
def test_every_format(kind: str, spark: Any, tmp_path: Path) -> None:
    from rankscope.scoring.spark.paths import evaluate_paths

    qrels, run = written(kind, tmp_path)
    there = evaluate_paths("local[2]", qrels, [(None, run)], Request.of(METRICS))
    here = rs.evaluate(qrels, run, METRICS)
    assert [s.name for s in there.runs] == [s.name for s in here.runs]
    assert_same(here, there)
    assert [source["path"] for source in there.json_document()["inputs"]] == [qrels, run]


def test_folders_as_spark_writes_them(spark: Any, on_spark: Callable[..., Any], tmp_path: Path) -> None:
    from rankscope.scoring.spark.paths import evaluate_paths

    qrels, run = str(tmp_path / "judged"), str(tmp_path / "ranked")
    on_spark(QRELS).write.parquet(qrels)
    on_spark(RUN, 5).write.csv(run, header=True)
    assert (tmp_path / "ranked" / "_SUCCESS").exists()
    there = evaluate_paths("local[2]", qrels, [("mine", run)], Request.of(METRICS))
    assert_same(rs.evaluate(QRELS, {"mine": RUN}, METRICS), there)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2\n", "a line has 4 columns, a TREC run line has 6"),
        ("q1 Q0 d1 1 high tag\n", "score 'high' is not a number"),
        ('{"query_id": "q1", "doc_id": "d1", "score": 1}\n{"query_id": \n', "not a JSON object: "),
        ('{"q1": {"d1": 1.0}}', "one JSON object, which Spark does not take apart"),
    ],
)
def test_files_that_are_broken(text: str, told: str, spark: Any, tmp_path: Path) -> None:
    from rankscope.scoring.spark.paths import evaluate_paths

    run = tmp_path / "run.data"
    run.write_text(text)
    qrels, _ = written("trec", tmp_path)
    with pytest.raises(rs.InputError) as raised:
        evaluate_paths("local[2]", qrels, [(None, str(run))], Request.of(METRICS))
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_command_line_prints_the_same_numbers(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    qrels, run = written("parquet", tmp_path)
    rows = []
    for engine in (["--engine", "local"], ["--engine", "spark", "--master", "local[2]"]):
        capsys.readouterr()
        assert main(["evaluate", qrels, run, "-q", "--format", "csv", "--per-query", *engine]) == 0
        rows.append(sorted(map(tuple, csv.reader(io.StringIO(capsys.readouterr().out)))))
    assert rows[0] == rows[1]


def test_what_does_not_go_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rankscope.scoring.spark.paths import evaluate_paths

    qrels, run = written("parquet", tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(rs.InputError, match="standard input, which Spark cannot read"):
        evaluate_paths(None, qrels, [(None, "-")], Request.of(METRICS))
    with pytest.raises(rs.InputError, match="the folder holds no file"):
        evaluate_paths(None, qrels, [(None, str(tmp_path / "empty"))], Request.of(METRICS))
    with pytest.raises(rs.InputError, match="no such file"):
        evaluate_paths(None, qrels, [(None, str(tmp_path / "gone.run"))], Request.of(METRICS))
    assert main(["evaluate", qrels, run, "--master", "local[2]"]) == 2
    assert "--master is the address of Spark: add --engine spark" in capsys.readouterr().err


def test_ids_that_became_floats(spark: Any, tmp_path: Path) -> None:
    """As columns of doubles and as texts of a CSV; where one id is no float, all of the column are texts."""
    from rankscope.scoring.spark.paths import evaluate_paths

    qrels = pl.DataFrame({"usr": [1, 1, 2, 3], "doc_id": ["a", "b", "a", "c"], "grade": [1, 0, 2, 1]})
    run = pl.DataFrame({"usr": [1.0, 1.0, 2.0, 3.0], "doc_id": ["b", "a", "a", "x"], "score": [3.0, 2.0, 1.0, 1.0]})
    columns = {"usr": "query_id"}
    here = rs.evaluate(qrels, {"run": run}, METRICS, columns=columns)
    frames = [spark.createDataFrame(frame.rows(), frame.columns) for frame in (qrels, run)]
    there = rs.evaluate(frames[0], {"run": frames[1]}, METRICS, columns=columns)
    assert_same(here, there)
    assert any("column usr holds ids as floats: 1.0 is read as '1'" in note for note in there.notes)
    for name, frame in (("qrels", qrels), ("run", run)):
        frame.write_csv(tmp_path / f"{name}.csv")
    paths = [str(tmp_path / f"{name}.csv") for name in ("qrels", "run")]
    read = evaluate_paths("local[2]", paths[0], [("run", paths[1])], Request.of(METRICS, {"columns": columns}))
    assert_same(rs.evaluate(paths[0], {"run": paths[1]}, METRICS, columns=columns), read)
    assert read["AP"] == here["AP"]
    (tmp_path / "run.csv").write_text((tmp_path / "run.csv").read_text().replace("3.0,x", "one,x"))
    with pytest.raises(rs.DataError, match="no query of run is judged"):
        evaluate_paths("local[2]", paths[0], [("run", paths[1])], Request.of(METRICS, {"columns": columns}))
    with pytest.raises(
        rs.InputError, match="the inputs lack a column 'uzr' that could be the query_id, did you mean usr"
    ):
        rs.evaluate(frames[0], frames[1], METRICS, columns={"usr": "query_id", "uzr": "query_id"})


@pytest.mark.parametrize("broadcast", [0, 1000])
def test_grades_that_are_words(broadcast: int, spark: Any, settings: Callable[..., None]) -> None:
    settings(rankscope_broadcast_rows=broadcast)
    rows = [("q1", "a", "Good"), ("q1", "b", "bad"), ("q2", "a", "2")]
    qrels = spark.createDataFrame(rows, ["query_id", "doc_id", "grade"])
    run = spark.createDataFrame([("q1", "b", 2.0), ("q1", "a", 1.0), ("q2", "a", 1.0)], ["query_id", "doc_id", "score"])
    worth = {"Good": 3, "Bad": 0}
    plain = {"q1": {"a": 3, "b": 0}, "q2": {"a": 2}}
    here = rs.evaluate(plain, {"q1": {"b": 2.0, "a": 1.0}, "q2": {"a": 1.0}}, METRICS)
    assert [m.value for m in rs.evaluate(qrels, run, METRICS, grades=worth).board] == [m.value for m in here.board]
    with pytest.raises(rs.InputError, match=r"grade '(Good|bad)' is not a number; name grades with grades="):
        rs.evaluate(qrels, run, METRICS)
