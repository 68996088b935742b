"""The findings and the rules in every format: the same codes, numbers and places everywhere."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import rankscope as rs
from rankscope.diagnostics.codes import all_rules, rule_named
from rankscope.verbs.check.result import Inspection, RuleBook
from rankscope.words import in_caller_syntax

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}


@pytest.fixture
def inspection(tmp_path: Path) -> Inspection:
    """A query without a ranking, a document ranked twice, a query that is not judged."""
    path = tmp_path / "my.run"
    path.write_text("q1 Q0 a 1 2 x\nq1 Q0 a 2 1 x\nq9 Q0 b 1 1 x\n")
    return rs.check(QRELS, path, "RR", select=["RS101", "RS102", "RS104", "RS206"])


def test_all_formats_have_the_same_findings(inspection: Inspection) -> None:
    whole = json.loads(inspection.to_json())
    codes = [finding.code for finding in inspection]
    assert codes == ["RS101", "RS104", "RS102"]
    assert [f["code"] for f in whole["warnings"]] == codes
    assert [json.loads(line)["code"] for line in inspection.to_jsonl().splitlines()] == codes
    rows = list(csv.DictReader(io.StringIO(inspection.to_csv())))
    assert [row["code"] for row in rows] == codes
    assert [row["code"] for row in inspection.rows] == codes == inspection.to_polars()["code"].to_list()
    for code in codes:
        assert code in inspection.to_text()
        assert code in inspection.to_markdown()
        assert code in str(inspection)


def test_findings_without_a_value_lack_its_key_in_json_only(inspection: Inspection) -> None:
    first, second, _ = json.loads(inspection.to_json())["warnings"]
    assert first["effect"] == {"RR": -0.5}
    assert "places" not in first
    assert second["places"] == [f"{inspection.case.runs[0].table.source.label} line 2: document a of query q1"]
    assert inspection.rows[0].keys() == inspection.rows[1].keys() >= {"places", "effect", "documents"}


def test_the_rules_that_were_applied_are_counted(inspection: Inspection) -> None:
    whole = json.loads(inspection.to_json())
    assert whole["schema"] == "rankscope/check/1"
    assert {rule["code"]: rule["findings"] for rule in whole["results"]} == {"RS101": 1, "RS102": 1, "RS104": 1}
    assert whole["not_applied"] == [{"code": "RS206", "reason": "needs docs_text="}]
    assert inspection.exit_code == 1
    assert list(inspection.sentences()) == ["2 warnings, 1 note · 3 rules applied"]


def test_rules_are_a_result_too() -> None:
    book = RuleBook(all_rules())
    assert book.to_polars()["code"].to_list() == [rule.code for rule in all_rules()]
    assert set(json.loads(book.to_json())) == {"schema", "rankscope", "results"}
    one = RuleBook([rule_named("RS101")])
    assert "RS101 MissingQueries (warning)" in one.to_text()
    assert one.rows[0]["remedy"] == in_caller_syntax(rule_named("RS101").remedy)
