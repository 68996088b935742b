"""Commands that make rankings, from files to files: what they write is a run that evaluate reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankscope as rs

QUERIES = [f"q{number}" for number in range(12)]
RANKERS = {
    "tune": "tune qrels.txt old.run new.run --method RRF --vary k=1,60 -o out.run",
    "diversify": "diversify old.run --method MMR --features features.csv -o out.run",
    "rerank": "rerank old.run --scorer scorer.py:score --queries-text queries.tsv --docs-text docs.tsv -o out.run",
    "fuse": "fuse old.run new.run -o out.run",
}


@pytest.fixture
def collection(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Judgments, two runs, texts, features and labelled features in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("qrels.txt").write_text("".join(f"{q} 0 good 1\n{q} 0 poor 0\n" for q in QUERIES))
    for name, documents in (("old", ("poor", "good", "other")), ("new", ("good", "other", "poor"))):
        rows = (f"{q} Q0 {doc} {rank} {9 - rank} {name}\n" for q in QUERIES for rank, doc in enumerate(documents, 1))
        Path(f"{name}.run").write_text("".join(rows))
    Path("features.csv").write_text("doc_id,feature\ngood,a\npoor,a\nother,b\n")
    Path("queries.tsv").write_text("".join(f"{q}\tsome words\n" for q in QUERIES))
    Path("docs.tsv").write_text("good\tthe longest text of all\npoor\tothers\nother\tmore words\n")
    Path("scorer.py").write_text("def score(query, texts):\n    return [float(len(text)) for text in texts]\n")
    rows = (f"{(i + d) % 2} qid:{i} 1:{(i + d) % 2} 2:{d}\n" for i in range(24) for d in range(3))
    Path("train.txt").write_text("".join(rows))
    return tmp_path


@pytest.mark.parametrize("name", RANKERS)
def test_the_run_that_is_written_has_every_document(name: str, run: Callable[..., Any], collection: Path) -> None:
    said = run(*RANKERS[name].split())
    assert said.code == 0, said.err
    made = rs.read_run("out.run").frame
    assert made.height == 3 * len(QUERIES)
    assert set(made["query_id"]) == set(QUERIES)


def test_a_reranked_run_follows_its_scores(run: Callable[..., Any], collection: Path) -> None:
    assert run(*RANKERS["rerank"].split()).code == 0
    assert rs.evaluate("qrels.txt", "out.run", "P@1")["P@1"] == 1


def test_the_run_of_a_learner_has_the_test_queries(run: Callable[..., Any], collection: Path) -> None:
    said = run(*["learn", "train.txt", "--learner", "Linear", "--test-share", "0.5", "-o", "out.run"])
    assert said.code == 0, said.err
    frame = rs.read_run("out.run").frame
    assert frame["query_id"].n_unique() == 12
    assert frame.height == 36


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("rerank old.run -o out.run", "--scorer is missing"),
        ("rerank old.run --scorer scorer.py:scores --queries-text queries.tsv --docs-text docs.tsv -o x.run", "scores"),
        (
            "diversify old.run new.run -o out.run",
            "2 runs were given: rankscope diversify my.run -o diverse.run takes one, and judgments after --qrels",
        ),
        ("diversify old.run --method MRM -o out.run", "did you mean MMR?"),
        ("tune qrels.txt old.run new.run --method RRFF", "did you mean RRF?"),
        ("tune qrels.txt old.run new.run --method RRF --vary kk=1,2", "kk"),
        ("learn train.txt --learner Linea", "did you mean Linear?"),
        ("learn", "give the training file"),
        ("learn nowhere.txt", "nowhere.txt"),
        (
            "learn train.txt --test qrels.txt",
            "--test is a statistical test: give the test file second: rankscope learn train.txt qrels.txt",
        ),
        (
            "learn nowhere.txt --learner Linear --model out.txt",
            "Linear has no file format: only boosted trees are saved",
        ),
    ],
)
def test_what_is_typed_wrong_is_one_line(typed: str, message: str, run: Callable[..., Any], collection: Path) -> None:
    said = run(*typed.split())
    assert said.code == 2
    assert message in said.err
    assert said.err.count("\n") == 1
    assert not Path("out.run").exists()


def test_settings_hold_for_commands_that_make_rankings(run: Callable[..., Any], collection: Path) -> None:
    Path("own.toml").write_text('primary = "P@1"\nmetrics = ["RR", "P@1"]\nalpha = 0.2\ntest = "sign"\n')
    more = ["--settings", "own.toml", "--format", "json"]
    for typed in (
        f"{RANKERS['rerank']} --qrels qrels.txt",
        f"{RANKERS['diversify']} --qrels qrels.txt",
        "learn train.txt --learner Linear",
    ):
        said = run(*typed.split(), *more)
        assert said.code == 0, said.err
        assert "settings: own.toml" in said.err
        rows = json.loads(said.out)["results"]
        metrics = [row["metric"] for row in rows if "distance" not in row["metric"]]
        assert set(metrics) == {"RR", "P@1"}
        assert typed.startswith("diversify") or metrics[0] == "P@1"  # the first decides: the primary one
    assert run(*RANKERS["diversify"].split(), *more).code == 0  # without judgments no metric is scored
    Path("own.toml").write_text('test = "sgin"\n')
    said = run(*["learn", "train.txt", "--learner", "Linear"], *more)
    assert "did you mean sign?" in said.err
    assert run(*["learn", "train.txt", "--learner", "Linear", "--test", "t"], *more).code == 0
