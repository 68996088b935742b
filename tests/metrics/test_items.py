"""Metrics of every item shown: conventions of other tools, unjudged items, populations, and what is refused."""

from __future__ import annotations

import math
from math import log2
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.files.items import with_history
from rankscope.lists.items import table_of
from rankscope.metrics import CATALOGUE, parse

# the second fixture of recommenders: top-3 lists of four users, a catalogue of ten items
LISTS = ["051", "563", "405", "012"]
TOP = [list(one) for one in LISTS]
ITEMS: dict[str, dict[str, Any]] = {str(n): {} for n in range(10)}
RUN = {f"u{n}": {item: 3.0 - rank for rank, item in enumerate(one)} for n, one in enumerate(LISTS)}
QRELS = {"u0": {"0": 1.0, "9": 1.0}, "u1": {"3": 1.0}, "u2": {"7": 1.0}, "u3": {"2": 2.0, "1": 0.0}}
# 14 interactions of 5 users with 8 items; 6 and 9 are cold
TRAIN = {"u0": ["0", "1", "2"], "u1": ["0", "5"], "u2": ["0", "5", "3", "4"], "u3": ["1", "7", "8"], "u9": ["0", "1"]}
COUNTS = {"0": 4, "1": 3, "2": 1, "3": 1, "4": 1, "5": 2, "7": 1, "8": 1}
SHOWN = [3, 2, 1, 1, 1, 3, 1, 0, 0, 0]  # how often items 0 to 9 are shown
GENRES = {str(n): {"g": "even" if n % 2 == 0 else "odd"} for n in range(10)}


def value(metric: str, items: Any = ITEMS, history: Any = TRAIN, **policies: Any) -> float:
    return float(rs.evaluate(QRELS, RUN, metric, items=items, history=history, **policies)[metric])


def gini(shown: list[int], divisor: int) -> float:
    n, ordered = len(shown), sorted(shown)
    return sum((2 * i - n - 1) * x for i, x in enumerate(ordered, start=1)) / (divisor * sum(ordered))


SEEN = [n for n in SHOWN if n]
SHARES = [n / sum(SHOWN) for n in SEEN]
EACH = [COUNTS.get(item, 0) for one in LISTS for item in one]
CONVENTIONS = {
    "coverage of the catalogue (RecTools)": ("Coverage@3", len(SEEN) / 10),
    "coverage of the training data (RePlay, Evidently)": ("Coverage(among='train')@3", 6 / 8),
    "all items shown by those of the training data (recommenders)": ("Coverage(among='train_size')@3", 7 / 8),
    "items shown (Elliot)": ("Coverage(among='count')@3", 7),
    "Gini over the catalogue (RecBole, LensKit)": ("Gini@3", gini(SHOWN, 10)),
    "Gini of items shown (Evidently)": ("Gini(among='shown', corrected=True)@3", gini(SEEN, len(SEEN) - 1)),
    "entropy in bits (Elliot)": ("Entropy@3", -sum(p * log2(p) for p in SHARES)),
    "entropy in nats by item (RecBole)": ("Entropy(unit='nats', per='shown')@3", -sum(p * math.log(p) for p in SHARES) / len(SEEN)),
    "novelty with cold items (RecTools)": ("Novelty@3", sum(-log2(max(n, 1) / 5) for n in EACH) / 12),
    "novelty scaled (RePlay)": ("Novelty(scaled=True)@3", sum(-log2(max(n, 1) / 5) for n in EACH) / 12 / log2(5)),
    "popularity with cold items (RecTools, Elliot)": ("Popularity@3", sum(EACH) / 12),
    "share of interactions (RecTools)": ("Popularity(out_of='share')@3", sum(EACH) / 12 / 14),
    "popularity by the top item (Evidently)": ("Popularity(out_of='top')@3", sum(EACH) / 12 / 4),
}  # fmt: skip


@pytest.mark.parametrize(("metric", "expected"), CONVENTIONS.values(), ids=CONVENTIONS)
def test_conventions_of_other_tools(metric: str, expected: float) -> None:
    assert value(metric) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "published"),
    [("Gini@3", 0.4833), ("Gini(among='shown', corrected=True)@3", 0.3056), ("Entropy@3", 2.6258), ("Entropy(unit='nats', per='shown')@3", 0.2600)],
    ids=["RecBole", "Evidently", "Elliot", "RecBole entropy"],
)  # fmt: skip
def test_what_the_tools_themselves_print(metric: str, published: float) -> None:
    assert value(metric) == pytest.approx(published, abs=5e-5)


