"""Formats of logs: each told from all others and from tables, named by any of its names, and offered by every command that reads a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.files.log_formats.made import SAMPLES, sample

import rankscope as rs
from rankscope.cli import main
from rankscope.errors import InputError
from rankscope.files.log_formats.inputs import input_of
from rankscope.files.logs import KEYS, LOG_FORMATS, log_format_named, log_format_of


def told(source: Any) -> str | None:
    given = input_of(source, KEYS)
    form = None if given is None else log_format_of(given)
    return None if form is None else form.name


def test_there_is_a_sample_of_each_format() -> None:
    assert set(SAMPLES) == set(LOG_FORMATS)


@pytest.mark.parametrize("name", LOG_FORMATS)
def test_a_log_is_told_by_what_it_is_and_by_that_format_alone(name: str, tmp_path: Path) -> None:
    given = input_of(sample(name, tmp_path), KEYS)
    assert given is not None
    assert [one.name for one in LOG_FORMATS.values() if one.is_one(given)] == [name]


@pytest.mark.parametrize("name", LOG_FORMATS)
def test_a_format_that_is_named_gives_the_rows_of_one_that_was_told(name: str, tmp_path: Path) -> None:
    source = sample(name, tmp_path)
    first = rs.read_log(source)
    for spelling in (name, name.upper().replace("_", "-"), *LOG_FORMATS[name].names):
        again = rs.read_log(source, log_format=spelling)
        assert again.collect(again.frame).equals(first.collect(first.frame))
    assert rs.read_log(first, log_format=name) is first


@pytest.mark.parametrize("name", LOG_FORMATS)
def test_every_verb_that_takes_a_log_takes_it(name: str, tmp_path: Path) -> None:
    source = sample(name, tmp_path)
    log = rs.read_log(source)
    metric = "CTR" if log.has("click") else "Mean(revenue)"
    assert rs.online(source, metric).values[0].denominator > 0
    assert rs.check(source).findings == rs.check(log).findings
    assert rs.report(source, None, None if name == "interleaved" else metric).page.title  # it has credits
    if log.has("variant"):
        assert rs.experiment(source, metric).units.count > 1


TABLES: dict[str, Any] = {
    "five rows": {"item": list("abcab"), "shown": ["yes"] * 5, "clicked": ["yes", "no", "yes", "no", "yes"]},
    "a row a user": {"user": ["u1", "u2"], "variant": ["A", "B"], "revenue": [1.0, 2.0]},
    "a log with chances": {"user": ["u"], "item_id": ["a"], "position": [1], "click": [1], "propensity_score": [0.5]},
    "an exposure and what was measured in one row": {"user_id": ["u"], "timestamp": ["2024-05-01"], "experiment_id": ["e"], "variation_id": ["0"], "value": [1.0]},
    "events with names of their own": {"query_id": ["q"], "item_id": ["a"], "action": ["click"], "click": [1]},
    "lists by ranking": {"ranking_id": ["r"], "item_id": ["a"], "click": [0]},
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_taken_for_none(name: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(TABLES[name])
    assert told(TABLES[name]) is None
    assert told(frame) is None
    assert told(frame.lazy()) is None
    frame.write_csv(tmp_path / "log.csv")
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_ndjson(tmp_path / "log.ndjson")
    assert [told(tmp_path / f"log.{ending}") for ending in ("csv", "parquet", "ndjson")] == [None, None, None]


def test_simulated_logs_are_tables() -> None:
    assert told(rs.simulate("log", users=3, seed=1).log) is None


def test_judgments_and_rankings_are_taken_for_none(tmp_path: Path) -> None:
    texts = {
        "qrels.txt": "q1 0 d1 1\nq1 0 d2 0\n",
        "bm25.run": "q1 Q0 d1 1 2.5 bm25\n",
        "tabs.run": "Q1\tQ0\tQ\t1\t2.5\tbm25\n",
        "qrels.json": '{"q1": {"d1": 1}}',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert told(tmp_path / name) is None
    assert told({"q1": {"d1": 1}}) is None
    assert told({"queries": {"d1": 1.0}, "q2": {"d7": 0.5}}) is None
    assert told({"queries": ["tv", "radio"], "click": [0, 1]}) is None


def test_a_name_that_there_is_not_is_told_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"log_format='yandx': unknown format of logs, did you mean yandex\?"):
        rs.read_log({"item": ["a"]}, log_format="yandx")
    assert log_format_named("table") is None
    assert log_format_named(None) is None


# --- on the command line


@pytest.mark.parametrize("name", [name for name in LOG_FORMATS if name != "obp"])
def test_commands_take_files_of_each_format(name: str, tmp_path: Path, capsys: Any) -> None:
    source = str(sample(name, tmp_path))
    assert main(["online", source, "-m", "Mean(revenue)" if name == "growthbook" else "CTR"]) == 0
    printed = capsys.readouterr()
    assert f"read {source} as " in printed.err
    assert main(["check", source, "--exit-zero"]) == 0
    assert main(["check", source, "--exit-zero", "--log-format", name]) == 0


@pytest.mark.parametrize("command", ["online", "experiment", "check", "power", "report"])
def test_help_lists_every_format(command: str, capsys: Any) -> None:
    assert main([command, "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert f"Log format: {', '.join(LOG_FORMATS)} or table." in words


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["online", "LOG", "--log-format", "obd"], "no file of Open Bandit with the columns", id="what it is not"),
        pytest.param(["check", "LOG", "LOG", "--log-format", "ubi"], "--log-format is for a log: leave it out", id="beside a run"),
        pytest.param(["online", "LOG", "--log-format", "ubee"], "--log-format ubee: unknown format of logs", id="no format"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line_and_exit_code_2(
    arguments: list[str], said: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "log.csv"
    path.write_text("item,click\na,1\nb,0\n")
    assert main([str(path) if one == "LOG" else one for one in arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_stream_may_be_of_a_format(monkeypatch: Any, tmp_path: Path, capsys: Any) -> None:
    import io
    import sys

    data = Path(sample("yandex", tmp_path)).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert main(["online", "-", "-m", "CTR"]) == 0
    assert "read standard input as lines of queries and clicks" in capsys.readouterr().err
