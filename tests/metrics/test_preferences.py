"""Preferences counted one by one, as trec_eval's documentation of its formats says."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from rankscope.errors import InputError
from rankscope.lists import Aspects, Judged
from rankscope.metrics import NumPrefs, NumPrefsFul, Prefs, PrefsR
from rankscope.testing import check_metric

# a line of preferences: judge, part, document, grade
Line = tuple[str, str, str, float]


def judged(lines: list[Line], ranking: list[str]) -> Judged:
    """The preferences of one query beside a ranking."""
    docs = sorted({doc for _, _, doc, _ in lines})
    shown = [doc for doc in ranking if doc in docs]
    docs = [*shown, *(doc for doc in docs if doc not in shown)]
    parts = sorted({(judge, part) for judge, part, _, _ in lines})
    judges = sorted({judge for judge, _ in parts})
    by_doc = [[(parts.index((j, p)), judges.index(j), g) for j, p, d, g in lines if d == doc] for doc in docs]
    flat = [entry for entries in by_doc for entry in entries]
    ranks = [ranking.index(doc) + 1 if doc in shown else 0 for doc in docs]
    return Judged(
        query_id=["q"],
        retrieved=np.array([len(ranking)]),
        size=np.array([len(docs)]),
        in_run=np.array([len(shown)]),
        grade=np.array([max(g for _, _, g in entries) for entries in by_doc]),
        rank=np.array(ranks),
        tie_start=np.array(ranks),
        tie_size=np.ones(len(docs), dtype=np.int64),
        aspects=Aspects(
            count=np.array([len(entries) for entries in by_doc]),
            aspect=np.array([aspect for aspect, _, _ in flat]),
            group=np.array([group for _, group, _ in flat]),
            grade=np.array([grade for _, _, grade in flat]),
        ),
        by_id=np.argsort(np.argsort(docs)),
    )


def value(metric: Any, lines: list[Line], ranking: list[str]) -> float:
    data = judged(lines, ranking)
    return float(metric.score(data.lists(np.array([0])))[0])


def preferences(lines: list[Line]) -> dict[str, set[tuple[str, str]]]:
    """The pairs (better, worse) of each judge, with what follows from them."""
    out: dict[str, set[tuple[str, str]]] = {judge: set() for judge, _, _, _ in lines}
    for judge, part, doc, grade in lines:
        out[judge] |= {(doc, d) for j, p, d, g in lines if (j, p) == (judge, part) and grade > g}
    for pairs in out.values():
        size = -1
        while size != (size := len(pairs)):
            pairs |= {(a, d) for a, b in pairs for c, d in pairs if b == c}
    return out


def by_hand(lines: list[Line], ranking: list[str], average: str, pairs: str) -> float:
    """The same value, pair by pair."""
    retrieved = set(ranking)
    counts: Callable[[str, str], bool] = {
        "all": lambda a, b: True,
        "implied": lambda a, b: a in retrieved or b in retrieved,
        "retrieved": lambda a, b: a in retrieved and b in retrieved,
    }[pairs]
    kept = {judge: {p for p in said if counts(*p)} for judge, said in preferences(lines).items()}

    def kept_to(a: str, b: str) -> bool:
        return a in retrieved and (b not in retrieved or ranking.index(a) < ranking.index(b))

    if average == "simple":
        every = [kept_to(*pair) for said in kept.values() for pair in said]
        return sum(every) / len(every) if every else 0.0
    if average == "judge":
        each = [sum(kept_to(*pair) for pair in said) / max(len(said), 1) for said in kept.values()]
        return sum(each) / len(each)
    shares = []
    for pair in {tuple(sorted(pair)) for said in kept.values() for pair in said}:
        every = [kept_to(*p) for said in kept.values() for p in said if set(p) == set(pair)]
        shares.append(sum(every) / len(every))
    return sum(shares) / len(shares) if shares else 0.0


ONE_JUDGE: list[Line] = [("u", "s", d, g) for d, g in zip("123456", (3, 2, 0, 6, 0, 2), strict=True)]
IN_PARTS: list[Line] = [
    *(("u", "1", d, g) for d, g in zip("123", (3, 2, 1), strict=True)),
    *(("u", "2", d, g) for d, g in zip("124", (2, 1, 3), strict=True)),
]
CONTRADICTING: list[Line] = [
    ("u1", "1", "1", 3), ("u1", "1", "2", 2),
    ("u2", "1", "1", 0), ("u2", "1", "3", 6), ("u2", "1", "4", 2),
    ("u2", "2", "1", 0), ("u2", "2", "2", 8),
]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (ONE_JUDGE, {"u": "41 42 46 43 45 12 16 13 15 23 25 63 65"}),
        (IN_PARTS, {"u": "12 13 23 41 42 43"}),
        (CONTRADICTING, {"u1": "12", "u2": "31 41 34 21"}),
    ],
)
def test_what_is_preferred(lines: list[Line], said: dict[str, str]) -> None:
    """Equal grades say nothing, parts add up, and judges may contradict each other."""
    expected = {judge: {(p[0], p[1]) for p in pairs.split()} for judge, pairs in said.items()}
    assert preferences(lines) == expected
    number = sum(map(len, expected.values()))
    assert value(NumPrefs(), lines, []) == number
    docs = sorted({doc for _, _, doc, _ in lines})
    for order in list(permutations(docs))[::7]:
        fulfilled = sum(order.index(a) < order.index(b) for pairs in expected.values() for a, b in pairs)
        assert value(NumPrefsFul(), lines, list(order)) == fulfilled
        assert value(Prefs(), lines, list(order)) == pytest.approx(fulfilled / number)


def made_up(rng: random.Random) -> tuple[list[Line], list[str]]:
    docs = [f"d{i}" for i in range(rng.randint(2, 9))]
    lines: list[Line] = []
    for judge in range(rng.randint(1, 4)):
        grade = {doc: float(rng.choice([0, 0, 1, 2, 3])) for doc in docs}
        for part in range(rng.randint(1, 3)):
            lines += [(f"j{judge}", f"p{part}", doc, grade[doc]) for doc in rng.sample(docs, rng.randint(1, len(docs)))]
    return lines, rng.sample([*docs, "x", "y"], rng.randint(0, len(docs)))


@pytest.mark.parametrize("average", ["simple", "pair", "judge"])
@pytest.mark.parametrize("pairs", ["all", "implied", "retrieved"])
def test_pair_by_pair(average: Any, pairs: Any) -> None:
    rng = random.Random(17)
    metric = Prefs(average=average, pairs=pairs)
    for _ in range(150):
        lines, ranking = made_up(rng)
        assert value(metric, lines, ranking) == pytest.approx(by_hand(lines, ranking, average, pairs))


def test_what_stands_below_the_cutoff_was_not_retrieved() -> None:
    assert value(Prefs() @ 2, ONE_JUDGE, list("412356")) == pytest.approx(9 / 13)
    assert value(Prefs(pairs="retrieved") @ 2, ONE_JUDGE, list("412356")) == 1.0


def test_a_judge_who_contradicts_herself() -> None:
    lines: list[Line] = [("u", "1", "a", 1), ("u", "1", "b", 0), ("u", "2", "b", 1), ("u", "2", "a", 0)]
    with pytest.raises(InputError, match="the preferences of one judge contradict each other"):
        value(Prefs(), lines, ["a", "b"])
    two = [(f"{judge}{part}", part, doc, grade) for judge, part, doc, grade in lines]
    assert value(Prefs(), two, ["a", "b"]) == pytest.approx(1 / 2)


def test_as_many_others_as_relevant() -> None:
    # two relevant and one other: each relevant document also stands above one that is not there
    assert PrefsR().of([1, 0, 1]) == pytest.approx((1 + 2) / (2 + 2))
    assert PrefsR().of([1, 0], known=2) == pytest.approx((1 + 1) / (2 + 2))
    # one relevant and three others: the first of them alone counts, against itself and the others too
    assert PrefsR().of([1, 0, 0, 0]) == pytest.approx(1 / (1 + 3))
    assert PrefsR().of([0, 1, 0, 0]) == 0.0
    # in parts, only preferences count
    parted: list[Line] = [("u", "1", "a", 1), ("u", "1", "b", 0), ("u", "2", "a", 1), ("u", "2", "c", 0)]
    assert value(PrefsR(), parted, ["b", "a", "c"]) == 0.0
    assert value(PrefsR(), parted, ["a", "b", "c"]) == 1.0
    assert value(PrefsR(), parted, ["a"]) == 1.0


def test_a_judge_without_pairs() -> None:
    ranking = [{"ann": 1, "bob": 0}, {"ann": 0, "bob": 0}]
    assert PrefsR(no_pairs="judge").of(ranking) == pytest.approx((1 + 0) / 2)
    assert PrefsR().of(ranking) == 0.0
    assert Prefs(average="judge").of(ranking) == pytest.approx((1 + 0) / 2)


@pytest.mark.parametrize("metric", [Prefs, PrefsR, NumPrefs, NumPrefsFul])
def test_laws(metric: Any) -> None:
    check_metric(metric)
