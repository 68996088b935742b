"""``estimate``: known values on the Open Bandit sample, refusals, bad input, targets of every kind, intervals."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.made.results import logged
from tests.reference import off_policy

import rankscope as rs
from rankscope.behaviour.policies import EpsilonShuffle
from rankscope.cli import main
from rankscope.errors import DataError
from rankscope.estimators import events, rewards
from rankscope.estimators.rewards import Constant
from rankscope.inference.intervals import student
from rankscope.logs import bins

OBD = Path(os.environ.get("RANKSCOPE_DATA", Path(__file__).resolve().parents[4] / "shared" / "data")) / "obd"
Log = dict[str, Any]


@pytest.mark.skipif(not OBD.exists(), reason="the Open Bandit sample is not here")
def test_the_open_bandit_sample() -> None:
    found = rs.estimate(OBD / "bts" / "men", "uniform", ["IPS", "SNIPS"])
    ips, snips = (found.value_of("uniform", name) for name in ("IPS", "SNIPS"))
    assert (round(ips.value, 6), round(snips.value, 6)) == (0.003009, 0.003189)
    assert round(rs.online(OBD / "random" / "men", "CTR")["CTR"], 4) == 0.0046
    assert round(ips.support.effective_clicks) == 15
    assert {caution.code for caution in found.warnings} == {"RS681"}
    assert found.exit_code == 0


def test_values_are_those_of_plain_loops() -> None:
    log = logged()
    rows = list(zip(log["click"], log["p_item_pos"], log["p_new"], log["user"], strict=True))
    found = rs.estimate(log, "p_new", ["IPS", "SNIPS", "IPS(clip=1.5)", "BetaIPS"])
    for name in ("IPS", "SNIPS", "BetaIPS"):
        value = found.value_of("p_new", name)
        assert value.value == pytest.approx(off_policy.value(name, rows), rel=1e-12)
    error = off_policy.error_by_user(rows)
    bounds = found.value_of("p_new", "SNIPS").bounds
    assert bounds.upper - bounds.lower == pytest.approx(2 * student(299, 0.025) * error, rel=1e-9)
    assert found.value_of("p_new", "IPS").support.effective_clicks == pytest.approx(
        off_policy.effective_clicks(rows), rel=1e-12
    )


def test_the_difference_of_two_policies_is_paired() -> None:
    found = rs.estimate(logged(), {"new": "p_new", "all": "uniform"}, "IPS", baseline="all")
    assert {c.run for c in found.contrasts} == {"logged", "new"}
    contrast = found["new", "IPS"]
    assert contrast.difference == pytest.approx(found.value_of("new").value - found.value_of("all").value, rel=1e-12)
    own = [found.value_of(name).bounds for name in ("new", "all")]
    apart = sum((bounds.upper - bounds.lower) ** 2 for bounds in own) ** 0.5
    assert contrast.bounds.upper - contrast.bounds.lower < apart


def test_the_baseline_of_delta_ips_narrows_the_difference() -> None:
    found = rs.estimate(logged(), "p_new", ["IPS", "DeltaIPS"])
    widths = [found["p_new", name].bounds.upper - found["p_new", name].bounds.lower for name in ("IPS", "DeltaIPS")]
    assert widths[1] < widths[0]


def test_a_constant_reward_has_an_interval_of_width_zero() -> None:
    log = logged() | {"click": [1] * 1500}
    value = rs.estimate(log, "p_new", "SNIPS", force=True).value_of("p_new")
    assert (value.value, value.bounds.lower, value.bounds.upper) == (1.0, 1.0, 1.0)


def test_targets_of_every_kind_agree(tmp_path: Path) -> None:
    log = logged()
    run = {"q": {"d0": 3.0, "d1": 2.0, "d2": 1.0}}
    place = tmp_path / "new.run"
    place.write_text(
        "".join(f"q Q0 {doc} {rank} {score} new\n" for rank, (doc, score) in enumerate(run["q"].items(), 1))
    )
    mixed = {"d0": 0.4 / 3 + 0.6, "d1": 0.4 / 3, "d2": 0.4 / 3}

    def explore(frame: Any) -> np.ndarray[Any, Any]:
        return np.array([mixed[item] for item in frame["item_id"]])

    def of_all(frame: Any) -> np.ndarray[Any, Any]:
        order = sorted(set(frame["item_id"]))
        return np.tile([mixed[item] for item in order], (len(frame), 1))

    targets: dict[str, Any] = {
        "spelled": f"EpsilonShuffle(epsilon=0.4) {place}", "pair": (EpsilonShuffle(epsilon=0.4), run), "function": explore, "matrix": of_all,
    }  # fmt: skip
    found = rs.estimate(log, targets, "IPS")
    values = [found.value_of(name).value for name in targets]
    assert values == pytest.approx([values[0]] * 4, rel=1e-12)
    whole = rs.estimate(log, {"spelled": targets["spelled"], "matrix": of_all}, "DR")
    assert whole.value_of("spelled").value == pytest.approx(whole.value_of("matrix").value, rel=1e-9)


def test_doubly_robust_with_a_model_of_zero_is_ips() -> None:
    found = rs.estimate(logged(), "uniform", ["IPS", "DR"], model=Constant(value=0.0))
    assert found.value_of("uniform", "DR").value == pytest.approx(found.value_of("uniform", "IPS").value, rel=1e-12)


def test_a_model_is_asked_once_per_situation_or_for_every_row_with_the_same_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_situation = rs.estimate(logged(), "uniform", ["DR", "DM"])
    monkeypatch.setattr(rewards, "MOST_CELLS", 0)
    by_row = rs.estimate(logged(), "uniform", ["DR", "DM"])
    assert [one.value for one in by_row.values] == pytest.approx([one.value for one in by_situation.values], rel=1e-12)


def test_values_do_not_depend_on_the_rows_worked_on_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    log = logged()
    log |= {
        "user": [3 * int(name[1:]) + 5 for name in log["user"]],
        "item": [10 - 2 * int(name[1:]) for name in log["item"]],
    }
    chosen = ["IPS", "DR", "SNDR", "DM"]
    whole = rs.estimate(log, ["uniform"], chosen)
    monkeypatch.setattr(events, "STEP", 7)
    for value in rs.estimate(log, ["uniform"], chosen).values:
        same = whole.value_of(value.policy, value.estimator)
        assert (value.value, *value.ends) == pytest.approx((same.value, *same.ends), rel=1e-12, nan_ok=True)
        assert value.support.record() == same.support.record()


def test_ids_too_many_for_tables_are_numbered_by_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    log = logged() | {"user": np.arange(len(logged()["click"])) % 700}
    few = rs.estimate(log, "uniform", ["IPS", "SNIPS"])
    monkeypatch.setattr(bins, "LEVELS", 1)  # no second table, if two ids meet in the first
    monkeypatch.setattr(bins, "FEWEST", 1)
    monkeypatch.setattr(bins, "MOST", 1)
    many = rs.estimate(log, "uniform", ["IPS", "SNIPS"])
    few_ends, many_ends = ([end for one in found.values for end in one.ends] for found in (few, many))
    assert many_ends == pytest.approx(few_ends, rel=1e-12)


def test_the_direct_method_has_no_interval_and_no_verdict() -> None:
    found = rs.estimate(logged(), "uniform", "DM")
    assert not found.value_of("uniform").bounds.known
    assert not list(found.contrasts)


def test_regressors_of_scikit_learn_are_reward_models() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    found = rs.estimate(logged(), "uniform", "DR", model=linear_model.Ridge())
    assert found.model == "Ridge"
    truth = np.mean([0.2, 0.3, 0.4])
    bounds = found.value_of("uniform").bounds
    assert bounds.lower < truth < bounds.upper
    spelled = rs.estimate(logged(), "uniform", "DR", model="Logistic")
    assert spelled.value_of("uniform").value == pytest.approx(found.value_of("uniform").value, abs=0.01)


def test_frequencies_replace_missing_propensities() -> None:
    log = logged()
    del log["p_item_pos"]
    found = rs.estimate(log, "uniform", "SNIPS", logging="frequencies")
    assert {caution.code for caution in found.warnings} == {"RS686"}
    truth = np.mean([0.2, 0.3, 0.4])
    assert found.value_of("uniform").bounds.lower < truth < found.value_of("uniform").bounds.upper


def test_intervals_with_a_guarantee_are_wider_and_need_a_mean() -> None:
    usual = rs.estimate(logged(), "p_new", "IPS").value_of("p_new").bounds
    found = rs.estimate(logged(), "p_new", "IPS", interval="bernstein(low=0, high=2.5)")
    sure = found.value_of("p_new").bounds
    assert sure.lower < usual.lower < usual.upper < sure.upper
    assert found["p_new", "IPS"].test == "bernstein(low=-2.5, high=2.5)"
    with pytest.raises(rs.InputError, match="divides by a random sum"):
        rs.estimate(logged(), "p_new", "SNIPS", interval="bernstein(low=0, high=2.5)")
    with pytest.raises(rs.InputError, match="state the range"):
        rs.estimate(logged(), "p_new", "IPS", interval="bernstein(low=0, high=0.5)")


# --- refusals ---------------------------------------------------------------------------------------------------------


def with_a_tiny_propensity(log: Log) -> Log:
    propensities, clicks = list(log["p_item_pos"]), list(log["click"])
    propensities[4], clicks[4] = 1e-6, 1
    return log | {"p_item_pos": propensities, "click": clicks}


def with_a_tiny_propensity_unclicked(log: Log) -> Log:
    return with_a_tiny_propensity(log) | {"click": [click * (place != 4) for place, click in enumerate(log["click"])]}


def without_support(log: Log) -> Log:
    inside = [place for place, item in enumerate(log["item"]) if item != "d2"]
    return {name: [column[place] for place in inside] for name, column in log.items()}


def with_few_clicks(log: Log) -> Log:
    return log | {"click": [int(place < 5) for place in range(1500)]}


REFUSED: dict[str, tuple[Callable[[Log], Log], str]] = {
    "one event": (with_a_tiny_propensity, "RS682"), "one weight": (with_a_tiny_propensity_unclicked, "RS682"), "no support": (without_support, "RS683"), "few clicks": (with_few_clicks, "RS681"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_log_that_supports_nothing_is_refused_unless_forced(case: str) -> None:
    change, code = REFUSED[case]
    found = rs.estimate(change(logged()), "p_new", "IPS")
    assert code in {caution.code for caution in found.warnings}
    assert (found.exit_code, found["p_new", "IPS"].verdict) == (4, "withheld")
    assert found.rows[1]["value"] is None
    assert found.rows[1]["refused"]
    forced = rs.estimate(change(logged()), "p_new", "IPS", force=True)
    assert forced.exit_code == 0
    assert forced.rows[1]["value"] is not None


def test_a_run_of_items_that_no_page_showed_is_refused_with_its_share() -> None:
    found = rs.estimate(logged(), {"new": {"q": ["unknown", "d0"]}}, "SNIPS")
    assert found.exit_code == 4
    assert "100.0% of its traffic" in found.value_of("new").reason


def test_propensities_that_frequencies_contradict_are_refused_with_their_share() -> None:
    log = logged()
    wrong = [0.05 if item == "d2" else chance for item, chance in zip(log["item"], log["p_item_pos"], strict=True)]
    found = rs.estimate(
        log | {"p_item_pos": wrong}, {"as logged": lambda rows: rows["p_item_pos"]}, "SNIPS"
    )  # every weight is 1
    assert found.exit_code == 4
    assert re.search("items with [0-9]+% of the traffic", found.value_of("as logged").reason)
    forced = rs.estimate(log | {"p_item_pos": wrong}, "uniform", "SNIPS", force=True)
    assert "RS685" in {caution.code for caution in forced.warnings}
    assert "RS685" not in {caution.code for caution in rs.estimate(log, "uniform", "SNIPS").warnings}


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 1.5, None], ids=["zero", "above one", "missing"])
def test_a_propensity_that_is_no_probability_is_refused_with_its_share(value: float | None) -> None:
    log = logged()
    log["p_item_pos"] = [value, *log["p_item_pos"][1:]]
    with pytest.raises(rs.RankscopeError, match=r"p_item_pos|probability"):
        rs.estimate(log, "uniform")


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no target": ({"target": None}, "no policy to evaluate"),
    "an unknown target": ({"target": "p_nwe"}, "did you mean p_new"),
    "a policy without a run": ({"target": "PlackettLuce"}, "orders the items of a run"),
    "an unknown baseline": ({"target": "uniform", "baseline": "unifrom"}, "did you mean uniform"),
    "a test of signs": ({"target": "uniform", "test": "sign"}, "mean nothing"),
    "a function of the wrong length": ({"target": lambda frame: [0.5]}, "1500"),
    "an unknown estimator": ({"target": "uniform", "estimators": "SNIP"}, "did you mean SNIPS"),
    "examination that is missing": ({"target": "uniform", "estimators": "Clicked"}, "examination"),
    "a column for a model": ({"target": "p_new", "estimators": "DR"}, "probability of every item"),
    "an item column that is missing": ({"target": "uniform", "estimators": "MIPS(by='colour')"}, "colour"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line(case: str) -> None:
    options, text = BAD[case]
    with pytest.raises(rs.RankscopeError, match=text) as error:
        rs.estimate(logged(), **options)
    assert "\n" not in str(error.value)


def test_the_command_prints_warnings_first_and_exits_with_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import polars as pl

    place = tmp_path / "log.csv"
    pl.DataFrame(with_few_clicks(logged())).write_csv(place)
    assert main(["estimate", str(place), "--target", "p_new", "-q"]) == 4
    out = capsys.readouterr().out
    assert out.index("RS681") < out.index("refused")
    assert main(["estimate", str(place), "--target", "p_new", "-q", "--force", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert {"estimator", "value", "ci_lower", "ci_upper", "effective_sample_size"} <= rows[0].keys()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"p_item_pos": [None, 0.5, 0.5]}, "1 row has no p_item_pos, 33.3% of all (RS608)"),
        (
            {"p_item_pos": [0.0, 0.5, 0.5]},
            "1 row has a p_item_pos that is not above 0 and at most 1, 33.3% of all (RS608)",
        ),
        ({"p_new": [1.5, 0.5, None]}, "column p_new has no probability from 0 to 1 in 2 rows, 66.7% of all"),
        ({"user": [None, "u1", "u1"]}, "log: 1 row has no user"),
        ({"list_id": [None, "l", "l"]}, "log: 1 row has no list_id"),
        ({"list_id": ["l", "l", "l"], "rank": [1, 2, None]}, "log: 1 row has no rank"),
    ],
)
def test_cells_that_an_estimate_cannot_do_without(change: dict[str, Any], said: str) -> None:
    log = {
        "user": ["u0", "u1", "u1"],
        "item": ["a", "b", "a"],
        "click": [1, 0, 0],
        "p_item_pos": [0.5] * 3,
        "p_new": [0.5] * 3,
    }
    with pytest.raises(DataError, match=re.escape(said)):
        rs.estimate(log | change, "p_new")


def test_a_value_keeps_its_digits_beside_one_that_is_far_less_certain() -> None:
    log = logged()
    log["p_item_pos"][7], log["click"][7] = 1e-6, 1
    found = rs.estimate(log, "uniform", "IPS", force=True)
    own = found.value_of("logged")
    assert own.write(own.value) != "0"
    assert found.value_of("uniform").value > 10


def test_numbers_do_not_depend_on_how_ids_are_written_or_rows_are_sorted() -> None:
    draws = np.random.default_rng(2)
    lists, places = 300, 2
    item = np.argsort(draws.random((lists, 4)), axis=1)[:, :places].ravel()
    log = {
        "user": np.repeat(draws.integers(90, size=lists), places), "list_id": np.repeat(np.arange(lists), places), "rank": np.tile([1, 2], lists),
        "item": item, "click": draws.integers(2, size=len(item)), "p_item_pos": np.full(len(item), 0.25), "p_new": draws.random(len(item)) / 2,
    }  # fmt: skip
    texts = log | {name: log[name].astype(str) for name in ("user", "list_id", "item")}
    mixed = draws.permutation(len(item))
    shuffled = {name: column[mixed] for name, column in texts.items()}
    names = ["IPS", "SNIPS", "IIPS", "SNIIPS"]
    found, as_text, sorted_again = (
        rs.estimate(one, "p_new", names, interval="percentile") for one in (log, texts, shuffled)
    )
    for name in names:
        one = found.value_of("p_new", name)
        assert (one.value, one.ends) == (as_text.value_of("p_new", name).value, as_text.value_of("p_new", name).ends)
        assert sorted_again.value_of("p_new", name).value == pytest.approx(one.value, rel=1e-12)
