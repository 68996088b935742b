"""A plan in a file: its options, and the state of its looks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.made.experiments import users

import rankscope as rs
from rankscope.errors import InputError

PLAN = """
primary = "Mean(revenue)"
metrics = ["Mean(orders)"]
alpha = 0.1
[guardrails]
"Mean(sessions, better='higher')" = "5%"
[margin]
"Mean(orders)" = 0.1
[looks]
units = 2000
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    place = tmp_path / "plan.toml"
    place.write_text(PLAN)
    return place


def test_a_plan_sets_the_options(plan: Path) -> None:
    table = users(1, 800)
    found = rs.experiment(table, plan=plan)
    assert [str(metric) for metric in found.roles] == [
        "Mean(revenue)",
        "Mean(orders)",
        "Mean(sessions, better='higher')",
    ]
    assert [role.part for role in found.roles.values()] == ["primary", "secondary", "guardrail"]
    assert found.method.alpha == 0.1
    assert found["B", "Mean(orders)"].margin == 0.1
    as_json = plan.with_name("plan.json")
    as_json.write_text(json.dumps({"primary": "Mean(revenue)", "alpha": 0.1}))
    assert (
        rs.experiment(table, plan=as_json)["B", "Mean(revenue)"].p_value
        == rs.experiment(table, "Mean(revenue)").contrasts[0].p_value
    )


def test_each_run_on_more_users_is_a_look_with_its_limits(plan: Path) -> None:
    table = users(2, 2200)
    looks = []
    for units in (400, 400, 1000, 2200):
        found = rs.experiment(table.head(units), plan=plan)
        assert found.look is not None
        looks.append((found.look.number, found.look.last))
        if units == 1000:
            half = "Look 2 of the plan: 1,000 users of 2,000 (50%), alpha is left for later looks."
            assert half in list(found.sentences())
    assert looks == [(1, False), (1, False), (2, False), (3, True)]
    shares = "shares=(0.2, 0.5, 1.0)"
    said = rs.experiment(table, "Mean(revenue)", alpha=0.1, test=f"group_sequential(look=3, looks=3, {shares})")
    assert found["B", "Mean(revenue)"].p_value == said["B", "Mean(revenue)"].p_value
    assert found["B", "Mean(revenue)"].bounds == said["B", "Mean(revenue)"].bounds
    state = json.loads(Path(f"{plan}.looks.json").read_text())
    assert [look["units"] for look in state["looks"]] == [400, 1000, 2200]
    assert "Look 3 of the plan: 2,200 users of 2,000 (100%), the last look." in list(found.sentences())
    assert json.loads(found.to_json())["look"]["look"] == 3


def test_a_mapping_holds_its_own_state(plan: Path) -> None:
    table = users(2, 1000)
    rs.experiment(table.head(400), plan=plan)
    by_file = rs.experiment(table, plan=plan)
    by_mapping = rs.experiment(
        table, plan={"primary": "Mean(revenue)", "alpha": 0.1, "looks": {"units": 2000, "taken": [400]}}
    )
    assert by_mapping["B", "Mean(revenue)"].bounds == by_file["B", "Mean(revenue)"].bounds


def test_a_look_that_is_withheld_is_not_taken(plan: Path) -> None:
    table = users(3, 900)
    uneven = table.filter((table["variant"] == "A") | (table["user"].str.len_chars() < 4))
    assert rs.experiment(uneven, plan=plan).exit_code == 3
    assert not Path(f"{plan}.looks.json").exists()


def test_a_plan_that_was_changed_after_a_look_is_told(plan: Path) -> None:
    table = users(3, 900)
    rs.experiment(table.head(300), plan=plan)
    plan.write_text(PLAN.replace("0.1\n[g", "0.2\n[g"))
    for _ in range(2):
        assert any(
            "The plan was changed after its first look" in text for text in rs.experiment(table, plan=plan).sentences()
        )


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("primary = ", {}, "neither TOML nor JSON"),
        ("metrix = 'CTR'", {}, "no option of an experiment is called metrix, did you mean metrics"),
        ("alpha = 0.1", {}, "name the metric that decides, like primary = 'CTR'"),
        ("primary = 'Mean(revenue)'\n[looks]\nnumber = 3", {}, r"like looks = \{units = 40000\}$"),
        ("primary = 'Mean(revenue)'\nlooks = 4", {}, "looks need the planned number of units"),
        ("primary = 'Mean(revenue)'\nunits = 400", {}, r"units belongs to the looks, like looks = \{units = \.\.\.\}$"),
        ("primary = 'Mean(revenue)'\n[looks]\nunits = 99\nwhen = 3", {}, "looks have no when"),
        (
            "primary = 'Mean(revenue)'",
            {"primary": "CTR"},
            "primary is set by the plan .*: leave it out, or change the plan",
        ),
        (PLAN, {"test": "t"}, "the plan has looks, which set the test and the interval"),
        (
            PLAN.replace("alpha = 0.1\n", ""),
            {"alpha": 0.1},
            "the plan has looks, which share alpha: write alpha = 0.1 into the plan",
        ),
    ],
    ids=[
        "not TOML",
        "unknown name",
        "no metric",
        "no units",
        "a number of looks",
        "units elsewhere",
        "unknown part",
        "set twice",
        "test and looks",
        "another alpha at a look",
    ],
)
def test_bad_plans(plan: Path, text: str, options: dict[str, Any], message: str) -> None:
    plan.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        rs.experiment(users(1, 100), plan=plan, **options)
    assert "\n" not in str(caught.value)


