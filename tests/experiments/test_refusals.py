"""What an experiment says when it cannot do what was asked: whole sentences, which name the thing and the way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import rankscope as rs
from rankscope.errors import DataError, InputError
from rankscope.experiments.arms import planned_split, sample_ratio, shares_of
from rankscope.experiments.interleaved import Duels, Interleaved
from rankscope.experiments.plan import Look, read_plan
from rankscope.experiments.roles import guardrails_of, roles_of
from rankscope.experiments.variants import refuse_outcomes, variants_of
from rankscope.logs.base import before, parse_online
from rankscope.logs.sums import refuse_rows

ROWS = {"user": list("abcdef"), "variant": list("ABABAB"), "click": [1, 0, 1, 1, 0, 0], "spent": [1.0, 2, 3, 4, 5, 6], "past": [1.0, 1, 2, 2, 3, 3]}  # fmt: skip
SUMS = {"variant": ["A", "B"], "users": [9, 9], "spent_sum": [9.0, 12.0], "spent_sum_squares": [20.0, 30.0]}
CTR, SPENT = parse_online("CTR"), parse_online("Mean(spent)")


def of(metrics: Any = None, primary: Any = None, guardrails: Any = None, margin: Any = None) -> Callable[[], Any]:
    return lambda: roles_of(rs.read_log(ROWS | {"item": list("xyxyxy")}), metrics, primary, guardrails, margin)


SAID: dict[str, tuple[Callable[[], Any], str]] = {
    "rows of sums": (lambda: refuse_rows(rs.read_log(SUMS), "clusters"), "clusters needs one row per user or event, and log holds sums over many: leave it out"),
    "values of sums by a column": (
        lambda: variants_of(rs.read_log(SUMS), [SPENT]).units_by("country", SPENT),
        "a value by country needs one row per user or event, and log holds sums over many: leave it out",
    ),
    "an option that a mapping sets": (
        lambda: rs.experiment(ROWS, plan={"primary": "CTR", "alpha": 0.1}, alpha=0.2),
        "alpha is set by the plan in the mapping: leave it out, or change the plan",
    ),
    "fewer users than at the look before": (
        lambda: read_plan({"primary": "CTR", "looks": {"units": 2000, "taken": [300, 1000]}}).look_at(999, "user"),
        "look 2 of the plan was at 1,000 users, and there are 999: a look takes all users",
    ),
    "a look after the last": (
        lambda: read_plan({"primary": "CTR", "looks": {"units": 2000, "taken": [2000]}}).look_at(2002, "user"),
        "the last look of the plan was at 2,000 users: its verdict is final. Write a new plan for another experiment",
    ),
    "two margins of all": (of("CTR", margin=["1%", "2%"]), "margin is given twice: give one"),
    "two margins of one": (of("CTR", margin=["CTR=1%", "CTR=2%"]), "margin of CTR is given twice: give one"),
    "a margin of another": (of("CTR", margin={"Mean(spent)": 1}), "margin of Mean(spent): it is not compared; there are CTR"),
    "a margin of a guardrail": (
        of("CTR", guardrails="Mean(spent, better='higher')=1%", margin={"Mean(spent, better='higher')": 1}),
        "Mean(spent, better='higher') has two margins, as a guardrail and by margin=: give it one",
    ),
    "two that decide": (of(primary="CTR Mean(spent)"), "primary='CTR Mean(spent)': one metric decides; name the others with -m"),
    "guardrails alone": (of([], guardrails="CTR"), "guardrails do not decide: name the metric that does with primary="),
    "one that is both": (lambda: guardrails_of("CTR=1%", [CTR]), "CTR decides, and is a guardrail: name it as one of the two"),
    "a guardrail without a direction": (
        of("CTR", guardrails="Mean(spent)"),
        "Mean(spent) decides, but its better direction is unknown: write Mean(spent, better='higher') or Mean(spent, better='lower')",
    ),
    "a guardrail of neither": (of("CTR", guardrails="Attribute(spent)"), "Attribute(spent) has no better direction: it cannot decide, name another metric"),
    "ids only": (
        lambda: rs.experiment({"user": ["u", "v"], "variant": ["A", "B"]}),
        "log: name a metric, like -m 'Mean(column)' (columns: ids only)",
    ),
    "a covariate that is an outcome": (
        lambda: refuse_outcomes(rs.read_log(ROWS), {SPENT: (CTR,)}),
        "covariate CTR of Mean(spent): click is an outcome of the experiment, so that adjusting for it hides what the variant did: name a column that was measured before",
    ),
    "a quantile before": (lambda: before(parse_online("Retention@7")), "covariate of Retention@7: a metric over days has no value before the assignment"),
    "a share of nobody": (lambda: shares_of("=0.5"), "split 0.5: name the variant of each share, like A=0.9,B=0.1"),
    "no share": (lambda: shares_of({"A": 0}), "split A=0: a share is a number above 0, like A=0.9,B=0.1"),
    "a share of no variant": (lambda: planned_split("A=1,controll=1", ["A", "control"]), "split controll: no variant is called that, did you mean control?"),
    "other pairs": (lambda: Interleaved.of(rs.read_log(ROWS), pairs="some"), "pairs='some': pairs is one of 'all', 'competitive'"),
    "rankers together": (
        lambda: vars(Duels)["complete"].func(None),  # it says so of every panel
        "a joint correction looks at values of all rankers on one list, and each pair has outcomes of its own: use holm",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", SAID)
def test_what_cannot_be_is_said_in_full(case: str) -> None:
    call, said = SAID[case]
    with pytest.raises((InputError, DataError)) as error:
        call()
    assert str(error.value) == said


def test_the_check_of_a_split_is_said_in_full() -> None:
    odd = sample_ratio({"A": 600, "B": 400})
    assert odd.sentence("user") == odd.brief("user") == (
        "Sample ratio mismatch: A 600 and B 400 users where A 50.0% and B 50.0% were planned (p < 0.001). "
        "Assignment or logging is biased, so no result can be trusted: find the cause first."
    )  # fmt: skip
    even = sample_ratio({"A": 500, "B": 500})
    assert even.sentence("user") == "Sample ratio: A 500 and B 500 users, no sign of a mismatch (p = 1.00)."
    assert even.brief("user") == "Sample ratio: no sign of a mismatch (p = 1.00)."
    many = {f"v{n}x": 100 for n in range(14)}
    assert "v11x 100 and 2 more users, no sign" in sample_ratio(many).sentence("user")
    assert "v11x 1.0% and 2 more were planned" in sample_ratio(many, {name: 1 + 86 * (name == "v0x") for name in many}).sentence("user")  # fmt: skip
    tests = {name: sample_ratio(counts, at_looks=looks).test for name, counts, looks in (
        ("looks", {"A": 5, "B": 5}, True), ("two", {"A": 5, "B": 5}, False), ("few", {"A": 99, "B": 99, "C": 99}, False),
        ("three", {"A": 100, "B": 100, "C": 100}, False),
    )}  # fmt: skip
    assert tests == {
        "looks": "sequential multinomial test",
        "two": "binomial test",
        "few": "binomial tests, Bonferroni-corrected",
        "three": "chi-square test",
    }


@pytest.mark.parametrize(
    ("units", "changed", "said"),
    [
        (1, False, "Look 1 of the plan: 1 user of 2,000 (0.05%), alpha is left for later looks."),
        (1999, True, "Look 1 of the plan: 1,999 users of 2,000 (99.95%), alpha is left for later looks. The plan was changed after its first look, so the rate of false differences is not known."),
        (2500, False, "Look 1 of the plan: 2,500 users of 2,000 (100%), the last look."),
    ],
    ids=["the first user", "one user short of the plan", "more than was planned"],
)  # fmt: skip
def test_a_look_is_said_in_full(units: int, changed: bool, said: str) -> None:
    look = Look(1, units, 2000, (), "pocock", changed)
    assert look.sentence("user") == said
    assert look.record() == {"look": 1, "units": units, "planned_units": 2000, "earlier": [], "last": units >= 2000, "plan_changed": changed}  # fmt: skip


def test_a_look_has_the_shares_of_all_looks_so_far() -> None:
    from rankscope.panels.method import method_of

    for units, looks, share in ((1500, 3, 0.75), (1999, 3, 0.9995), (2000, 2, 1.0), (2100, 2, 1.0)):
        made = Look(2, units, 2000, (667,), "pocock").method(method_of(test="t"))
        assert str(made.test) == str(made.interval)
        assert [getattr(made.test, name) for name in ("look", "looks", "spending")] == [2, looks, "pocock"]
        assert str(made.test.shares) == f"{{1: 0.3335, 2: {share:g}}}"  # type: ignore[union-attr]


def test_adjustments_are_told() -> None:
    log = {"user": [f"u{n}" for n in range(40)], "variant": ["A", "B"] * 20, "spent": [float(n * 7 % 11) for n in range(40)], "past": [n % 3 for n in range(40)], "city": ["x", "x", "y", "y"] * 10}  # fmt: skip
    made = variants_of(rs.read_log(log), [SPENT], covariates={"Mean(spent)": "past"}, strata="city", winsorise=0.9)
    assert [*made.adjustment.remarks()] == ["Mean(spent) adjusted for Attribute(past) (CUPED)", "adjusted for city", "cut at the 90.0% quantile"]  # fmt: skip
    assert made.adjustment.statement() == {
        "covariates": {"Mean(spent)": ["Attribute(past)"]}, "covariates_automatic": False, "strata": "city", "winsorise": 0.9,
    }  # fmt: skip
    some = pl.DataFrame(log).with_columns(past=pl.when(pl.col("user") != "u0").then("past"))
    for table, said in (
        (some, "Attribute(past) is empty for 1 user: they count as the mean of the others, and an indicator marks them"),
        (some.with_columns(past=pl.lit(None, pl.Float64)), "Attribute(past) is empty for all 40 users: it adjusts nothing"),
    ):  # fmt: skip
        notes = variants_of(rs.read_log(table), [SPENT], covariates={"Mean(spent)": "past"}).notes
        assert notes[-2:] == ["40 rows, each its own user", said]
