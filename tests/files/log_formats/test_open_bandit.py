"""Files of the Open Bandit Dataset: single positions and no lists, several policies together, real rates against a plain group-by."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import InputError

HEADER = ",timestamp,item_id,position,click,propensity_score,user_feature_0,user-item_affinity_0\n"
ONE = HEADER + (
    "0,2019-11-24 00:00:03.100000+00:00,14,3,0,0.029,f1,0.0\n"
    "1,2019-11-24 00:00:07.500000+00:00,2,1,1,0.5,f2,1.0\n"
)  # fmt: skip
ITEMS = ",item_id,item_feature_0,item_feature_1\n0,2,-0.5,red\n1,14,0.25,blue\n"


def made(folder: Path) -> Path:
    for policy, text in {"random": ONE, "bts": HEADER + "0,2019-11-25 00:00:00+00:00,14,2,0,0.9,f1,0.0\n"}.items():
        place = folder / policy / "men"
        place.mkdir(parents=True)
        (place / "men.csv").write_text(text)
        (place / "item_context.csv").write_text(ITEMS)
    return folder


def test_rows_are_as_they_lie_with_the_chance_of_the_item_at_its_position(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(ONE)
    log = rs.read_log(path)
    assert log.collect(log.frame.select("item_id", "position", "click", "p_item_pos")).rows() == [
        ("14", 3, 0.0, 0.029),
        ("2", 1, 1.0, 0.5),
    ]
    assert str(log.collect(log.frame.select("timestamp")).item(0, 0)) == "2019-11-24 00:00:03.100000+00:00"


def test_no_list_is_made_up(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(ONE)
    log = rs.read_log(path)
    assert not log.has("impression_id")
    assert any("rows cannot be grouped into lists" in note for note in log.source.notes)
    assert {str(one.metric) for one in rs.online(log).values} == {"CTR"}


def test_folders_say_the_policy_and_items_have_their_features(tmp_path: Path) -> None:
    log = rs.read_log(made(tmp_path))
    found = log.collect(log.frame.select("logger_id", "campaign", "item_id", "position", "item_feature_1")).rows()
    assert found == [
        ("bts", "men", "14", 2, "blue"),
        ("random", "men", "14", 3, "blue"),
        ("random", "men", "2", 1, "red"),
    ]
    assert log.source.notes[0].startswith(f"read {tmp_path} as Open Bandit: 3 impressions by policies bts and random: ")


def test_a_cell_at_fault_is_named_with_its_file_and_line(tmp_path: Path) -> None:
    folder = made(tmp_path)
    path = folder / "random" / "men" / "men.csv"
    path.write_text(ONE.replace("2,1,1,0.5", "2,first,1,0.5"))
    with pytest.raises(InputError) as error:
        rs.read_log(folder)
    assert str(error.value) == f"{path} line 3, column position: 'first': a position is a whole number from 1"


def test_a_file_without_the_columns_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("item,click\na,1\n")
    with pytest.raises(
        InputError,
        match="no file of Open Bandit with the columns click, item_id, position, timestamp, propensity_score",
    ):
        rs.read_log(path, log_format="obd")


def test_as_a_table_it_has_the_same_rate(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(ONE)
    assert rs.online(path, "CTR")["CTR"] == rs.online(path, "CTR", log_format="table")["CTR"] == 1 / 2


# --- the real data


def plain_read(path: Path) -> dict[str, dict[str, list[int]]]:
    """Clicks by position and by item, by a plain loop over the lines."""
    out: dict[str, dict[str, list[int]]] = {"position": defaultdict(list), "item_id": defaultdict(list)}
    with gzip.open(path, "rt") as file:
        for row in csv.DictReader(file):
            for column, clicks in out.items():
                clicks[row[column]].append(int(row["click"]))
    return out


# the means of rewards under the policy that logged them, as obp computes them from these files
@pytest.mark.parametrize(("policy", "mean"), [("random", 0.0046), ("bts", 0.0069)])
def test_real_rates_are_those_of_a_plain_read_and_of_obp(shared_data: Any, policy: str, mean: float) -> None:
    path = shared_data(f"obd/{policy}/men/men.csv.gz")
    result = rs.online(path, "CTR", by="position", slices="item_id")
    plain = plain_read(path)
    assert result["CTR"] == mean == sum(map(sum, plain["position"].values())) / 10_000
    assert {str(one.part): (one.numerator, one.denominator) for one in result.positions} == {
        place: (sum(clicks), len(clicks)) for place, clicks in plain["position"].items()
    }
    assert len(result.slices) == 30
    for one in result.slices:
        assert one.value == pytest.approx(sum(plain["item_id"][one.part]) / len(plain["item_id"][one.part]))


def test_real_chances_are_of_the_item_at_its_position(shared_data: Any) -> None:
    log = rs.read_log(shared_data("obd"))
    least = log.collect(
        log.frame.group_by("logger_id")
        .agg(pl.col("p_item_pos").min(), pl.col("p_item_pos").max().alias("most"), pl.len())
        .sort("logger_id")
    )
    assert least.row(1) == ("random", 1 / 34, 1 / 34, 10_000)
    assert least.row(0)[0] == "bts"
    assert least.row(0)[1] < 2e-4
    assert least.row(0)[2] > 0.7
    assert log.has("logger_id")
    assert not log.has("impression_id")


def test_both_policies_together_are_told_apart(shared_data: Any) -> None:
    result = rs.online(shared_data("obd"), "CTR", slices="logger_id")
    assert {one.part: (one.numerator, one.denominator) for one in result.slices} == {
        "random": (46, 10_000),
        "bts": (69, 10_000),
    }