def test_a_look_needs_all_users_so_far_and_the_last_one_stands(plan: Path) -> None:
    table = users(4, 3000)
    rs.experiment(table.head(500), plan=plan)
    with pytest.raises(InputError, match="look 1 of the plan was at 500 users, and there are 400"):
        rs.experiment(table.head(400), plan=plan)
    last = rs.experiment(table.head(2100), plan=plan)
    assert rs.experiment(table.head(2100), plan=plan).to_dicts() == last.to_dicts()
    with pytest.raises(InputError, match=r"the last look of the plan was at 2,100 users: its verdict is final"):
        rs.experiment(table, plan=plan)
    Path(f"{plan}.looks.json").write_text("{}")
    with pytest.raises(InputError, match="not the state of a plan"):
        rs.experiment(table, plan=plan)
    with pytest.raises(InputError, match="cannot be read: No such file or directory; "):
        rs.experiment(table, plan=plan.with_name("none.toml"))


def test_the_page_and_the_gate_of_a_log_take_the_plan(plan: Path) -> None:
    table = users(5, 900).rename({"variant": "arm"})
    plan.write_text(f"variant = 'arm'\n{PLAN}")
    found = rs.experiment(table, plan=plan)
    page, gate = rs.report(table, plan=plan).page, rs.gate(table, plan=plan)
    assert page.verdicts[0].text == next(text for text in found.sentences_of_page())
    assert any("Look 1 of the plan: 900 users of 2,000" in verdict.text for verdict in page.verdicts)
    assert [check.metric for check in gate.checks] == [str(metric) for metric in found.roles]
    assert any("Look 1 of the plan: 900 users of 2,000" in text for text in gate.sentences())
    losses = {check.metric: check.tolerance for check in gate.checks}
    guarded = gate.checks[-1].contrast
    assert losses["Mean(orders)"] == 0.1
    assert losses[guarded.metric] == pytest.approx(0.05 * guarded.baseline_value)
    assert gate.checks[0].contrast.p_value == found["B", "Mean(revenue)"].p_value
    assert len(json.loads(Path(f"{plan}.looks.json").read_text())["looks"]) == 1  # the same users are the same look


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("primary = 'Mean(revenue)'\ncorrection = 'bh'", {}, "the plan sets correction, which a gate does not take"),
        (PLAN, {"tolerance": 0.1}, "the plan sets margins, which are the tolerances"),
        ("primary = 'Mean(revenue)'\nsplit = 'A=0.5,B=0.5'", {"split": "A=0.9,B=0.1"}, "split is set by the plan"),
        ("metrics = 'Mean(revenue)'\nvariant = 'variant'", {"variant": "arm"}, "variant is set by the plan"),
    ],
    ids=["a correction", "tolerances twice", "the split twice", "the variant twice"],
)
def test_plans_that_a_gate_refuses(plan: Path, text: str, options: dict[str, Any], message: str) -> None:
    plan.write_text(text)
    with pytest.raises(InputError, match=message):
        rs.gate(users(1, 100), plan=plan, **options)


def test_a_plan_is_for_variants(plan: Path) -> None:
    table = users(1, 100).rename({"variant": "city"})
    with pytest.raises(InputError, match="plan is about experiments"):
        rs.report(table.with_columns(clicked=1), plan={"primary": "CTR"})
    with pytest.raises(InputError, match="plan is for the log of an experiment"):
        rs.gate({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"q": {"a": 1.0}}, plan=plan)


def test_an_option_may_say_what_the_plan_says(plan: Path) -> None:
    table = users(1, 800)
    found = rs.experiment(table, plan=plan, primary="Mean(revenue)", alpha=0.1)
    plan.with_name("plan.toml.looks.json").unlink()
    assert found.to_dicts() == rs.experiment(table, plan=plan).to_dicts()
    with pytest.raises(InputError, match="alpha is set by the plan"):
        rs.experiment(table, plan=plan, alpha=0.2)


@pytest.mark.parametrize(("units", "last"), [(1998, False), (2000, True)], ids=["one short", "as planned"])
def test_the_look_at_the_planned_number_is_the_last(units: int, last: bool, plan: Path) -> None:
    table = users(4, 3000)
    first = rs.experiment(table.head(units), plan=plan).look
    assert first is not None
    assert first.last == last
    if last:
        with pytest.raises(InputError, match="its verdict is final"):
            rs.experiment(table.head(2400), plan=plan)
    else:
        again = rs.experiment(table.head(1999), plan=plan).look
        second = rs.experiment(table.head(2000), plan=plan).look
        assert again is not None
        assert second is not None
        assert (again.number, again.units) == (1, 1998), "less than a thousandth of the plan is no new look"
        assert (second.number, second.units, second.earlier, second.last) == (2, 2000, (1998,), True)


def test_looks_need_four_units_or_more(plan: Path) -> None:
    table = users(4, 400)
    assert rs.experiment(table, plan={"primary": "Mean(revenue)", "looks": {"units": 4}}).look is not None
    for wrong in (3, True, 4.0):
        with pytest.raises(InputError, match="looks need the planned number of units"):
            rs.experiment(table, plan={"primary": "Mean(revenue)", "looks": {"units": wrong}})
