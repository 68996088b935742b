"""Metrics by any name they go by, told for people and for programs."""

from __future__ import annotations

import json

import pytest

import rankscope as rs
from rankscope.errors import InputError
from rankscope.metrics import NICKNAMES, families
from rankscope.verbs.catalogue.catalogue import catalogue, find_metric, spellings
from rankscope.verbs.catalogue.result import usual, value_of

ALL = [cls for group in families().values() for cls in group]


def test_all_metrics_are_there_once() -> None:
    assert list(catalogue().metrics) == ALL
    assert [row["name"] for row in catalogue().rows] == [cls.__name__ for cls in ALL]


@pytest.mark.parametrize(
    ("spelling", "name"), [("ndcg_cut_10", "nDCG"), ("map", "AP"), ("nDCG@10", "nDCG"), ("err", "ERR"), ("P", "P")]
)
def test_any_spelling_finds_the_metric(spelling: str, name: str) -> None:
    assert find_metric(spelling).__name__ == name
    assert catalogue(spelling).to_text().startswith(f" {name}: ")


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean nDCG"):
        rs.catalogue("nDGC")


@pytest.mark.parametrize("name", list(NICKNAMES))
def test_a_set_names_its_members(name: str) -> None:
    found = catalogue(name)
    assert isinstance(found, rs.Catalogue)
    assert len(found.members) == len(rs.metrics.parse_many(name))
    assert f"{name}: trec_eval's set of {len(found.members)} metrics" in found.to_text()


@pytest.mark.parametrize("cls", ALL, ids=[cls.__name__ for cls in ALL])
def test_one_in_full(cls: type[rs.Metric]) -> None:
    text = catalogue(cls.__name__).to_text(120)
    for example in cls.examples:
        assert f"= {value_of(example):.4f}" in text
    assert str(usual(cls)) in text
    (record,) = json.loads(catalogue(cls.__name__).to_json())["metrics"]
    assert record["aggregate"] == usual(cls).aggregate


def test_what_is_offered_can_be_computed() -> None:
    offers = [name for name, _ in spellings((1, 5, 10, 1000))]
    metrics = [name for name in offers if name not in NICKNAMES]
    assert [str(rs.parse(name).ready()) for name in metrics] == metrics
    assert {type(rs.parse(name)) for name in metrics} == set(ALL)
    assert {"AP", "nDCG@10", "AP@5", "P@1000", "IPrec@0.5", "BPM(max_grade=1)@5", *NICKNAMES} <= set(offers)
    assert len(set(offers)) == len(offers)


def test_names_to_offer_are_those_of_the_catalogue() -> None:
    assert {cls.__name__ for cls in ALL} == {name for name, _ in spellings(())}


def test_the_bounds_of_parameters() -> None:
    (record,) = json.loads(catalogue("P").to_json())["metrics"]
    bounds = {one["name"]: (one["low"], one["low_excluded"], one["high"]) for one in record["parameters"]}
    assert bounds["cutoff"] == (1, False, None)
    assert bounds["level"] == (0, False, None)