# counts of users that give the numbers which the tools print for these lists: 14 interactions of 5 users with 8 items
POPULAR = {"0": 3, "1": 2, "2": 2, "3": 3, "4": 1, "5": 1, "7": 1, "8": 1}
PRINTED = {
    "mean inverse user frequency (RecTools)": ("Novelty@3", 1.5436),
    "surprisal (RePlay)": ("Novelty(scaled=True)@3", 0.6648),
    "novelty of items, cold ones left out (Evidently)": ("Novelty(among='items', cold='drop')@3", 2.156),
    "average popularity (RecTools, RecBole, Elliot)": ("Popularity@3", 1.8333),
    "average popularity, cold items left out (Evidently)": ("Popularity(cold='drop')@3", 2.0),
    "share of interactions (RecTools)": ("Popularity(out_of='share')@3", 0.1310),
    "popularity by the top item (Evidently)": ("Popularity(out_of='top', cold='drop')@3", 0.667),
    "long tail by interactions (Elliot)": ("LongTail@3", 0.083),
    "long tail by items (RecBole)": ("LongTail(head=0.5, measured_in='items')@3", 0.333),
    "coverage of the catalogue (RecTools)": ("Coverage@3", 0.70),
    "coverage of the training data (RePlay, Evidently)": ("Coverage(among='train')@3", 0.75),
    "all items shown by those of the training data (recommenders)": ("Coverage(among='train_size')@3", 0.875),
    "items shown (Elliot)": ("Coverage(among='count')@3", 7.0),
}


@pytest.mark.parametrize(("metric", "published"), PRINTED.values(), ids=PRINTED)
def test_what_the_tools_print_of_training_data(metric: str, published: float) -> None:
    rows = [item for item, count in POPULAR.items() for _ in range(count)]
    history = {f"h{n}": rows[n::5] for n in range(5)}
    assert (len(rows), sorted(map(len, map(set, history.values())))) == (14, [2, 3, 3, 3, 3])
    digits = len(str(published).partition(".")[2])
    assert value(metric, history=history) == pytest.approx(published, abs=6e-4 if digits < 4 else 6e-5)


def test_the_gini_of_elliot_is_one_minus_the_corrected_one() -> None:
    assert 1 - value("Gini(corrected=True)@3") == pytest.approx(0.4630, abs=5e-5)


def test_a_cold_item_may_be_left_out() -> None:
    lists = [[COUNTS.get(item, 0) for item in one] for one in LISTS]
    means = [sum(counts) / sum(n > 0 for n in counts) for counts in lists]
    assert value("Popularity(cold='drop')@3") == pytest.approx(sum(means) / 4)


def test_items_count_whether_judged_or_not() -> None:
    judged = {user: dict.fromkeys(items, 0.0) | QRELS[user] for user, items in RUN.items()}
    for metric in ("Novelty@3", "Coverage@3", "ILD@2", "Gini@3"):
        ours = rs.evaluate(QRELS, RUN, metric, items=GENRES, history=TRAIN)[metric]
        assert ours == rs.evaluate(judged, RUN, metric, items=GENRES, history=TRAIN)[metric]


def test_vectors_written_as_text_are_vectors() -> None:
    """CSV of pandas has [0.1, 0.2] in a cell, and of NumPy [0.1 0.2]: numbers, not labels."""
    lists = {"q": {"a": 2.0, "b": 1.0}}
    table = {"item": ["a", "b"], "v": ["[1, 0]", " [1. 1.] "]}
    ours = rs.evaluate({"q": {"a": 1}}, lists, "ILD@2", items=pl.DataFrame(table))["ILD@2"]
    assert ours == pytest.approx(1 - 1 / math.sqrt(2))
    with pytest.raises(InputError, match="column v has vectors of 2 and of 3 numbers"):
        rs.evaluate({"q": {"a": 1}}, lists, "ILD@2", items=pl.DataFrame({**table, "v": ["[1, 0]", "[1, 0, 1]"]}))
    labels = pl.DataFrame({"item": ["a", "b"], "v": ["[x]", "[x, y]"]})
    assert rs.evaluate({"q": {"a": 1}}, lists, "ILD@2", items=labels)["ILD@2"] == 1


