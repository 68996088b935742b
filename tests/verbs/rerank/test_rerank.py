"""Re-ranked runs: order, depth, latency, cross-encoders, and scorers that fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import sleep
from types import ModuleType
from typing import Any

import pytest

import rankscope as rs
from rankscope.rankers.scorers import CrossEncoderScorer

DOCS = {f"d{d}": f"text {d}" for d in range(12)}
QUERIES = {f"q{i}": f"query {i}" for i in range(8)}
RUN = {q: {doc: 12.0 - d for d, doc in enumerate(DOCS)} for q in QUERIES}
QRELS = {q: {"d11": 1, "d5": 1} for q in QUERIES}


def last_first(query: str, texts: Sequence[str]) -> list[float]:
    return [float(text.split()[1]) for text in texts]


def rerank(scorer: Any = last_first, **options: Any) -> Any:
    return rs.rerank(RUN, scorer, **({"queries_text": QUERIES, "docs_text": DOCS} | options))


def test_only_the_top_is_reordered_and_equal_scores_keep_their_order() -> None:
    run = rerank(depths=[3]).run.frame
    assert run.filter(run["query_id"] == "q0")["doc_id"].to_list() == [
        "d2",
        "d1",
        "d0",
        *[f"d{d}" for d in range(3, 12)],
    ]
    same = rerank(lambda query, texts: [1.0] * len(texts), depths=12).run.frame
    assert same["doc_id"][:12].to_list() == list(DOCS)


def test_each_depth_is_compared_with_the_run_before() -> None:
    found = rerank(depths=[12, 6], qrels=QRELS, metrics="RR")
    assert [row.depth for row in found.by_depth] == [6, 12]
    assert found[6, "RR"].value == 1.0  # d5 is the first of six
    assert found[12, "RR"].value == 1.0
    other = rs.compare(QRELS, {"run": RUN, "depth 6": rerank(depths=6).run}, "RR")["depth 6", "RR"]
    assert found[6, "RR"].difference == other.difference == 1.0 - 1 / 6
    chart = next(found.charts())
    assert len(chart.rows) == 2


def test_latency_is_that_of_the_scorer_at_each_depth() -> None:
    def slow(query: str, texts: Sequence[str]) -> list[float]:
        sleep(0.002 * len(texts))
        return [0.0] * len(texts)

    few, many = rerank(slow, depths=[2, 12]).by_depth
    assert few.latency.value >= 4.0
    assert many.latency.value >= 24.0
    assert many.latency.value > few.latency.value


def test_a_cross_encoder_scores_pairs(need: Callable[[str], ModuleType], tmp_path: Path) -> None:
    need("sentence_transformers")
    transformers: Any = need("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "text", "query", *map(str, range(12))]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=1,
    )
    import torch

    torch.manual_seed(0)
    transformers.BertForSequenceClassification(config).save_pretrained(tmp_path)
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    scorer = CrossEncoderScorer(str(tmp_path))
    texts = list(DOCS.values())
    together, alone = scorer("query 1", texts), [scorer("query 1", [text])[0] for text in texts]
    assert together == pytest.approx(alone, abs=1e-5)
    assert len(set(together)) > 6
    order = [doc for _, doc in sorted(zip(together, DOCS, strict=True), reverse=True)]
    found = rerank(scorer, queries_text=dict.fromkeys(QUERIES, "query 1"), depths=12)
    assert found.run.frame["doc_id"][:12].to_list() == order


def test_a_cross_encoder_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(rs.RankscopeError, match=r"pip install 'rankscope\[rerank\]'"):
        CrossEncoderScorer("any")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scorer": lambda query, texts: [1.0]}, "returned 1 score for 12 texts"),
        ({"scorer": lambda query, texts: [float("nan")] * len(texts)}, "returned nan for text 1"),
        ({"scorer": lambda query, texts: None}, "returned no numbers|returned an array"),
        ({"scorer": lambda query, texts: 1 / 0}, "the re-ranker failed, or returned no numbers: ZeroDivisionError"),
        ({"scorer": "model"}, "a scorer is a function"),
        ({"depths": [0]}, "1 or more"),
        ({"depths": []}, "give the number of documents"),
        ({"docs_text": {"d0": "text 0"}}, "document 'd1' has no text"),
        ({"queries_text": {"q0": "x"}}, "query 'q1' has no text"),
        ({"metrics": "RR"}, "metrics need judgments"),
    ],
)
def test_bad_scorers_and_texts_are_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises((rs.InputError, rs.DataError), match=message) as error:
        rerank(**options)
    assert "\n" not in str(error.value)
