"""Warnings that are ignored: by code, in every verb that has warnings, in Python, on the command line and by the settings of a project."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.made.results import METRICS, one, pair, world

import rankscope as rs
from rankscope.cli.commands import ScoringOptions
from rankscope.cli.table import COMMANDS
from rankscope.diagnostics.codes import all_rules, codes_of
from rankscope.errors import InputError
from rankscope.verbs.check.check import rules

SCORED = {f"q{i}": {"a": 1} for i in range(5)}  # fewer than six queries: RS405, RS409
VERBS: dict[str, Callable[..., Any]] = {
    "evaluate": lambda **more: rs.evaluate(*world(), METRICS, **more),
    "merge": lambda **more: rs.merge(
        [rs.evaluate(world()[0], world()[1]["other"], METRICS, partition=f"{i}/2") for i in (1, 2)], **more
    ),
    "compare": lambda **more: rs.compare(*world(), METRICS, **more),
    "compare of scores": lambda **more: rs.compare(rs.evaluate(*world(), METRICS), **more),
    "compare of a table": lambda **more: rs.compare(
        {"a": dict.fromkeys(SCORED, 0.2), "b": {q: i / 9 for i, q in enumerate(SCORED)}}, metrics="AP", **more
    ),
    "gate": lambda **more: rs.gate(world()[0], one(), world()[1]["other"], METRICS, **more),
    "power": lambda **more: rs.power(*world(), METRICS, **more),
    "explain one query": lambda **more: rs.explain(world()[0], one(), "nDCG@10", query="q01", **more),
    "explain two runs": lambda **more: rs.explain(world()[0], pair(), "nDCG@10", **more),
    "diagnose": lambda **more: rs.diagnose(*world(), "nDCG@10", **more),
    "check": lambda **more: rs.check(*world(), METRICS, **more),
    "unjudged": lambda **more: rs.unjudged(*world(), "nDCG@10", **more),
    "pool": lambda **more: rs.pool(*world(), METRICS, **more),
}


def codes(result: Any) -> list[str]:
    return [caution["code"] for caution in json.loads(result.to_json())["warnings"]]


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_ignored_is_gone_all_else_stays_and_it_is_stated(verb: str) -> None:
    every = codes(VERBS[verb]())
    assert every
    for code in sorted(set(every)):
        found = VERBS[verb](ignore=code)
        assert codes(found) == [other for other in every if other != code]
        assert code not in {w.code for w in found.warnings}
        assert found.conventions["ignore"] == code
    assert codes(VERBS[verb](ignore=["RS1", "rs2", "RS3,RS4"])) == []


def test_no_number_depends_on_what_is_ignored() -> None:
    some, none = rs.compare(*world(), METRICS), rs.compare(*world(), METRICS, ignore="RS")
    assert some.to_csv() == none.to_csv()
    assert none.warnings == []
    assert some.conventions.keys() == none.conventions.keys()


def test_a_table_and_a_page_say_in_small_print_what_is_ignored() -> None:
    assert "warnings ignored: RS203, RS204" in " ".join(
        rs.evaluate(*world(), METRICS, ignore=["RS204", "RS203"]).to_text(200).split()
    )
    assert "ignored" not in rs.evaluate(*world(), METRICS).to_text()
    table = VERBS["compare of a table"](ignore="RS409")
    assert "warnings ignored: RS409" in table.to_text(200)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("code", "near"),
    [("RS213", "did you mean one of RS201, RS202, RS203"), ("203", "did you mean RS203?"), ("Unjudgd", "did you mean Unjudged (RS204)?")],
    ids=["a number of none", "a number without its letters", "a name with a slip"],
)  # fmt: skip
def test_what_is_no_code_is_refused_with_the_nearest(verb: str, code: str, near: str) -> None:
    with pytest.raises(InputError) as refused:
        VERBS[verb](ignore=code)
    assert near in str(refused.value)


def test_codes_are_those_of_the_rules_with_their_names() -> None:
    assert [rule.code for rule in all_rules()] == [rule.code for rule in rules().rules]
    assert codes_of([]) == []


MAKERS = {
    "fuse",
    "agree",
    "interleave",
    "diversify",
    "rerank",
    "learn",
}  # they make runs, or compare them without judgments
WITH_SETTINGS = {"experiment", "diversify", "rerank", "learn"}  # besides those that score rankings


def test_every_command_that_scores_rankings_has_the_option_and_goes_by_settings() -> None:
    for command in COMMANDS:
        takes = {one.name for one in command.parameters}
        scores = command.name not in MAKERS and any(isinstance(one, ScoringOptions) for one in command.takes)
        assert (scores or command.name in WITH_SETTINGS) == ("settings" in takes), command.name
        assert (
            not scores or "ignore" in takes or command.name in {"advise", "ties", "reconcile"}
        )  # which warn of nothing


RUNS = {
    "evaluate": ["qrels.txt", "a.run", "b.run"], "compare": ["qrels.txt", "a.run", "b.run"],
    "gate": ["qrels.txt", "a.run", "b.run"], "power": ["qrels.txt", "a.run", "b.run"],
    "explain": ["qrels.txt", "a.run", "b.run"], "check": ["qrels.txt", "a.run", "b.run"],
    "unjudged": ["qrels.txt", "a.run", "b.run"], "pool": ["qrels.txt", "a.run", "b.run"],
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judgments, two runs with missing queries, and settings."""
    monkeypatch.chdir(tmp_path)
    grades, runs = world()
    for name, ranked in (("a", runs["base"]), ("b", runs["other"])):
        lines = [f"{q} Q0 {d} 0 {score} {name}" for q, docs in ranked.items() for d, score in docs.items()]
        Path(f"{name}.run").write_text("\n".join(lines))
    Path("qrels.txt").write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in grades.items() for d, g in docs.items()))
    Path("pyproject.toml").write_text('[tool.rankscope]\nignore = ["RS101", "RS2"]\n')
    return tmp_path


@pytest.mark.parametrize("verb", RUNS)
def test_settings_hold_in_every_command_and_the_command_line_wins(
    verb: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from rankscope.cli import main

    def told(*more: str) -> set[str]:
        capsys.readouterr()
        assert main([verb, *RUNS[verb], "--format", "json", *more]) in {0, 1, 4}
        out, err = capsys.readouterr()
        assert "settings: pyproject.toml [tool.rankscope]" in err
        return {warning["code"] for warning in json.loads(out)["warnings"]}

    assert not any(code == "RS101" or code.startswith("RS2") for code in told())
    assert told("--ignore", "RS204") >= {"RS101"}
    assert "RS204" not in told("--ignore", "RS204")


def test_a_page_leaves_out_what_is_ignored(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rankscope.cli import main

    assert main(["report", "qrels.txt", "a.run", "b.run", "-o", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert "has no ranking for 1 of 24" not in page
    assert "warnings ignored: RS101, RS201" in page