def test_a_user_has_one_value_alone_and_among_others() -> None:
    rng = np.random.default_rng(3)
    items = {
        str(n): {"g": ["abc"[i] for i in range(3) if rng.random() < 0.5], "e": rng.normal(size=4).tolist()}
        for n in range(40)
    }
    users = {f"u{n}": [str(i) for i in rng.permutation(40)[: rng.integers(1, 12)]] for n in range(300)}
    run = {user: {item: 20.0 - rank for rank, item in enumerate(some)} for user, some in users.items()}
    qrels = {user: {some[0]: 1.0} for user, some in users.items()}
    history = {user: [str(i) for i in rng.permutation(40)[:3]] for user in users}
    metrics = ["ILD(by='e')@10", "ILD(by='g', distance='hamming')@10", "Unexpectedness(by='e')@5", "Miscalibration(by='g')@10", "NDKL(by='g')@10", "AWRF(by='g')@10", "Novelty@10"]  # fmt: skip
    together = rs.evaluate(qrels, run, metrics, items=items, history=history).runs[0]
    for n in (0, 7, 299):
        user = together.query_ids[n]
        alone = rs.evaluate({user: qrels[user]}, {user: run[user]}, metrics, items=items, history=history).runs[0]
        for metric in together.values:
            assert np.array_equal(alone.values[metric], together.values[metric][n : n + 1], equal_nan=True), metric


def test_diversity_in_closed_form_is_the_mean_over_pairs() -> None:
    rng = np.random.default_rng(5)
    items = {str(n): {"e": rng.normal(size=6).tolist()} for n in range(30)}
    ids = [str(n) for n in rng.permutation(30)[:9]]
    unit = [np.array(items[i]["e"]) / np.linalg.norm(items[i]["e"]) for i in ids]
    pairs = [1 - float(unit[a] @ unit[b]) for a in range(9) for b in range(a)]
    assert rs.ILD().of(ids, items=items) == pytest.approx(sum(pairs) / len(pairs))


def test_personalisation_is_the_mean_over_pairs_of_users() -> None:
    shared = [len(set(a) & set(b)) / 3 for i, a in enumerate(TOP) for b in TOP[:i]]
    assert value("Personalisation@3") == pytest.approx(1 - sum(shared) / len(shared))


def test_loss_of_expected_exposure_falls_into_its_parts() -> None:
    found = {m: value(f"{m}(by='g')@3", GENRES) for m in ("EEL", "EED", "EER")}
    ideal = {"even": 0.0, "odd": 0.0}
    for grades in QRELS.values():
        wanted = [item for item, grade in grades.items() if grade >= 1]
        each = sum(1 / log2(r + 1) for r in range(1, len(wanted) + 1)) / len(wanted)
        for item in wanted:
            ideal[GENRES[item]["g"]] += each / 4
    assert found["EEL"] == pytest.approx(found["EED"] - found["EER"] + sum(x * x for x in ideal.values()))


def test_shares_of_exposure_of_all_groups_are_one() -> None:
    shares = [value(f"GroupExposure(by='g', group='{name}')@3", GENRES) for name in ("even", "odd")]
    assert sum(shares) == pytest.approx(1.0)
    assert math.exp(value("Skew(by='g', group='even')@3", GENRES)) == pytest.approx((7 / 12) / (5 / 10), rel=0.35)


SEEN_BY = {  # the attention at ranks 1 to 3 if the items at ranks 1 and 2 are relevant
    "by position": ("'position'", [1.0, 2**-0.85, 3**-0.85]),
    "a model that clicks change": ("'UserBrowsing(decay=1)'", [1.0, 1.0, 1.0]),
    "a model of readers who stop": ("'DynamicBayesian(persistence=0.5, stop=0.5)'", [1.0, 0.25, 0.0625]),
    "a model of its own spelling": ("'PositionBased(decay=2)'", [1.0, 1 / 4, 1 / 9]),
}


@pytest.mark.parametrize(("viewing", "seen"), SEEN_BY.values(), ids=SEEN_BY)
def test_exposure_takes_the_browsing_models_of_simulated_users(viewing: str, seen: list[float]) -> None:
    """One list of an odd, an even and an odd item: the even one gets the attention of rank 2."""
    scores = rs.evaluate(
        {"u": {"1": 1.0, "2": 1.0}},
        {"u": {"1": 3.0, "2": 2.0, "3": 1.0}},
        [f"GroupExposure(by='g', group='even', viewing={viewing})@3"],
        items=GENRES,
    )
    assert scores.board[0].value == pytest.approx(seen[1] / sum(seen), rel=1e-12)
    if "position" not in viewing:
        scores = rs.evaluate(
            {"u": {"1": 1.0, "2": 1.0}},
            {"u": {"1": 3.0, "2": 2.0, "3": 1.0}},
            [f"AWRF(by='g', viewing={viewing}, distance='total', target='even')@3"],
            items=GENRES,
        )
        assert scores.board[0].value == pytest.approx(1 - abs(seen[1] / sum(seen) - 0.5), rel=1e-12)


