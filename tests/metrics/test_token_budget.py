"""Cutoffs in tokens: the rank that a budget reaches, lengths from everywhere, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.cli import main
from rankscope.metrics import R, nDCG, parse

QRELS = {"q1": {"a": 1, "c": 1}, "q2": {"a": 2, "z": 1}, "q3": {"b": 1}}
RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 9.0, "a": 2.0}, "q3": {"b": 1.0}}
TOKENS = {"a": 60, "b": 60, "c": 10, "x": 100, "z": 5}
WORKED = {
    "a passage that does not fit ends the list, and no shorter one moves up": ("R@100tok", [1 / 2, 0, 1]),
    "a passage that just fits counts": ("R@60tok", [1 / 2, 0, 1]),
    "precision is of the passages that fit": ("P@130tok", [2 / 3, 0, 1]),
    "nothing fits": ("RR@59tok", [0, 0, 0]),
    "all fit": ("RR@1000tok", [1, 1 / 2, 1]),
}


def values(metric: str, **options: Any) -> list[float]:
    found = rs.evaluate(QRELS, RUN, metric, **({"lengths": TOKENS} | options))
    return list(found.runs[0].values[parse(metric)])


@pytest.mark.parametrize(("metric", "expected"), WORKED.values(), ids=WORKED)
def test_the_list_ends_where_the_tokens_do(metric: str, expected: list[float]) -> None:
    assert values(metric) == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["R", "P", "nDCG(gain='exponential')", "AP", "RR", "ERR", "Success", "F", "Judged"])
def test_documents_of_one_length_make_it_a_cutoff_in_ranks(metric: str) -> None:
    rng = np.random.default_rng(2)
    run = {f"q{n}": {f"d{d}": float(s) for d, s in enumerate(rng.random(rng.integers(0, 12)))} for n in range(60)}
    qrels = {query: {f"d{d}": int(rng.integers(0, 4)) for d in rng.choice(12, 5, replace=False)} for query in run}
    lengths = {f"d{d}": 7 for d in range(12)}
    ranks = rs.evaluate(qrels, run, f"{metric}@3").runs[0]
    for tokens in (21, 27):
        by_tokens = rs.evaluate(qrels, run, f"{metric}@{tokens}tok", lengths=lengths).runs[0]
        # a list that is shorter than 3 ends by itself
        long = [i for i, query in enumerate(ranks.query_ids) if len(run[query]) >= 3]
        first, second = (next(iter(of.values.values()))[long] for of in (ranks, by_tokens))
        np.testing.assert_array_equal(first, second)


def test_spellings() -> None:
    assert str(parse("recall@2048tok")) == "R@2048tok" == str(R @ "2048tok")
    assert parse("TokenBudget(metric='R', tokens=2048)") == parse("R@2048tok")
    assert str(nDCG(gain="exponential") @ "100tok") == "nDCG(gain='exponential')@100tok"
    asked = rs.evaluate(QRELS, RUN, "nDCG@60tok,200tok P@2", lengths=TOKENS).request.metrics
    assert [str(one.metric) for one in asked] == ["nDCG@60tok", "nDCG@200tok", "P@2"]


def test_lengths_come_from_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "lengths.csv"
    pl.DataFrame({"chunk_id": [*TOKENS], "source": ["s"] * len(TOKENS), "n_tokens": [*TOKENS.values()]}).write_csv(file)
    texts = {one: " ".join("w" * size) for one, size in TOKENS.items()}
    ways: dict[str, dict[str, Any]] = {
        "a file": {"lengths": file},
        "a frame": {"lengths": pl.DataFrame({"doc_id": [*TOKENS], "words": [*TOKENS.values()]})},
        "texts in a dict": {"lengths": texts},
        "texts and a tokeniser": {"lengths": (texts, str.split)},
        "texts and a counter": {"lengths": (pl.DataFrame({"doc_id": [*texts], "text": [*texts.values()]}), lambda t: len(t.split()))},
        "a column of items": {"lengths": None, "items": {one: {"tokens": size} for one, size in TOKENS.items()}},
        "beside items": {"items": {one: {"kind": "x"} for one in TOKENS}},
        "beside a history": {"history": {"q1": ["a"]}},
    }  # fmt: skip
    for way, options in ways.items():
        assert values("R@100tok", **options) == [1 / 2, 0, 1], way
    assert values("R@100tok", lengths=TOKENS | {"b": 0}) == [1, 0, 1]  # an empty text takes no place


def test_agrees_with_the_contexts_of_the_same_texts() -> None:
    texts = {"a": "one two three", "b": "four five six seven", "c": "eight nine ten"}
    row = {"id": "q", "question": "?", "contexts": [texts[one] for one in "abc"], "reference_contexts": [texts["a"], texts["c"]]}  # fmt: skip
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    for tokens in (2, 3, 6, 9, 10):
        by_text = rs.contexts([row], f"EvidenceRecall(tokens={tokens})").rows_of_systems[0].value
        by_ids = rs.evaluate({"q": {"a": 1, "c": 1}}, run, f"R@{tokens}tok", lengths=texts)
        assert by_ids[f"R@{tokens}tok"] == by_text


def test_result_states_the_rule_and_the_lengths() -> None:
    told = rs.evaluate(QRELS, RUN, ["R@100tok", "P@60tok"], lengths=TOKENS).request.small_print()
    assert "R@100tok, P@60tok: whole documents from the top, until one does not fit" in told
    assert "every item shown" not in told


BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "no lengths": ("R@9tok", {"lengths": None}, "R@9tok counts the tokens of documents: add lengths= with a document"),
    "items without lengths": ("R@9tok", {"lengths": None, "items": {one: {} for one in TOKENS}}, "has no column tokens"),
    "a document without a length": ("R@9tok", {"lengths": {"a": 1}}, "tokens of the item 'b' is missing"),
    "a length below 0": ("R@9tok", {"lengths": {"a": -1}}, "tokens of document 'a' are not a number of at least 0"),
    "no column of tokens": ("R@9tok", {"lengths": pl.DataFrame({"doc_id": ["a"], "x": [1], "y": [2]})}, "no column tokens"),
    "no tokens": ("R@0tok", {}, "tokens must be at least 1"),
    "another unit": ("R@9kb", {}, "cutoff must be a whole number"),
    "a metric without a cutoff": ("Rprec@9tok", {}, "Rprec has no cutoff"),
    "two cutoffs": ("TokenBudget(metric='R@5', tokens=9)", {}, "leave that out"),
    "a metric of items": ("ILD@9tok", {}, "needs more than grades and ranks"),
    "all orders of ties": ("R@9tok", {"ties": "expected"}, "looks at the items shown, in one order"),
}  # fmt: skip


@pytest.mark.parametrize(("metric", "options", "said"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(metric: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(rs.RankscopeError, match=r"tokens|cutoff|grades|order") as refused:
        values(metric, **options)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_commands_take_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "lengths.csv").write_text("doc_id,tokens\n" + "".join(f"{one},{n}\n" for one, n in TOKENS.items()))
    (tmp_path / "q.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in QRELS.items() for d, g in docs.items()))
    for name, run in {"old": RUN, "new": {q: dict(zip(docs, reversed(docs.values()), strict=True)) for q, docs in RUN.items()}}.items():  # fmt: skip
        (tmp_path / f"{name}.run").write_text(
            "".join(f"{q} Q0 {d} 1 {s} {name}\n" for q, docs in run.items() for d, s in docs.items())
        )
    paths = {name: str(tmp_path / name) for name in ("q.txt", "old.run", "new.run", "lengths.csv", "base.json")}
    asked = ["-m", "R@100tok", "--lengths", paths["lengths.csv"]]
    to_file = ["--per-query", "--format", "json", "-o", paths["base.json"]]
    assert main(["evaluate", paths["q.txt"], paths["old.run"], *asked, *to_file]) == 0
    stored = json.loads(Path(paths["base.json"]).read_text())
    assert stored["results"][0]["value"] == 0.5
    assert stored["conventions"]["lengths"] == paths["lengths.csv"]
    assert main(["compare", paths["q.txt"], paths["old.run"], paths["new.run"], *asked]) == 0
    assert "R@100tok" in capsys.readouterr().out
    for base in ("old.run", "base.json"):
        assert main(["gate", paths["q.txt"], paths[base], paths["new.run"], *asked]) in {0, 1, 4}
        assert "R@100tok" in capsys.readouterr().out
    assert main(["gate", paths["q.txt"], paths["base.json"], paths["new.run"], "-m", "R@100tok"]) == 2
    assert "lengths" in capsys.readouterr().err


def test_a_partition_says_that_it_takes_none() -> None:
    with pytest.raises(rs.RankscopeError, match="lengths are of all users together"):
        rs.evaluate(QRELS, RUN, "R@100tok", lengths=TOKENS, partition="1/2")
