"""The rules as a whole: codes, texts, choice, and that good data are left in peace."""

from __future__ import annotations

import re
from typing import Any

import pytest

import rankscope as rs
from rankscope.diagnostics.codes import all_rules, rule_named
from rankscope.errors import InputError
from rankscope.verbs.check.rules import select_rules

QUERIES = [f"q{i}" for i in range(12)]
# twelve judged documents a query, of which the first three and the last are relevant
QRELS = {q: {f"d{j:02d}": (2 if j == 0 else 1 if j in {1, 2, 11} else 0) for j in range(12)} for q in QUERIES}


def ranked(order: list[int]) -> dict[str, float]:
    return {f"d{j:02d}": 20.0 - place for place, j in enumerate(order)}


GOOD: dict[str, Any] = {q: ranked(list(range(12))) for q in QUERIES}
POOR: dict[str, Any] = {q: ranked(list(range(11, -1, -1))) for q in QUERIES}


def test_codes_are_well_formed_and_unique() -> None:
    codes = [rule.code for rule in all_rules()]
    assert codes == sorted(set(codes))
    assert all(re.fullmatch(r"RS[1-9]\d\d", code) for code in codes)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_rule_says_what_why_and_what_to_do(rule: Any) -> None:
    assert len(rule.what) > 20
    assert not rule.what.endswith(".")
    assert rule.why.endswith((".", "?"))
    assert rule.remedy
    assert not rule.remedy.endswith(".")
    assert rule.severity in {"warning", "information"}


def test_every_code_that_evaluate_and_compare_print_is_explained() -> None:
    printed = {f"RS{n}" for n in (101, 102, 103, 104, 105, 106, 201, 203, 204, *range(401, 409))}
    assert printed <= {rule.code for rule in all_rules()}


def test_good_data_are_left_in_peace() -> None:
    found = rs.check(QRELS, {"good": GOOD, "poor": POOR}, ["nDCG@10", "P@5"], scale="0-2")
    assert [f for f in found if f.code[2] != "3"] == []  # a metric may have its note
    assert found.exit_code == 0


def test_rules_are_called_by_code_and_by_name() -> None:
    assert rule_named("RS101") is rule_named("rs101") is rule_named("missingqueries")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("RS199", "did you mean one of RS101"), ("MisingQueries", "did you mean MissingQueries"), ("x", "--list")],
)
def test_an_unknown_rule_is_told_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(InputError, match=re.escape(hint)):
        rule_named(name)


def test_rules_are_chosen_by_code_and_family() -> None:
    assert [rule.code for rule in select_rules(["RS101,RS2"], ["RS201", "RS203"])][:3] == ["RS101", "RS202", "RS204"]
    assert len(select_rules()) == len(all_rules())
    assert len(select_rules(ignore="RS1")) == len([r for r in all_rules() if not r.code.startswith("RS1")])
    with pytest.raises(InputError, match="no rule is left"):
        select_rules(["RS101"], ["RS1"])


def test_findings_stand_by_severity_and_code() -> None:
    run = {q: d for q, d in GOOD.items() if q != "q0"} | {"q99": ranked([0, 1])}
    found = rs.check(QRELS, run, "nDCG@10")
    assert [f.code for f in found if f.code < "RS3"] == ["RS101", "RS102"]
    assert found.exit_code == 1
    assert rs.check(QRELS, run, "nDCG@10", ignore="RS101,RS3").exit_code == 0


def test_an_option_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InputError, match="no option 'dpeth'"):
        rs.check(QRELS, GOOD, dpeth=3)


@pytest.mark.parametrize(
    ("said", "meant"), [("0-3", (0.0, 3.0)), ("-1..2", (-1.0, 2.0)), ((0, 4), (0.0, 4.0)), (range(4), (0.0, 3.0))]
)
def test_scales_are_read(said: Any, meant: tuple[float, float]) -> None:
    assert rs.check(QRELS, GOOD, "P@5", scale=said).case.scale == meant


@pytest.mark.parametrize("said", ["3", "3-0", "a-b", 3, (1,)])
def test_a_scale_that_is_none_is_refused(said: Any) -> None:
    with pytest.raises(InputError, match="lowest and its highest grade"):
        rs.check(QRELS, GOOD, "P@5", scale=said)


def test_conventions_are_those_of_evaluate() -> None:
    found = rs.check(QRELS, GOOD, "nDCG@10", ties="docid", depth=5)
    assert found.case.scores is not None
    assert found.case.scores["nDCG@10"] == rs.evaluate(QRELS, GOOD, "nDCG@10", ties="docid", depth=5)["nDCG@10"]