def test_an_unknown_browsing_model_is_refused() -> None:
    with pytest.raises(rs.InputError, match="or a browsing model like"):
        rs.parse("AWRF(viewing='Cascad')")


# --- populations: intervals and comparisons


POPULATION = ["Coverage@3", "Gini@3", "Entropy@3", "Personalisation@3", "GroupExposure(by='g', group='even')@3", "EEL(by='g')@3", "RSP(by='g')@3", "REO(by='g')@3"]  # fmt: skip


def crowd(seed: int, users: int = 200, steep: float = 1.0) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(seed)
    weight = np.arange(1, 11) ** -steep
    lists = {f"u{n}": rng.choice(10, 3, replace=False, p=weight / weight.sum()) for n in range(users)}
    return {user: {str(item): 3.0 - rank for rank, item in enumerate(some)} for user, some in lists.items()}


@pytest.mark.parametrize("metric", POPULATION)
def test_what_users_add_has_the_value_as_its_mean_and_the_spread_of_a_bootstrap(metric: str) -> None:
    run = crowd(1)
    qrels = {user: {"0": 1.0, str(n % 10): 1.0} for n, user in enumerate(run)}
    scores = rs.evaluate(qrels, run, metric, items=GENRES, history=TRAIN)
    at = scores.evaluations[0].judged[0]
    parsed = scores.metrics[0]
    pool = parsed.pooled_shares(at)
    parts = pool.parts()
    assert parts.mean() == pytest.approx(scores[metric])
    if "Coverage" in metric:
        return  # a bootstrap loses items, and so falls below the value
    rng = np.random.default_rng(0)
    drawn = [parsed.pool(at.of(rng.integers(0, len(at), len(at)))) for _ in range(150)]
    assert parts.std(ddof=1) / math.sqrt(len(at)) == pytest.approx(np.std(drawn, ddof=1), rel=0.3)


def test_populations_are_compared_like_other_metrics() -> None:
    steep, flat = crowd(1, steep=2.0), crowd(2, steep=0.2)
    qrels = {user: {"0": 1.0} for user in steep}
    found = rs.compare(qrels, {"steep": steep, "flat": flat}, ["nDCG@3", "Gini@3"], items=GENRES)
    contrast = found["flat", "Gini@3"]
    assert contrast.verdict == "better"
    assert contrast.value == pytest.approx(rs.evaluate(qrels, flat, "Gini@3", items=GENRES)["Gini@3"])
    assert contrast.bounds.lower < contrast.difference < contrast.bounds.upper < 0


def test_references_are_made_of_the_same_data() -> None:
    found = rs.evaluate(QRELS, {"mine": RUN}, ["nDCG@3", "Popularity@3"], items=ITEMS, history=TRAIN, references=True)
    assert [run.name for run in found.runs] == ["mine", "random", "popular", "oracle"]
    assert found["oracle", "nDCG@3"] == max(found[run.name, "nDCG@3"] for run in found.runs)
    assert found["popular", "Popularity@3"] >= found["random", "Popularity@3"]


def test_a_wanted_item_in_the_history_is_not_shown_again() -> None:
    history = TRAIN | {"u1": ["3"]}
    found = rs.evaluate(QRELS, {"mine": RUN}, "Unseen@3", items=ITEMS, history=history, references=True)
    assert found["popular", "Unseen@3"] == found["random", "Unseen@3"] == 1.0


# --- what is refused


