"""RecTools, RePlay and LensKit, run for real in an environment of their own: every user and the mean, under their dialects."""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pytest

import rankscope as rs

CLOSE = 1e-9
AT = (1, 3, 5, 10)
USERS = 300
ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-recommenders" / "bin" / "python"

RECTOOLS = {
    **{name: ("rectools", name) for name in ("P", "R", "F", "AP", "RR", "nDCG", "Success")},
    **{f"achievable {name}": ("rectools-achievable", name) for name in ("P", "AP", "nDCG")},
}
REPLAY = {name: ("replay", name) for name in ("P", "R", "AP", "RR", "nDCG", "Success")}
CASES = [("rectools", *case) for case in RECTOOLS.items()] + [("replay", *case) for case in REPLAY.items()]


class Data(NamedTuple):
    """What users liked, what they were shown: (user, item, score), best first, what they had before, and the labels of items."""

    truth: dict[str, list[str]]
    rows: list[tuple[str, str, float]]
    train: Mapping[str, list[str]] = {}
    labels: Mapping[str, list[str]] = {}

    @property
    def qrels(self) -> dict[str, dict[str, float]]:
        return {user: dict.fromkeys(items, 1.0) for user, items in self.truth.items()}

    @property
    def run(self) -> dict[str, dict[str, float]]:
        out: dict[str, dict[str, float]] = {}
        for user, item, score in self.rows:
            out.setdefault(user, {})[item] = score
        return out


def missing(why: str) -> NoReturn:
    if os.environ.get("RANKSCOPE_REQUIRE_PARITY") == "1":
        pytest.fail(f"RANKSCOPE_REQUIRE_PARITY=1, but {why}")
    pytest.skip(why)


@pytest.fixture(scope="session")
def ask() -> Callable[[Data], dict[str, dict[str, dict[str, float]]]]:
    """What both tools say of some data, by tool, metric with cutoff and user; "all" is the mean."""
    if not PYTHON.exists():
        missing("RecTools and RePlay are not installed (.venv-recommenders, made by make test)")
    found = subprocess.run([PYTHON, "-c", "import rectools, replay"], capture_output=True, check=False)
    if found.returncode:
        missing("RecTools and RePlay cannot be imported in .venv-recommenders")

    def said(data: Data) -> Any:
        peer = subprocess.run(
            [PYTHON, "-W", "ignore", Path(__file__).with_name("recommenders_peer.py")],
            input=json.dumps(
                {"truth": data.truth, "lists": data.rows, "train": data.train, "labels": data.labels, "at": AT}
            ),
            capture_output=True,
            text=True,
            check=False,
        )
        assert peer.returncode == 0, peer.stderr[-2000:]
        return json.loads(peer.stdout)

    return said


@pytest.fixture(scope="session")
def six(ask: Any) -> tuple[Data, Any]:
    """Six users: one was shown nothing, and one liked nothing."""
    liked = {"u1": "012", "u2": "3", "u3": "456789", "u4": "9", "u6": "2"}
    shown = {"u1": "05167", "u2": "56378", "u3": "40516", "u5": "01234", "u6": "01345"}
    rows = [(user, item, 10.0 - i) for user, items in shown.items() for i, item in enumerate(items)]
    data = Data({user: list(items) for user, items in liked.items()}, rows)
    return data, ask(data)


