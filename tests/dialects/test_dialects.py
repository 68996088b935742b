"""The tables of other tools: every entry is well formed, and known cases come out as those tools print them."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from math import log2
from typing import Any

import pytest

import rankscope as rs
from rankscope.declared import required_parameters
from rankscope.dialects import DIALECTS, Convention, Dialect, DialectMetric
from rankscope.dialects.learning import LEARNING
from rankscope.dialects.recommendation import RECOMMENDATION
from rankscope.dialects.retrieval import RETRIEVAL
from rankscope.metrics import CATALOGUE
from rankscope.scoring.definitions import CHOICES, translate
from rankscope.scoring.policies import POLICIES

Table = dict[str, dict[str, float]]

EVERY = (*RETRIEVAL, *RECOMMENDATION, *LEARNING)
# what holds at a cutoff; what holds without one is tested where it differs
ENTRIES = [
    (dialect, name, dialect.metric(name, cut=True) or says)
    for dialect in EVERY
    for name, says in dialect.metrics.items()
]
NAMES = [f"{dialect.name} {name}" for dialect, name, _ in ENTRIES]
# what these tools call by the name of one metric is another
ANOTHER = {("elliot", "AP"): "MeanP", ("haystack", "R"): "Success", ("recpack", "Success"): "HitCount"}
WANTED = {
    "rectools", "rectools-achievable", "replay", "recbole", "recpack", "elliot", "elliot-rendle2020",
    "recommenders", "lenskit", "lightgbm", "xgboost", "xgboost-minus", "catboost", "sklearn",
    "torchmetrics", "torchmetrics-neg", "torchmetrics-skip", "torchmetrics-pos", "rax", "tfr",
    "evidently", "implicit", "lightfm", "spark-mllib", "pyg", "trec_eval", "trec_eval-9", "pytrec_eval",
    "ir_measures", "ranx", "ranx-burges", "gdeval", "beir", "mteb", "sentence-transformers", "mlflow",
    "elasticsearch", "opensearch", "quepid", "rre", "haystack", "llamaindex", "phoenix", "autorag",
    "ragas", "deepeval", "trulens", "pyvespa",
}  # fmt: skip


def plain(name: str) -> Any:
    """The metric of this name as rankscope computes it, at 10 where it takes a cutoff, with a top grade where it needs one."""
    cls = CATALOGUE[name]
    made = cls(**{"max_grade": 3} if "max_grade" in required_parameters(cls) else {})
    at = {"cutoff": 10, "recall": 0.5, "multiple": 0.5}
    return made @ at[cls.at] if any(f.name == cls.at for f in fields(cls)) else made


def test_names_are_unique_and_all_are_there() -> None:
    assert max(Counter(dialect.name for dialect in EVERY).values()) == 1
    assert list(DIALECTS) == [dialect.name for dialect in EVERY]
    assert set(DIALECTS) >= WANTED


@pytest.mark.parametrize("dialect", EVERY, ids=lambda dialect: dialect.name)
def test_dialect(dialect: Dialect) -> None:
    assert dialect.name == dialect.name.casefold()
    assert dialect.tool
    assert dialect.about
    assert not dialect.about.endswith(".")
    assert dialect.metrics


@pytest.mark.parametrize(("dialect", "name", "says"), ENTRIES, ids=NAMES)
def test_entry(dialect: Dialect, name: str, says: DialectMetric) -> None:
    convention = dialect.of(name, cut=True)
    for field in fields(Convention):
        value = getattr(convention, field.name)
        assert any(value == choice and type(value) is type(choice) for choice in CHOICES[field.name])
    assert convention.queries != "list"
    assert bool(says.metric) != bool(says.defect), "either a metric or what is wrong with it"
    if not says.metric:
        with pytest.raises(rs.InputError, match="defect"):
            translate(dialect, plain(name))
        return
    assert "@" not in says.metric, "the cutoff is the one asked for"
    theirs = translate(dialect, plain(name))
    assert type(theirs).__name__ == ANOTHER.get((dialect.name, name), name)
    assert getattr(theirs, "cutoff", None) == getattr(plain(name), "cutoff", None)
    if theirs != plain(name) or says.differs:
        assert says.because, "a number that differs has a reason"


@pytest.mark.parametrize(("dialect", "name", "says"), ENTRIES, ids=NAMES)
def test_entry_computes(dialect: Dialect, name: str, says: DialectMetric) -> None:
    if says.metric:
        qrels: Any = {"q": {"a": 1, "b": 0, "c": 1}, "none": {"a": 0}}
        if plain(name).needs & {"subtopics"}:
            qrels = {query: {doc: {"s": grade, "t": 1} for doc, grade in docs.items()} for query, docs in qrels.items()}
        run = {"q": {"a": 3.0, "b": 2.0, "x": 1.0}, "none": {"b": 1.0, "a": 1.0}}
        (mean,) = rs.evaluate(qrels, run, [plain(name)], dialect=dialect.name).board
        least, most = mean.metric.range
        assert least <= mean.value <= most


# --- known cases: what a tool prints, and what it says


def dcg(*gains: float) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def relevant(count: int) -> Table:
    return {"q": {f"r{i}": 1.0 for i in range(count)}}


def ranking(*docs: str) -> Table:
    return {"q": {doc: float(len(docs) - i) for i, doc in enumerate(docs)}}


def value(metric: str, qrels: Table, run: Table, dialect: str | None = None) -> float:
    (mean,) = rs.evaluate(qrels, run, [metric], dialect=dialect).board
    return mean.value


BEST_5 = ranking(*(f"r{i}" for i in range(5)))
BEST_10 = ranking(*(f"r{i}" for i in range(10)))


@pytest.mark.parametrize("dialect", ["mlflow", "elasticsearch", "autorag"])
def test_fewer_documents_are_better(dialect: str) -> None:
    """One of five relevant documents, returned alone; and all five of them, at ranks 6 to 10."""
    ours = 1 / dcg(1, 1, 1, 1, 1)
    assert ours == pytest.approx(0.339, abs=5e-4)
    assert value("nDCG@10", relevant(5), ranking("r0")) == pytest.approx(ours)
    assert value("nDCG@10", relevant(5), ranking("r0"), dialect) == 1
    late = ranking(*(f"x{i}" for i in range(5)), *(f"r{i}" for i in range(5)))
    all_late = dcg(0, 0, 0, 0, 0, 1, 1, 1, 1, 1) / dcg(1, 1, 1, 1, 1)
    assert all_late == pytest.approx(0.54, abs=5e-3)
    assert value("nDCG@10", relevant(5), late, dialect) == pytest.approx(all_late)


@pytest.mark.parametrize("dialect", ["phoenix", "evidently", "sklearn", "rax", "lightgbm"])
def test_missed_documents_cost_nothing(dialect: str) -> None:
    assert value("nDCG@10", relevant(5), ranking("r0", "x"), dialect) == 1


@pytest.mark.parametrize("dialect", ["haystack", "llamaindex", "quepid"])
def test_a_perfect_list_stays_below_1(dialect: str) -> None:
    """The five or ten best of twenty."""
    for best, k, printed in ((BEST_5, 5, 0.419), (BEST_10, 10, 0.645)):
        expected = dcg(*[1] * k) / dcg(*[1] * 20)
        assert value(f"nDCG@{k}", relevant(20), best) == 1
        assert value(f"nDCG@{k}", relevant(20), best, dialect) == pytest.approx(expected)
        assert expected == pytest.approx(printed, abs=5e-4)


@pytest.mark.parametrize("dialect", ["opensearch", "quepid-cut", "gdeval", "ranx-burges", "lightgbm", "xgboost"])
def test_exponential_gain(dialect: str) -> None:
    qrels, run = {"q": {"a": 1.0, "b": 3.0, "c": 2.0}}, ranking("a", "b", "c")
    assert value("nDCG@10", qrels, run) == pytest.approx(dcg(1, 3, 2) / dcg(3, 2, 1))
    assert value("nDCG@10", qrels, run, dialect) == pytest.approx(dcg(1, 7, 3) / dcg(7, 3, 1))


@pytest.mark.parametrize("dialect", ["trec_eval", "pytrec_eval", "ir_measures", "beir", "mteb", "trulens", "pyvespa"])
def test_linear_gain(dialect: str) -> None:
    qrels, run = {"q": {"a": 1.0, "b": 3.0, "c": 2.0}}, ranking("a", "b", "c")
    assert value("nDCG@10", qrels, run, dialect) == pytest.approx(dcg(1, 3, 2) / dcg(3, 2, 1))


@pytest.mark.parametrize("dialect", ["ragas", "deepeval", "autorag", "haystack", "torchmetrics"])
def test_average_precision_of_what_was_found(dialect: str) -> None:
    """One of ten relevant documents at rank 1."""
    assert value("AP@10", relevant(10), ranking("r0", "x")) == pytest.approx(1 / 10)
    assert value("AP@10", relevant(10), ranking("r0", "x"), dialect) == 1


@pytest.mark.parametrize("dialect", ["sentence-transformers", "pyvespa", "replay", "recbole", "pyg", "implicit"])
def test_average_precision_of_what_fits(dialect: str) -> None:
    assert value("AP@5", relevant(20), BEST_5) == pytest.approx(5 / 20)
    assert value("AP@5", relevant(20), BEST_5, dialect) == 1


@pytest.mark.parametrize("dialect", ["mlflow", "opensearch", "rre", "quepid", "llamaindex", "ragas", "xgboost", "rax"])
def test_precision_of_what_was_returned(dialect: str) -> None:
    assert value("P@10", relevant(5), ranking("r0")) == 1 / 10
    assert value("P@10", relevant(5), ranking("r0"), dialect) == 1


@pytest.mark.parametrize("dialect", ["trec_eval", "beir", "sentence-transformers", "phoenix", "pyvespa", "rectools"])
def test_precision_of_k(dialect: str) -> None:
    assert value("P@10", relevant(5), ranking("r0"), dialect) == 1 / 10


def test_judged_documents_are_relevant_in_rre() -> None:
    qrels = {"q": {"a": 0.0, "b": 1.0}}
    assert value("P@1", qrels, ranking("a", "b"), "rre") == 1
    with pytest.raises(rs.InputError, match="two decimals"):
        value("nDCG@10", qrels, ranking("a", "b"), "rre")


def test_recall_of_haystack_is_whether_anything_was_found() -> None:
    assert value("R@5", relevant(20), BEST_5, "haystack") == 1
    assert value("R@5", relevant(20), BEST_5) == 5 / 20


def test_order_of_ties() -> None:
    """Two documents with one score, of which the first by id is relevant."""
    qrels, run = {"q": {"a": 1.0, "b": 0.0}}, {"q": {"a": 1.0, "b": 1.0}}
    last = 1 / log2(3)
    expected = {"pytrec_eval": last, "sentence-transformers": 1, "replay": last, "lightgbm": 1, "catboost": last,
                "sklearn": (1 + last) / 2, "torchmetrics": (1 + last) / 2}  # fmt: skip
    for dialect, printed in expected.items():
        assert value("nDCG@10", qrels, run, dialect) == pytest.approx(printed), dialect


def test_a_query_missing_from_the_run() -> None:
    """One of two queries is answered, perfectly."""
    qrels, run = {"q": {"a": 1.0}, "missing": {"a": 1.0}}, {"q": {"a": 1.0}}
    expected = {"pytrec_eval": 1, "beir": 1, "mteb": 1, "trec_eval-9": 1, "trec_eval": 1 / 2,
                "ir_measures": 1 / 2, "replay": 1 / 2, "rectools": 1 / 2}  # fmt: skip
    for dialect, printed in expected.items():
        assert value("AP@1", qrels, run, dialect) == printed, dialect


def test_a_query_without_relevant_documents() -> None:
    """One query is answered perfectly, and one has nothing to find."""
    qrels, run = {"q": {"a": 1.0}, "none": {"a": 0.0}}, {"q": {"a": 1.0}, "none": {"a": 1.0}}
    expected = {"trulens": 1, "sentence-transformers": 1, "haystack": 1 / 2, "mlflow": 1 / 2, "evidently": 1,
                "lightgbm": 1, "xgboost-minus": 1 / 2, "torchmetrics-skip": 1, "torchmetrics-neg": 1 / 2,
                "spark-mllib": 1 / 2, "lenskit": 1 / 2}  # fmt: skip
    for dialect, printed in expected.items():
        assert value("nDCG@2", qrels, run, dialect) == printed, dialect


def test_precision_of_implicit_is_one_ratio() -> None:
    """Hits of all users out of all that could be hit: (1 + 1) / (1 + 3)."""
    qrels = {"u1": {"a": 1.0}, "u2": {"a": 1.0, "b": 1.0, "c": 1.0}}
    run = {"u1": {"a": 3.0, "x": 2.0, "y": 1.0}, "u2": {"a": 3.0, "x": 2.0, "y": 1.0}}
    assert value("P@3", qrels, run, "implicit") == pytest.approx((1 + 1) / (1 + 3))
    assert value("P@3", qrels, run) == pytest.approx((1 / 3 + 1 / 3) / 2)


def test_rows_of_scikit_learn(need: Any) -> None:
    """Candidate lists with ties and a row without relevant documents, as the real tool has them."""
    metrics = need("sklearn.metrics")
    labels: Any = [[3, 0, 1, 2, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0], [1, 1, 0, 2, 3]]
    scores: Any = [
        [0.9, 0.9, 0.5, 0.1, 0.1],
        [0.2, 0.8, 0.5, 0.5, 0.1],
        [0.1, 0.2, 0.3, 0.4, 0.5],
        [0.3, 0.3, 0.3, 0.1, 0.2],
    ]
    qrels, run = (
        {f"q{i}": {f"d{j}": float(x) for j, x in enumerate(row)} for i, row in enumerate(table)}
        for table in (labels, scores)
    )
    holds = [[int(x > 0) for x in row] for row in labels]
    expected = {
        "nDCG": metrics.ndcg_score(labels, scores),
        "nDCG@3": metrics.ndcg_score(labels, scores, k=3),
        "DCG@3": metrics.dcg_score(labels, scores, k=3),
        "LRAP": metrics.label_ranking_average_precision_score(holds, scores),
        "LabelRankingLoss": metrics.label_ranking_loss(holds, scores),
        "CoverageError": metrics.coverage_error(holds, scores),
    }
    for metric, theirs in expected.items():
        assert value(metric, qrels, run, "sklearn") == pytest.approx(theirs, abs=1e-12), metric


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall", 2 / 4),
        ("recall-l2", 1 / 1),
        ("precision", 2 / 3),
        ("hits", 2),
        ("f1", 2 * 2 / (4 + 3)),
        ("hit_rate", 1),
    ],
)
def test_names_of_ranx_look_at_the_whole_list(name: str, expected: float) -> None:
    """Two of four relevant documents are among the three that were returned."""
    qrels = {"q": {"a": 1, "b": 2, "c": 1, "d": 1}}
    scores = rs.evaluate(qrels, {"q": {"x": 3.0, "a": 2.0, "b": 1.0}}, [name], dialect="ranx")
    assert scores[name] == pytest.approx(expected)
    assert [mean.spelling for mean in scores.board] == [name]


def test_the_order_of_ties_in_ranx_is_called_arbitrary() -> None:
    said = "(its own order of equal scores is arbitrary)"
    assert said in POLICIES["dialect"].brief("ranx")
    assert said in POLICIES["dialect"].sentence("ranx")
    assert "(" not in POLICIES["dialect"].brief("trec_eval")