def test_half_of_a_vector_is_refused_and_an_empty_one_is_no_feature() -> None:
    lists = {"q": {"a": 2.0, "b": 1.0}}
    for second, refused in (([None, None], False), ([None, 1.0], True)):
        table = pl.DataFrame({"item": ["a", "b"], "v_0": [1.0, second[0]], "v_1": [1.0, second[1]]})
        if refused:
            with pytest.raises(InputError, match="column v has a number that is missing"):
                rs.evaluate({"q": {"a": 1}}, lists, "ILD@2", items=table)
        else:
            assert rs.evaluate({"q": {"a": 1}}, lists, "ILD@2", items=table)["ILD@2"] == 1.0


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "no items": ("ILD@3", {}, "looks at every item shown"),
    "no features": ("ILD@3", {"items": ITEMS}, "needs features of items"),
    "several features": ("ILD@3", {"items": {str(n): {"a": "x", "b": "y"} for n in range(10)}}, "several columns"),
    "an unknown feature": ("ILD(by='genre')@3", {"items": GENRES}, "has no column 'genre'"),
    "numbers where labels belong": ("CategoryEntropy(by='e')@3", {"items": {str(n): {"e": 1.0} for n in range(10)}}, "does not hold labels"),
    "an item that is not listed": ("Coverage@3", {"items": ["0", "1"]}, "is not in items"),
    "no training data": ("Novelty@3", {"items": ITEMS}, "counts users in the training data"),
    "no catalogue": ("Coverage@3", {"history": TRAIN}, "needs the catalogue"),
    "an embedding of another length": ("ILD@3", {"items": {str(n): {"e": [1.0] * (1 + n % 2)} for n in range(10)}}, "vectors of 1 and of 2 numbers"),
    "a group that no item has": ("GroupExposure(by='g', group='evn')@3", {"items": GENRES}, "did you mean even?"),
    "all orders of ties": ("ILD@3", {"items": GENRES, "ties": "expected"}, "in one order"),
}  # fmt: skip


@pytest.mark.parametrize(("metric", "policies", "said"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_one_line(metric: str, policies: dict[str, Any], said: str) -> None:
    with pytest.raises(rs.RankscopeError) as refused:
        rs.evaluate(QRELS, RUN, metric, **policies)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_further_items_get_numbers_without_a_catalogue() -> None:
    table = table_of(None, {"u": ["a"]})
    assert table.codes(["b", "a", "b"]).tolist() == [1, 0, 1]
    assert value("Novelty@3", items=None) == value("Novelty@3")


def test_every_metric_of_items_says_what_it_needs() -> None:
    named = {"EPC", "ILD", "Coverage", "Gini", "Entropy", "AWRF", "NDKL", "Serendipity", "Miscalibration", "RSP", "REO"}
    assert all("items" in CATALOGUE[name].needs for name in named)
    assert parse("IntraListDiversity@5") == rs.ILD @ 5


def test_labels_are_compared_as_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a cell for each label of each user, and without."""
    rng = np.random.default_rng(5)
    sets = {str(n): {label for label in "abcdef" if rng.random() < 0.3} for n in range(30)}
    lists = {f"u{n}": [str(i) for i in rng.permutation(30)[: rng.integers(2, 9)]] for n in range(40)}
    run = {user: {item: -float(rank) for rank, item in enumerate(some)} for user, some in lists.items()}
    items = {item: {"g": sorted(some)} for item, some in sets.items()}

    def apart(one: set[str], other: set[str]) -> tuple[float, float]:
        cosine = len(one & other) / math.sqrt(len(one) * len(other)) if one and other else 0.0
        return 1.0 - cosine, len(one ^ other) / 6

    def pairs(kind: int) -> list[float]:
        means = []
        for some in lists.values():
            far = [apart(sets[a], sets[b])[kind] for i, a in enumerate(some[:5]) for b in some[:i]]
            means.append(sum(far) / len(far))
        return means

    fresh = [len(set().union(*(sets[item] for item in some[:5]))) / 5 for some in lists.values()]
    expected = {"ILD@5": pairs(0), "ILD(distance='hamming')@5": pairs(1), "CategoryCoverage(out_of='k')@5": fresh}
    for cells in (1 << 21, 0):
        monkeypatch.setattr("rankscope.lists.items.DENSE", cells)
        (found,) = rs.evaluate({user: {some[0]: 1} for user, some in lists.items()}, run, [*expected], items=items).runs
        for metric, each in expected.items():
            assert found.values[parse(metric)] == pytest.approx(each, abs=1e-12), (metric, cells)


def test_an_item_counts_once_for_its_user_however_rows_stand() -> None:
    rows = [("u", "a"), ("v", "a"), ("u", "x"), ("u", "a"), ("w", "b"), ("u", "y"), ("v", "b"), ("u", "x")]
    table = with_history(table_of(["a", "b", "c"]), pl.DataFrame(rows, schema=["user_id", "item_id"], orient="row"))
    assert (table.popularity.tolist(), table.users, table.interactions) == ([2.0, 2.0, 0.0], 3, 8)  # type: ignore[union-attr]
    assert table.histories is not None
    had = {user: table.histories.item[a:b].tolist() for user, a, b in zip(table.histories.users, table.histories.start, table.histories.start[1:], strict=False)}  # fmt: skip
    assert had == {"u": [0, 3, 3], "v": [0, 1], "w": [1]}  # x and y are of no catalogue