@pytest.fixture(scope="session")
def movies(ask: Any, shared_data: Callable[[str], Path]) -> tuple[Data, Any]:
    """Real ratings, a fifth of each user's held out: the most popular of the rest, in classes of equal scores.

    Relevant is what was rated 4 or more. Some users have nothing relevant, some short lists, some none.
    """
    rated: dict[str, list[tuple[str, float]]] = defaultdict(list)
    with shared_data("movielens/ratings.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            rated[row["userId"]].append((row["movieId"], float(row["rating"])))
    chance = random.Random(7)
    kept: dict[str, set[str]] = {}
    truth: dict[str, list[str]] = {}
    for user, ratings in rated.items():
        held = chance.sample(ratings, max(1, len(ratings) // 5))
        kept[user] = {item for item, _ in ratings} - {item for item, _ in held}
        if liked := [item for item, rating in held if rating >= 4]:
            truth[user] = liked
    seen_by = Counter(item for items in kept.values() for item in items)
    popular = seen_by.most_common()
    rows = []
    users = list(rated)[:USERS]
    for number, user in enumerate(users):
        length = 0 if number % 17 == 5 else 4 if number % 11 == 3 else 10
        new = [pair for pair in popular if pair[0] not in kept[user]][:length]
        rows += [(user, item, float(count // 20)) for item, count in new]
    truth = {user: items for user, items in truth.items() if user in set(users)}
    with shared_data("movielens/movies.csv").open(newline="") as file:
        labels = {row["movieId"]: row["genres"].split("|") for row in csv.DictReader(file)}
    data = Data(truth, rows, {user: sorted(items) for user, items in kept.items()}, labels)
    assert len(truth) > 250
    assert set(data.run) - set(truth), "somebody is shown something and liked nothing"
    assert set(truth) - set(data.run), "somebody liked something and is shown nothing"
    assert sum(len(set(scores.values())) < len(scores) for scores in data.run.values()) > 100
    return data, ask(data)


def compare(data: Data, expected: dict[str, float], metric: str, dialect: str) -> int:
    scores = rs.evaluate(data.qrels, data.run, [metric], dialect=dialect)
    (one,) = scores.runs
    ours = dict(zip(one.query_ids, next(iter(one.values.values())).tolist(), strict=True))
    each = {user: value for user, value in expected.items() if user != "all"}
    assert ours == pytest.approx(each, abs=CLOSE)
    assert scores.board[0].value == pytest.approx(expected["all"], abs=CLOSE)
    return len(each) + 1


@pytest.mark.parametrize("k", AT)
@pytest.mark.parametrize(("tool", "name", "case"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_six_users(tool: str, name: str, case: tuple[str, str], k: int, six: Any) -> None:
    data, said = six
    dialect, metric = case
    assert compare(data, said[tool][f"{name}@{k}"], f"{metric}@{k}", dialect) == 6


@pytest.mark.parametrize("k", AT)
@pytest.mark.parametrize(("tool", "name", "case"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_movies(tool: str, name: str, case: tuple[str, str], k: int, movies: Any) -> None:
    """Ranks are given to RecTools; RePlay has equal scores in the order of item ids, the highest first."""
    data, said = movies
    dialect, metric = case
    assert compare(data, said[tool][f"{name}@{k}"], f"{metric}@{k}", dialect) > 250


@pytest.mark.parametrize("k", AT)
@pytest.mark.parametrize("name", ["pAUC", "pAP"])
def test_partial_areas_of_rectools(name: str, k: int, six: Any, movies: Any) -> None:
    for data, said in (six, movies):
        metric = rs.parse(f"{name}@{k}")
        scores = rs.evaluate(data.qrels, data.run, [metric], ties="input")
        expected = dict(said["rectools"][f"{name}@{k}"])
        assert scores.board[0].value == pytest.approx(expected.pop("all"), abs=CLOSE)
        (one,) = scores.runs
        ours = dict(zip(one.query_ids, one.values[metric].tolist(), strict=True))
        assert ours == pytest.approx(expected, abs=CLOSE)


def test_the_conventions_matter_here(movies: Any) -> None:
    """The same lists: another AP and nDCG in each tool, and another RR in each order of equal scores."""
    data, said = movies
    for name in ("AP@3", "nDCG@3", "RR@3"):
        assert abs(said["rectools"][name]["all"] - said["replay"][name]["all"]) > 1e-5
    orders: Any = ("trec", "docid", "input")
    values = [rs.evaluate(data.qrels, data.run, ["RR@3"], ties=ties)["RR@3"] for ties in orders]
    assert len({round(value, 6) for value in values}) == len(orders)


# --- beyond accuracy. Both tools look at all users who were shown something, so the population is that of the run


def _short(k: int, shown: int) -> float:
    """A mean over the items of a short list in place of k."""
    return k / min(k, shown)


def _padded(k: int, shown: int) -> float:
    """Divided by k, also for a user with fewer items."""
    return min(k, shown) / k


BEYOND: dict[tuple[str, str], tuple[str, Callable[[int, int], float]]] = {
    ("rectools", "CatalogCoverage"): ("Coverage", lambda k, n: 1),
    ("rectools", "MeanInvUserFreq"): ("Novelty", lambda k, n: 1),
    ("rectools", "AvgRecPopularity"): ("Popularity", lambda k, n: 1),
    ("rectools", "AvgRecPopularity normalised"): ("Popularity(out_of='share')", lambda k, n: 1),
    ("rectools", "Serendipity"): ("Serendipity", _short),
    # the number of labels that differ there, their share of 20 genres here
    ("rectools", "IntraListDiversity"): ("ILD(by='genre', distance='hamming')", lambda k, n: 20),
    ("rectools", "SufficientReco"): ("FullLists", lambda k, n: 1),
    ("replay", "Coverage"): ("Coverage(among='train')", lambda k, n: 1),
    ("replay", "Novelty"): ("Unseen", lambda k, n: 1),  # a user who was shown nothing counts as 1 there
    ("replay", "Surprisal"): ("Novelty(scaled=True)", _padded),
    ("replay", "CategoricalDiversity"): ("CategoryCoverage(by='first', out_of='k')", lambda k, n: 1),
}


@pytest.mark.parametrize(("case", "ours"), BEYOND.items(), ids=[" ".join(case) for case in BEYOND])
def test_beyond_accuracy(case: tuple[str, str], ours: Any, movies: Any) -> None:
    (data, said), (tool, name), (metric, factor) = movies, case, ours
    items = {item: {"genre": labels, "first": labels[0]} for item, labels in data.labels.items()}
    assert len({label for labels in data.labels.values() for label in labels}) == 20
    ties: Any = {"rectools": "input", "replay": "trec"}[tool]
    metrics = [f"{metric}@{k}" for k in AT]
    scores = rs.evaluate(data.qrels, data.run, metrics, items=items, history=dict(data.train), queries="run", ties=ties)
    (one,) = scores.runs
    for k, parsed, board in zip(AT, scores.metrics, scores.board, strict=True):
        theirs = dict(said[tool][f"{name}@{k}"])
        mean = theirs.pop("all")
        each = {
            user: value * factor(k, len(data.run[user]))
            for user, value in zip(one.query_ids, one.values[parsed].tolist(), strict=True)
        }
        if (
            name == "CategoricalDiversity"
        ):  # it sorts rows of categories, so items of equal scores across rank k have no order
            lists = {user: [*data.run[user].values()] for user in each}
            each = {
                user: value
                for user, value in each.items()
                if lists[user][k - 1 : k] != lists[user][k : k + 1] or len(lists[user]) <= k
            }
            assert len(each) > 30
        elif theirs:
            assert set(theirs) - set(each) == (set(data.train) - set(each) if name == "Novelty" else set())
        if theirs:
            assert each == pytest.approx({user: theirs[user] for user in each}, abs=CLOSE)
        if (factor not in (_short, _padded) and name != "CategoricalDiversity") or k == 1:
            assert board.value * factor(k, k) == pytest.approx(mean, abs=CLOSE)


LENSKIT = ("P", "R", "AP", "nDCG", "RR", "Success", "RBP")


@pytest.mark.parametrize("name", LENSKIT)
def test_lenskit(name: str, movies: Any) -> None:
    data, said = movies
    if "lenskit" not in said:
        missing("LensKit is not installed in .venv-recommenders")
    for k in AT:
        (one,) = rs.evaluate(data.qrels, data.run, [f"{name}@{k}"], dialect="lenskit").runs
        ours = dict(zip(one.query_ids, next(iter(one.values.values())).tolist(), strict=True))
        theirs = said["lenskit"][f"{name}@{k}"]
        assert len(theirs) > 200
        assert {user: ours[user] for user in theirs} == pytest.approx(theirs, abs=CLOSE)


OF_LENSKIT: dict[str, tuple[str, float]] = {
    "ListGini": ("Gini", CLOSE),
    "ExposureGini": ("Gini(viewing='geometric', patience=0.85)", 1e-5),  # in single precision there
    "ExposureGini log": ("Gini(viewing='log')", 1e-5),
    "entropy": ("CategoryEntropy", 1e-3),  # each label has a millionth more there
}


@pytest.mark.parametrize(("name", "ours"), OF_LENSKIT.items(), ids=OF_LENSKIT)
def test_lenskit_beyond_accuracy(name: str, ours: tuple[str, float], movies: Any) -> None:
    (data, said), (metric, close) = movies, ours
    if "lenskit" not in said:
        missing("LensKit is not installed in .venv-recommenders")
    items = {item: {"genre": labels} for item, labels in data.labels.items()}
    for k in AT:
        scores = rs.evaluate(data.qrels, data.run, f"{metric}@{k}", items=items, queries="run", ties="input")
        (one,) = scores.runs
        theirs = said["lenskit"][f"{name}@{k}"]
        if "all" in theirs:
            assert scores.board[0].value == pytest.approx(theirs["all"], abs=close)
        else:
            (each,) = one.values.values()
            assert dict(zip(one.query_ids, each.tolist(), strict=True)) == pytest.approx(theirs, abs=close)
