"""``advise``: what it recommends can be parsed and evaluated, and every number that it rests on is what another way gives."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.made.files import some

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.inference.power import detectable_difference
from rankscope.metrics import CATALOGUE
from rankscope.scoring.health import level_of, looks_like_ratings
from rankscope.scoring.settings import settings_of
from rankscope.verbs.advise.advise import advise
from rankscope.verbs.advise.result import Advice, fold
from rankscope.verbs.advise.situation import CONDITIONS, RESTS, situation_of
from rankscope.verbs.advise.tasks import PITFALLS, SHARED_LAST, TASK_SIGNALS, TASKS, WITH_ASPECTS, task_called

Grades = dict[str, dict[str, float]]
Shared = Callable[[str], Path]

ONE: Grades = {f"q{i}": {f"d{i}": 1} for i in range(10)}
FEW: Grades = {f"q{i}": {"a": 1, "b": 1, "c": 0, "d": 0} for i in range(10)}
MANY: Grades = {f"q{i}": {f"d{j}": float(j < 15) for j in range(30)} for i in range(10)}
GRADED: Grades = {f"q{i}": {f"d{j}": float(j % 4) for j in range(40)} for i in range(10)}
SPAM: Grades = {f"q{i}": {"a": 2, "b": 1, "c": 0, "d": -2} for i in range(6)}
STARS: Grades = {f"u{i}": {f"i{j}": float(1 + (i + j) % 5) for j in range(8)} for i in range(10)}
PLAYS: Grades = {f"u{i}": {f"i{j}": float(j**3 + 1) for j in range(8)} for i in range(10)}
SHARES: Grades = {f"q{i}": {"a": 0.7, "b": 0.2, "c": 0} for i in range(6)}
CLICKS: Grades = {f"u{i}": {f"a{j}": float((i + j) % 3 == 0) for j in range(9)} for i in range(10)}
BARREN: Grades = {"q1": {"a": 1, "b": 0}, "q2": {"a": 0, "b": 0}, "q3": {"a": 1, "c": 1, "d": 0}}
SIDES: Any = {f"q{i}": {"a": {"s1": 1, "s2": 0}, "b": {"s1": 1, "s2": 1}, "c": {"s1": 0}} for i in range(5)}
SHAPES: dict[str, Any] = {
    "one": ONE, "few": FEW, "many": MANY, "graded": GRADED, "spam": SPAM, "stars": STARS, "plays": PLAYS, "shares": SHARES,
    "clicks": CLICKS, "barren": BARREN, "sides": SIDES,
}  # fmt: skip
NAMES = [task.name for task in TASKS]


def ranked(qrels: Any, worst: bool = False) -> dict[str, dict[str, float]]:
    """A run of all judged documents, the best (or the worst) first, and then one that nobody judged."""
    sign = -1.0 if worst else 1.0
    out = {}
    for query, documents in qrels.items():
        grades = {d: max(g.values()) if isinstance(g, dict) else g for d, g in documents.items()}
        order = sorted(grades, key=lambda d: (-sign * grades[d], d))
        out[query] = {d: float(len(order) - i) for i, d in enumerate(order)} | {"unjudged": 0.0}
    return out


def table_of(path: Path) -> Grades:
    out: Grades = {}
    for line in path.read_text().splitlines():
        query, _, doc, grade = line.split()
        out.setdefault(query, {})[doc] = float(grade)
    return out


# --- laws, over all tasks and shapes of data ---------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("task", [None, *NAMES])
def test_what_is_recommended_can_be_evaluated(task: str | None, shape: str) -> None:
    qrels = SHAPES[shape]
    found = advise(qrels, task=task)
    assert found.recommended[0].primary
    assert not any(one.primary for one in found.recommended[1:])
    assert [str(rs.parse(name)) for name in found.metrics] == found.metrics == list(dict.fromkeys(found.metrics))
    assert found.primary.better != "neither"
    for one in found.recommended:
        assert one.why
        assert any(sign.isdigit() for sign in one.rests_on)
    best, worst = (rs.evaluate(qrels, ranked(qrels, w), found.metrics) for w in (False, True))
    for one in found.recommended:
        assert math.isfinite(best[str(one.metric)])
    assert best[str(found.primary)] >= worst[str(found.primary)]
    assert best[str(found.primary)] > 0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("task", NAMES)
def test_nothing_is_recommended_and_warned_of(task: str, shape: str) -> None:
    found = advise(SHAPES[shape], task=task)
    names = [one.metric for one in found.avoid]
    assert len(set(names)) == len(names)
    assert not set(names) & set(found.metrics)
    for name in names:
        assert name == "nDCG at different k" or str(rs.parse(name)) == name
    assert all(one.why for one in found.avoid)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("task", [None, *NAMES])
def test_with_runs_all_is_evaluated_and_shown(task: str | None, shape: str) -> None:
    qrels = SHAPES[shape]
    found = advise(qrels, {"good": ranked(qrels), "bad": ranked(qrels, worst=True)}, task)
    assert found.scores is not None
    assert [str(m) for m in found.scores.metrics] == found.metrics
    assert found.blocks()
    assert found.json_document()["recommended"][0]["primary"] is True
    assert str(found).startswith(f"Declare {found.primary} in advance: for the task {found.task.name},")


def test_declarations_name_what_there_is() -> None:
    picks = [pick for task in TASKS for pick in task.picks] + [*SHARED_LAST, *WITH_ASPECTS]
    words = (
        {w for pick in picks for w in pick.when}
        | {w for r in PITFALLS for w in r.when}
        | {w for s in TASK_SIGNALS for w in s.when}
    )
    assert {word.removeprefix("not ") for word in words} <= set(CONDITIONS)
    assert {pick.rests for pick in picks} <= set(RESTS)
    assert {pick.metric for pick in picks} <= set(CATALOGUE)
    named = {name for rule in PITFALLS for name in (*rule.tasks, *rule.apart)} | {sign.task for sign in TASK_SIGNALS}
    assert named <= set(NAMES)
    for task in TASKS:
        assert all(task_called(name) is task for name in (task.name, *task.also)), task.name
        assert task_called(task.name.upper().replace("-", "_")) is task


def test_the_page_is_fresh() -> None:
    path = Path(__file__).resolve().parents[3] / "tools" / "write_advise_page.py"
    spec = util.spec_from_file_location("write_advise_page", path)
    assert spec is not None
    assert spec.loader is not None
    tool = util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page(), "docs/advise.md is out of date: make docs"


# --- numbers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["trec_covid/qrels.txt", "qrels/qrels.dl19-passage.txt", "qrels/qrels.web.201-250.txt"]
)
@pytest.mark.parametrize("k", [3, 10, 100])
def test_ceilings_are_those_of_a_perfect_run(shared_data: Shared, name: str, k: int) -> None:
    qrels = table_of(shared_data(name))
    facts = situation_of(rs.read_qrels(str(shared_data(name))))
    scores = rs.evaluate(qrels, ranked(qrels), [f"P@{k}", f"R@{k}", f"IdealDCG@{k}"])
    assert facts.precision_ceiling(k) == pytest.approx(scores[f"P@{k}"], abs=1e-12)
    assert facts.recall_ceiling(k) == pytest.approx(scores[f"R@{k}"], abs=1e-12)
    ideal = scores.runs[0].values[rs.parse(f"IdealDCG@{k}")]
    assert sorted(facts.ideal_gains(k)) == pytest.approx(sorted(ideal[ideal > 0].tolist()), abs=1e-12)


def test_ceilings_as_arithmetic() -> None:
    found = advise(BARREN, task="web", k=2)
    assert found.situation.relevant.tolist() == [1, 0, 2]
    assert found.situation.precision_ceiling(2) == pytest.approx((1 / 2 + 0 + 2 / 2) / 3)
    assert found.situation.recall_ceiling(1) == pytest.approx((1 / 1 + 0 + 1 / 2) / 3)
    one = advise(ONE, task="web")
    (said,) = [a.why for a in one.avoid if a.metric == "P@10"]
    assert said.startswith("an ideal ranking scores only 0.1")
    assert rs.evaluate(ONE, ranked(ONE), "P@10")["P@10"] == pytest.approx(1 / 10)


def test_the_ceiling_at_a_level_is_named_at_that_level() -> None:
    found = advise(STARS, task="feed", k=1)
    (said,) = [a for a in found.avoid if a.metric.startswith("R(")]
    value = rs.evaluate(STARS, ranked(STARS), said.metric)[said.metric]
    assert f"scores only {value:.2f}" in said.why


def test_err_without_the_top_grade() -> None:
    two = {f"q{i}": {"a": 2, "b": 1, "c": 0} for i in range(5)}
    found = advise(two, task="web")
    assert "ERR(max_grade=2)@10" in found.metrics
    (said,) = [a.why for a in found.avoid if a.metric == "ERR@10"]
    chances = [rs.parse(name).of([2]) for name in ("ERR@10", "ERR(max_grade=2)@10")]
    assert chances == [3 / 16, 3 / 4]
    assert f"{chances[0]:.2f} instead of {chances[1]:.2f}" in said
    five = {f"q{i}": {"a": 5, "b": 1, "c": 0} for i in range(5)}
    assert any("refuses your 5" in a.why for a in advise(five, task="web").avoid if a.metric == "ERR@10")
    with pytest.raises(InputError, match="max_grade"):
        rs.evaluate(five, ranked(five), "ERR@10")
    assert not any(
        a.metric.startswith("ERR") for a in advise({q: {"a": 4, "b": 1, "c": 0} for q in "xyz"}, task="web").avoid
    )


def test_the_share_of_gain_of_the_top_grade() -> None:
    qrels = {"q": {f"d{j}": float(j) for j in range(8)}}
    (said,) = [a.why for a in advise(qrels, task="web").avoid if a.metric.startswith("nDCG(gain='exponential')")]
    assert (
        f"holds {(2**7 - 1) / sum(2**g - 1 for g in range(1, 8)):.0%} of all gain but only {1 / 7:.0%} of the documents"
        in said
    )


def test_pooled_auc_where_users_differ() -> None:
    qrels = {"u1": {"a": 1, "b": 0}, "u2": {"a": 1, "b": 0, "c": 0, "d": 0}}
    found = advise(qrels, task="ctr")
    assert found.metrics[:2] == ["GAUC", "AUC"]
    (said,) = [a.why for a in found.avoid if a.metric == "AUC(pooled=True)"]
    assert "between 25% and 50%" in said


def test_what_queries_can_show() -> None:
    rng = np.random.default_rng(7)
    runs = {
        name: {q: {d: float(rng.normal()) for d in documents} for q, documents in GRADED.items()}
        for name in ("a", "b", "c")
    }
    two = advise(GRADED, {n: runs[n] for n in ("a", "b")}, "web")
    planned = rs.power(GRADED, {n: runs[n] for n in ("a", "b")}, "nDCG@10").reaches[0]
    assert two.showable is not None
    assert two.showable.spread_from == "pairs"
    assert two.showable.difference == pytest.approx(planned.detectable.difference, rel=1e-12)
    three = advise(GRADED, runs, "web").showable
    assert three is not None
    assert three.pairs == 3
    alone = advise(GRADED, runs["a"], "web").showable
    values = rs.evaluate(GRADED, runs["a"], "nDCG@10").runs[0].values[rs.parse("nDCG@10")]
    assert alone is not None
    assert alone.difference == pytest.approx(detectable_difference(10, float(values.std(ddof=1))))
    nothing = advise(GRADED, task="web").showable
    assert nothing is not None
    assert nothing.difference == detectable_difference(10, 0.2)
    assert advise({"q": {"a": 1}}).showable is None
    same = advise(GRADED, {"a": runs["a"], "b": runs["a"]}, "web")
    assert same.showable is None
    assert "is not known" in " ".join(b.text for b in same.blocks() if hasattr(b, "text"))


def test_levels_and_scales() -> None:
    assert level_of({1: 5, 2: 9, 3: 9, 4: 9, 5: 9}) == 4
    assert level_of({0.5: 1, 3.5: 1, 4.0: 1, 4.5: 1, 5.0: 1}) == 4
    assert level_of({0: 100, 1: 5, 2: 9, 3: 9, 4: 9, 5: 9}) == 1
    assert level_of({1: 5, 2: 9}) == 1
    assert level_of({0: 9, 0.2: 5, 0.5: 9}) == 0.2
    assert not looks_like_ratings({1: 1, 9: 1, 28: 1, 126: 1, 2000: 1})
    assert not looks_like_ratings({1: 1, 2: 1, 3: 1, 4: 1, -1: 1})  # Cranfield: all four are relevant


# --- each task ------------------------------------------------------------------------------------------

PRIMARY = [
    ("navigational", ONE, "RR@10"), ("known-item", GRADED, "RR(level=3)@10"), ("qa", ONE, "RR@10"), ("qa", FEW, "RR@10"),
    ("qa", GRADED, "nDCG@10"), ("web", GRADED, "nDCG@10"), ("web", FEW, "nDCG@10"), ("web", ONE, "RR@10"),
    ("exploratory", MANY, "nDCG@20"), ("diversity", SIDES, "alpha_nDCG@20"), ("legal", FEW, "R@1000"), ("entity", GRADED, "nDCG@10"),
    ("entity linking", ONE, "RR@10"), ("candidates", MANY, "R@100"), ("reranking", GRADED, "nDCG@10"), ("recsys", CLICKS, "nDCG@20"),
    ("recsys", STARS, "nDCG(gain={1: 0, 2: 0, 3: 0})@20"), ("recsys", PLAYS, "nDCG(gain='binary')@20"), ("playlist", ONE, "RR@20"),
    ("playlist", MANY, "nDCG@20"), ("ctr", CLICKS, "GAUC"), ("ctr", ONE, "Accuracy"), ("rag", ONE, "R@5"),
    ("rag", MANY, "R(denominator='min_k_relevant')@5"), ("leaderboard", GRADED, "nDCG@10"), ("leaderboard", ONE, "RR@10"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "qrels", "primary"), PRIMARY, ids=[f"{t}-{p}" for t, _, p in PRIMARY])
def test_the_primary_metric_of_each_task(task: str, qrels: Any, primary: str) -> None:
    assert str(advise(qrels, task=task).primary) == primary


def test_every_task_is_tried() -> None:
    assert {task_called(name).name for name, _, _ in PRIMARY} == set(NAMES)


def avoids(found: Advice) -> set[str]:
    return {one.metric for one in found.avoid}


def test_what_is_avoided_where() -> None:
    web = avoids(advise(GRADED, task="web"))
    assert {"AP", "R@10", "nDCG at different k", "ERR@10"} <= web
    assert "RR" not in avoids(advise(ONE, task="web"))
    assert "AP" not in avoids(advise(FEW, task="web"))
    assert "DCG@10" in avoids(advise({"a": {"x": 1}, "b": {f"d{i}": 1 for i in range(9)}}, task="web"))
    assert "DCG@10" not in avoids(advise(ONE, task="web"))
    assert {"nDCG@10", "RR@100"} <= avoids(advise(MANY, task="candidates"))
    assert "alpha_nDCG@20" in avoids(advise(MANY, task="exploratory"))
    assert "nDCG(ideal='retrieved_topk')@5" in avoids(advise(MANY, task="rag"))
    assert "AUC" in avoids(advise(ONE, task="ctr"))
    assert avoids(advise(SIDES, task="web")) == {"nDCG@10"}
    with pytest.raises(InputError, match="several grades"):
        rs.evaluate(SIDES, ranked(SIDES), "nDCG@10")


def test_k_is_what_people_see() -> None:
    assert advise(MANY, task="rag", k=20).metrics[0] == "R@20"
    assert advise(GRADED, task="web", k=3).metrics[0] == "nDCG@3"
    five: Any = np.int64(5)
    assert advise(GRADED, task="web", k=five).metrics[0] == "nDCG@5"


def test_cutoffs_go_no_deeper_than_the_runs() -> None:
    cut = {q: dict(list(documents.items())[:6]) for q, documents in ranked(MANY).items()}
    found = advise(MANY, cut, "recall")
    assert found.situation.k == 6
    assert str(found.primary) == "R(denominator='min_k_relevant')@6"
    assert "AP@6" in found.metrics
    (said,) = [a.why for a in found.avoid if a.metric == "AP"]
    assert "AP@6 by another name" in said
    scores = rs.evaluate(MANY, cut, ["AP", "AP@6"])
    assert scores["AP"] == scores["AP@6"]
    assert advise(MANY, cut, "recall", k=9).situation.k == 9
    uneven = advise(MANY, {"short": cut, "long": ranked(MANY)}, "benchmark")
    assert any("different depths, 6 to 31" in a.why for a in uneven.avoid)


def test_holes_in_the_judgments() -> None:
    run = {q: {**{f"x{i}": 100.0 - i for i in range(4)}, **documents} for q, documents in ranked(GRADED).items()}
    found = advise(GRADED, {"new": run}, "web")
    assert {"Bpref", "Judged@10"} <= set(found.metrics)
    assert found.situation.runs[0].unjudged == pytest.approx(4 / 10)
    assert any(one.rests_on == "40% of the top 10 of new is not in the judgments" for one in found.recommended)
    assert rs.evaluate(GRADED, run, "Judged@10")["Judged@10"] == pytest.approx(1 - 4 / 10)
    assert "Bpref" not in advise(GRADED, ranked(GRADED), "web").metrics


def test_ties_are_told() -> None:
    tied = {q: dict.fromkeys(documents, 1.0) for q, documents in GRADED.items()}
    assert "100% of the top 10 of run shares its score" in " ".join(advise(GRADED, tied).json_document()["doubts"])


@pytest.mark.parametrize(
    "order", [("sound", "bad"), ("bad", "sound")], ids=["the sound run first", "the bad run first"]
)
def test_of_several_runs_the_worst_is_named(order: tuple[str, str]) -> None:
    """Ten documents of one score, four of them unjudged, beside a run without either."""
    bad = {
        q: {**{f"x{i}": 1.0 for i in range(4)}, **dict.fromkeys([*documents][:6], 1.0)}
        for q, documents in GRADED.items()
    }
    runs = {name: bad if name == "bad" else ranked(GRADED) for name in order}
    found = advise(GRADED, runs, "web")
    assert any(one.rests_on == "40% of the top 10 of bad is not in the judgments" for one in found.recommended)
    assert "100% of the top 10 of bad shares its score" in " ".join(found.json_document()["doubts"])


# --- which task the data are of ----------------------------------------------------------------------

LOOKS = [
    ({str(i): {f"i{j}": float(1 + (i + j) % 5) for j in range(8)} for i in range(10)}, "feed"),  # users are numbers
    (ONE, "known-item"), (GRADED, "web"), (STARS, "feed"), (CLICKS, "clicks"), (SIDES, "exploratory"), (SPAM, "web"),
    ({f"user_{i}": {f"i{i}": 1} for i in range(9)}, "next-item"),
    ({f"q{i}": {f"Q{j + 1}": float(j % 3) for j in range(9)} for i in range(9)}, "entity"),
    ({f"q{i}": {f"d{i}": 1} for i in range(1200)}, "question-answering"),
    ({f"q{i}": {f"d{j}": float(j < 200) for j in range(300)} for i in range(5)}, "recall"),
]  # fmt: skip


@pytest.mark.parametrize(("qrels", "task"), LOOKS, ids=[f"{number} {task}" for number, (_, task) in enumerate(LOOKS)])
def test_the_task_is_read_off_the_data(qrels: Any, task: str) -> None:
    found = advise(qrels)
    assert found.task.name == task
    assert found.likeliest[0].task == task
    assert len(found.likeliest) == 2
    assert found.sure in {"clear", "likely", "a guess"}
    assert found.likeliest[0].because
    assert advise(qrels, task="web").sure == "said"


def test_given_candidates_are_re_ranked() -> None:
    candidates = {q: {d: s for d, s in found.items() if d != "unjudged"} for q, found in ranked(GRADED).items()}
    assert advise(GRADED, candidates).task.name == "re-ranking"
    assert advise(GRADED, ranked(GRADED)).task.name == "web"
    short = {q: dict(list(found.items())[:5]) for q, found in ranked(FEW).items()}
    assert "rag" in [guess.task for guess in advise(FEW, {q: {**f, "x": -1.0} for q, f in short.items()}).likeliest]


# --- real data --------------------------------------------------------------------------------------------


def tsv(path: Path, query: str, doc: str, grade: str, sep: str) -> Grades:
    out: Grades = {}
    with path.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter=sep):
            out.setdefault(row[query], {})[row[doc]] = float(row[grade])
    return out


@pytest.mark.parametrize(
    ("name", "task", "primary"),
    [
        ("trec_covid/qrels.txt", "web", "nDCG@10"),
        ("qrels/qrels.dl19-passage.txt", "web", "nDCG@10"),
        ("qrels/qrels.msmarco-passage.dev-subset.txt", "question-answering", "RR@10"),
        ("qrels/qrels.web.201-250.txt", "web", "nDCG@10"),
        ("qrels/qrels.web.201-250.ndeval.txt", "exploratory", "alpha_nDCG@20"),
        ("cacm/qrels.cacm.txt", "recall", "R@1000"),
    ],
)
def test_real_judgments(shared_data: Shared, name: str, task: str, primary: str) -> None:
    found = advise(str(shared_data(name)))
    assert (found.task.name, str(found.primary)) == (task, primary)
    assert found.qrels == str(shared_data(name))


def test_msmarco_says_how_many_queries_have_one_answer(shared_data: Shared) -> None:
    path = shared_data("qrels/qrels.msmarco-passage.dev-subset.txt")
    counts = [len(documents) for documents in table_of(path).values()]
    found = advise(str(path))
    assert (
        found.recommended[0].rests_on
        == f"{counts.count(1):,} of {len(counts):,} queries have exactly one relevant document"
    )
    (said,) = [a.why for a in found.avoid if a.metric == "P@10"]
    assert f"scores only {sum(counts) / 10 / len(counts):.4g}" in said


def test_movielens_and_labels_of_a_search_engine(shared_data: Shared) -> None:
    films = tsv(shared_data("movielens/ratings.csv"), "userId", "movieId", "rating", ",")
    films = {f"user{u}": items for u, items in films.items()}
    assert advise({user.removeprefix("user"): items for user, items in films.items()}).task.name == "feed"
    found = advise(films)
    assert (found.task.name, found.sure, found.situation.level) == ("feed", "clear", 4)
    assert str(found.primary).endswith("3.5: 0})@20")
    best = rs.evaluate(films, ranked(films), found.metrics)
    assert best[str(found.primary)] == pytest.approx(1)
    labels = tsv(shared_data("clara2/CLARA2QueryUrlRelevance_beta"), "query", "url", "relevance", "\t")
    found = advise(labels)
    assert (found.task.name, found.situation.level) == ("web", 4)
    assert str(found.primary) == "nDCG(gain='exponential')@10"
    assert rs.evaluate(labels, ranked(labels), found.metrics)["ERR(max_grade=5)@10"] > 0.4


def test_real_runs(shared_data: Shared) -> None:
    runs = [str(path) for path in some(shared_data("trec_covid/round1/runs").glob("*.gz"))[:3]]
    found = advise(str(shared_data("trec_covid/qrels.txt")), runs, "web")
    assert found.showable is not None
    assert found.showable.pairs == 3
    assert all(run in found.next[0] for run in runs)
    assert found.scores is not None
    assert len(found.scores.runs) == 3


# --- how it is said -----------------------------------------------------------------------------------------


def test_the_settings_are_settings(tmp_path: Path) -> None:
    for qrels in SHAPES.values():
        found = advise(qrels)
        (tmp_path / "pyproject.toml").write_text(found.settings)
        read = settings_of(start=tmp_path)
        assert read.values["primary"] == str(found.primary)
        assert read.metrics == [m for m in found.metrics if rs.parse(m).better != "neither"]


def test_without_files_the_next_step_is_a_call() -> None:
    found = advise(FEW, ranked(FEW), "web")
    names = {"rs": rs, "qrels": FEW, "runs": {"a": ranked(FEW), "b": ranked(FEW, worst=True)}}
    scores, compared = (eval(call, dict(names)) for call in found.next)  # the calls are ours
    assert [str(m) for m in scores.metrics] == found.metrics
    assert str(compared)


def test_several_grades_or_the_best_of_them(shared_data: Shared) -> None:
    path = str(shared_data("qrels/qrels.web.201-250.ndeval.txt"))
    found = advise(path, task="web", duplicates="best")
    assert str(found.primary) == "nDCG@10"
    assert found.next[0].endswith("--duplicates best")
    assert 'duplicates = "best"' in found.settings


def test_records_say_what_the_envelope_says() -> None:
    found = advise(GRADED, task="web")
    rows = found.rows
    assert [r["metric"] for r in rows if r["kind"] == "recommended"] == found.metrics
    assert [r["metric"] for r in rows if r["kind"] == "avoid"] == [a["metric"] for a in found.json_document()["avoid"]]


def test_long_commands_are_folded_where_they_can_be_pasted() -> None:
    long = "rankscope evaluate q.txt 'my run.txt' " + " ".join(f"-m nDCG@{k}" for k in range(1, 30))
    assert "".join(line.removesuffix("\\").rstrip() + " " for line in fold(long)).split() == long.split()
    assert max(map(len, fold(long))) <= 75


# --- bad input ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "error", "says"),
    [
        ({"qrels": {}}, InputError, "the qrels dict is empty"),
        ({"qrels": {"q1": {}}}, InputError, "no judgment"),
        ({"qrels": {"q1": {"a": 0, "b": -1}}}, DataError, "no document is relevant: all 2 grades"),
        ({"qrels": FEW, "task": "leagl"}, InputError, "did you mean legal"),
        ({"qrels": FEW, "task": "xyzzy"}, InputError, "no task is called 'xyzzy': there are known-item"),
        ({"qrels": FEW, "task": 3}, InputError, "a task is a name"),
        ({"qrels": FEW, "k": 0}, InputError, "k=0"),
        ({"qrels": FEW, "k": 2.5}, InputError, "k=2.5"),
        ({"qrels": FEW, "k": True}, InputError, "k=True"),
        ({"qrels": FEW, "runs": []}, InputError, "no run was given"),
        ({"qrels": FEW, "runs": {"z": {"a": 1.0}}}, DataError, "no query of .* is judged"),
        ({"qrels": "nowhere.txt"}, InputError, "nowhere.txt"),
        ({"qrels": {"q": {"a": math.nan}}}, InputError, "NaN|not a number|nan"),
    ],
)  # fmt: skip
def test_what_cannot_be_advised_on_is_one_line(said: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as found:
        advise(**said)
    assert "\n" not in str(found.value)


def test_all_formats_say_the_same() -> None:
    found = advise(GRADED, {"good": ranked(GRADED), "bad": ranked(GRADED, worst=True)}, "web")
    whole = found.json_document()
    assert whole["verdict"] == [str(found)] == [next(found.sentences())]
    assert whole["recommended"] == found.to_dicts("recommended")
    assert found.to_polars("avoid")["metric"].to_list() == [one["metric"] for one in whole["avoid"]]
    assert found.to_polars()["metric"].to_list() == [row["metric"] for row in found.rows]
    text = " ".join(found.to_text(10_000).split())
    for row in found.rows:
        assert row["why"].partition(" (grades")[0] in text  # facts of the data are printed once
        assert row["why"].partition(" (grades")[0] in found.to_markdown().replace("\\", "")


def test_where_the_size_that_can_be_detected_comes_from() -> None:
    rng = np.random.default_rng(7)
    run = {q: {d: float(rng.normal()) for d in documents} for q, documents in GRADED.items()}
    alone = advise(GRADED, run, "web").detection
    assert alone.endswith("(if another run's scores correlate with these at 0.5 (measured if there are two runs)).")
    none = advise(GRADED, task="web").detection
    assert none.endswith(
        "(if the differences of two runs have a standard deviation of 0.2 (measured if there are two runs))."
    )


def test_a_task_that_was_not_named_is_doubted() -> None:
    found = advise(GRADED)
    first, second = found.likeliest
    doubt = next(iter(found.doubts()))
    assert doubt.startswith(f"No task= was given. The data look like {first.task} (")
    assert "). This is " in doubt
    assert f". Next comes {second.task} (" in doubt
    assert doubt.endswith("). Name the task with task=.")


# --- what is said of the data is true of them ----------------------------------------------------------

ONE_TOPIC_EACH: Any = {f"q{i}": {f"d{j}": {f"s{j % 3}": 1} for j in range(9)} for i in range(5)}
TOPIC_ROWS = [
    (q, doc, topic, grade)
    for q, docs in ONE_TOPIC_EACH.items()
    for doc, of in docs.items()
    for topic, grade in of.items()
]


@pytest.mark.parametrize("name", ["nested dicts", "a column", "column 2", "numbers in column 2"])
def test_subtopics_of_documents_that_have_one_each(name: str, tmp_path: Path) -> None:
    given: Any = ONE_TOPIC_EACH
    if name == "a column":
        given = pl.DataFrame(TOPIC_ROWS, schema=["query_id", "doc_id", "subtopic", "grade"], orient="row")
    elif name != "nested dicts":
        given = tmp_path / "topics.qrels"
        number = {"s0": "1", "s1": "2", "s2": "3"} if name.startswith("numbers") else {}
        given.write_text(
            "".join(f"{q} {number.get(topic, topic)} {doc} {grade}\n" for q, doc, topic, grade in TOPIC_ROWS)
        )
    found = advise(given, task="exploratory")
    assert found.metrics[0] == "alpha_nDCG@20"
    assert "3 subtopics (or judges) a query" in found.recommended[0].rests_on
    assert not any("subtopics" in one.why for one in found.avoid if one.metric.startswith("alpha_nDCG"))
    assert rs.evaluate(given, ranked(ONE_TOPIC_EACH), "alpha_nDCG@20")["alpha_nDCG@20"] > 0


@pytest.mark.parametrize("second", ["0", "Q0", "0.5 1 1.5", "1"])
def test_column_2_without_subtopics(second: str, tmp_path: Path) -> None:
    """Zeros, the Q0 of runs, rounds of a track, a constant."""
    path, values = tmp_path / "plain.qrels", second.split()
    path.write_text("".join(f"{row[0]} {values[i % len(values)]} {row[1]} 1\n" for i, row in enumerate(TOPIC_ROWS)))
    assert not advise(path, task="exploratory").metrics[0].startswith("alpha")


@pytest.mark.parametrize("task", ["rag", "web", "qa"])
@pytest.mark.parametrize("qrels", [GRADED, MANY, FEW], ids=["graded", "many", "few"])
def test_where_one_good_answer_is_wanted_rr_is_fitting(qrels: Any, task: str) -> None:
    found = advise(qrels, task=task)
    assert any(name.startswith("RR") and "@" in name for name in found.metrics)
    assert any(name.startswith("nDCG") for name in found.metrics)
    assert not any(name.startswith("RR") for name in avoids(found))


def test_the_reason_of_a_cutoff_is_that_of_the_one_at_hand() -> None:
    assert advise(GRADED, task="web").cutoff == "Cutoff 10: ten results make a page, and a phone shows three."
    assert advise(GRADED, task="web", k=5).cutoff == "Cutoff 5: set by you, instead of 10 for this task."


@pytest.mark.parametrize(
    ("said", "task"),
    [
        ("RAG chatbot", "rag"), ("document search", "web"), ("a chatbot for our wiki", "rag"), ("Legal", "recall"),
        ("enterprise search", "web"), ("first stage", "candidates"), ("e-commerce search", "web"), ("legal discovery", "recall"),
        ("question answering over manuals", "question-answering"), ("news feed", "feed"), ("playlist continuation", "next-item"),
        ("code search", "web"), ("MovieLens ratings", "feed"), ("chatbot/RAG", "rag"), ("support tickets", "question-answering"),
        ("search with a chatbot", "rag"),
    ],
)  # fmt: skip
def test_tasks_in_other_words(said: str, task: str) -> None:
    assert task_called(said).name == task


@pytest.mark.parametrize("said", ["nothing known", "", "..."])
def test_no_task_in_these_words(said: str) -> None:
    with pytest.raises(InputError, match=r"no task is called .* there are known-item, "):
        task_called(said)


def test_words_of_several_tasks_are_told_apart() -> None:
    with pytest.raises(
        InputError, match=r"'feed or playlist': it may be feed \(feed\) or next-item \(playlist\): name one"
    ):
        task_called("feed or playlist")


def test_reasons_go_by_the_cutoff_that_was_given() -> None:
    def reasons(task: str, k: int) -> dict[str, str]:
        return {str(one.metric): one.why for one in advise(GRADED, task=task, k=k).recommended}

    assert "nDCG@3" in reasons("web", 10)
    assert "nDCG@3" not in reasons("web", 2)
    qrels = {f"q{i}": {f"d{j}": 1 for j in range(9)} for i in range(5)}
    metrics = [[str(one.metric) for one in advise(qrels, task="feed", k=k).recommended] for k in (20, 60)]
    assert ["R@50" in some for some in metrics] == [True, False]
    (found,) = (one.why for one in advise(qrels, task="rag", k=4).recommended if str(one.metric).startswith("R("))
    assert found == "many queries have more than 4 relevant documents, so it divides by the smaller of both"
