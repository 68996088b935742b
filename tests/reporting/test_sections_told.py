"""What a report says first: verdicts, the scoreboard, the health of the data."""

from __future__ import annotations

import numpy as np
import pytest
from tests.made.scores import ranked, ranked_run
from tests.reporting.made_sections import COMPARED, QRELS, SCORED, column, compared, scored, section_of, tables

from rankscope.blocks import Notes, NumberText, Paragraph, ValueRange
from rankscope.reporting.answer import MEANS_ONLY, verdicts
from rankscope.reporting.subject import hint_of

IDS = [f"q{i:02}" for i in range(40)]

# --- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two", "gaps", "lower is better", "no direction", "all the same", "of all kinds"])
def test_verdicts_are_the_sentences_of_the_comparison(name: str) -> None:
    subject = COMPARED[name]()
    said = list(subject.result.sentences())
    found = verdicts(subject)
    assert sorted(
        " ".join([v.text, *(m for m in v.more if not m.startswith("Caution"))]) for v in found[: len(said)]
    ) == sorted(said)
    tones = {"better": "better", "worse": "worse", "cannot tell": "unclear", "same": "same"}
    by_pair = {verdict.about: verdict for verdict in found}
    for c in subject.result.of(subject.result.primary):
        verdict = by_pair[f"{c.run} against {c.baseline}"]
        assert verdict.tone == tones.get(c.verdict, "plain")
        largest = np.sort(np.abs(c.paired.gains))[::-1][: len(verdict.queries)]
        by_id = dict(
            zip(
                (q for q, k in zip(c.panel.units, c.paired.inside.tolist(), strict=True) if k),
                c.paired.gains,
                strict=True,
            )
        )
        assert [abs(by_id[q]) for q, _ in verdict.queries] == largest.tolist()
        assert all(words.startswith(c.run) for _, words in verdict.queries)


def test_many_runs_are_counted_and_the_best_is_told() -> None:
    subject = COMPARED["forty"]()
    total, best, group, *_, left = verdicts(subject)
    assert total.text.startswith("Of 39 runs compared with run00 on AP:")
    assert len(total.queries) == 4, "those of the best are on its own card"
    assert not {pair for pair in total.pairs if pair in best.pairs}
    leader = max(subject.lead.systems, key=subject.lead.means.__getitem__)
    assert best.about == f"{leader} against run00"
    assert group.text.startswith(f"AP: {leader}, ")
    unclear = sum(c.verdict == "cannot tell" for c in subject.result.contrasts)
    assert left.text.startswith(f"{unclear} of 39 comparisons on AP are inconclusive; the one nearest to clear is")
    assert left.tone == "unclear"


def test_the_worst_that_is_told_apart_has_a_card() -> None:
    """Six runs against the third: two are told apart as worse, the lower one is shown."""
    draws = np.random.default_rng(2).normal(0, 0.01, (7, 40))
    level = (0.3, 0.2, 0.5, 0.501, 0.499, 0.502, 0.6)
    scores = {
        f"r{i}": {q: x + float(d) for q, d in zip(IDS, row, strict=True)}
        for i, (x, row) in enumerate(zip(level, draws, strict=True))
    }
    total, best, worst, *_ = verdicts(compared(scores, metrics="AP", baseline="r2"))
    assert (best.about, best.tone) == ("r6 against r2", "better")
    assert (worst.about, worst.tone) == ("r1 against r2", "worse")
    assert not {*best.pairs, *worst.pairs} & set(total.pairs)


def test_the_top_group_is_counted() -> None:
    draws = np.random.default_rng(2).normal(0, 0.01, (3, 40))
    scores = {
        n: {q: x + float(d) for q, d in zip(IDS, row, strict=True)}
        for n, x, row in zip("abc", (0.2, 0.5, 0.501), draws, strict=True)
    }
    said = next(v.text for v in verdicts(compared(scores, metrics="AP")) if v.about == "best on AP")
    assert said.endswith("are statistically tied for first: 2 of 3 runs.")


def test_a_verdict_says_what_makes_it_doubtful() -> None:
    qrels = {q: {"good": 1, "d1": 0} for q in IDS[:24]}
    known = {q: {"good": 2.0, "d1": 1.0} for q in qrels}
    # one of four of its documents is judged, in a query of 24 it returned nothing
    other = {q: {"good": 4.0, "x": 3.0, "y": 2.0, "z": 1.0} for q in IDS[:23]}
    found = verdicts(compared(qrels, {"known": known, "other": other, "again": known}, "nDCG@10"))
    by_about = {v.about: v.more for v in found}
    assert by_about["other against known"] == (
        f"Caution: {3 / 4:.0%} of other's top 10 is unjudged and counted as not relevant (known: 0%), so the comparison may be unfair.",
        "Caution: other has no ranking for 1 of 24 judged queries (q23), scored as empty.",
    )
    assert by_about["again against known"] == ()


@pytest.mark.parametrize(("limit", "best"), [(20, "a"), (2000, "b"), (5, None)])
def test_the_best_within_a_budget_is_a_verdict(limit: float, best: str | None) -> None:
    scores = {"a": dict.fromkeys(IDS, 0.4), "b": {q: 0.5 + i / 1000 for i, q in enumerate(IDS)}}
    costs = {"a": {"latency_ms": 10}, "b": {"latency_ms": 1000}}
    budget, _, *_ = verdicts(compared(scores, metrics="AP", costs=costs, limits={"latency_ms": limit}))
    assert budget.about == "within the limit"
    if best is None:
        assert (budget.text, budget.tone) == ("No run has latency_ms <= 5.", "unclear")
    else:
        assert budget.text.startswith(f"Best with latency_ms <= {limit:,}: {best} (")
        assert (budget.tone, budget.more) == ("plain", (MEANS_ONLY,))


def test_where_less_is_better_words_say_so() -> None:
    base = dict.fromkeys(QRELS, 3.0)
    other = {q: 3.0 - i / 10 for i, q in enumerate(QRELS)}
    (found,) = verdicts(compared({"a": base, "b": other}, metrics="CoverageError"))
    assert found.tone == "better"
    assert found.queries[0] == ("q23", "b −2.300 (better)")


def test_one_run_says_what_it_scores_and_what_it_loses() -> None:
    run = ranked((1, 2, 4, 1, 1, 1, 1, 1))
    scores, lost = verdicts(scored({f"q{i}": {"good": 1} for i in range(8)}, run, "RR"))
    mean = (6 + 1 / 2 + 1 / 4) / 8
    assert scores.text.startswith(f"run scores {mean:.3f} on RR (95% interval")
    assert f"loses {1 - mean:.3f} of RR" in lost.text
    assert "because relevant documents are ranked too low" in lost.text
    assert [q for q, _ in lost.queries] == ["q2", "q1"]
    assert lost.queries[0][1].startswith("0.250, loses 0.750: ")


# --- scoreboard and health -----------------------------------------------------------------------


def test_the_scoreboard_holds_the_means_and_marks_the_best() -> None:
    subject = COMPARED["gaps"]()
    section = section_of("scoreboard", subject)
    found, field = tables(section), subject.lead
    values = found["scoreboard"]
    order = [str(row[0]) for row in values.rows]
    assert order == sorted(field.systems, key=lambda s: -field.means[s])
    for i, (name, cell) in enumerate(values.rows):
        bounds = field.interval(str(name))
        assert cell == ValueRange(field.means[str(name)], bounds.lower, bounds.upper)
        assert ((i, 1) in values.best) == (i == 0)
    marked = found["against-baseline"]
    marks = dict(zip(column(marked, "run"), column(marked, marked.columns[1].header), strict=True))
    for c in subject.result.contrasts:
        mark = {"better": " *", "worse": " †"}.get(c.verdict, "")
        assert marks[c.run] == NumberText(f"{c.difference:+.3f}{mark}", c.difference)
    assert "Holm" in found["against-baseline"].note


def test_a_heading_tells_what_the_metric_is() -> None:
    subject = COMPARED["runs"]()
    (values, marks) = (tables(section_of("scoreboard", subject))[name] for name in ("scoreboard", "against-baseline"))
    hint = {c.header: c.hint for c in values.columns}["nDCG@10"]
    assert hint.startswith("Discounted gain ")
    assert "Formula: DCG / DCG of the ideal ranking. Watch out: linear gain" in hint
    assert hint.endswith(" Higher is better.")
    assert not any(c.hint for c in marks.columns), "said once, at the first table"
    assert (
        "Scores as they were given"
        in tables(section_of("scoreboard", COMPARED["unknown metric"]()))["scoreboard"].columns[1].hint
    )


def test_a_metric_of_its_own_parameters_is_not_told_as_the_usual_one() -> None:
    metrics = ["nDCG(gain='exponential')@10", "R(denominator='min_k_relevant')@2", "P(level=2)@5", "RR"]
    subject = compared(QRELS, {"x": ranked_run(1), "y": ranked_run(2)}, metrics)
    hints = [hint_of(field) for field in subject.panels]
    assert [hint.split(". ")[0] for hint in hints[:3]] == [
        "Here gain 2^grade - 1", "Here denominator = 'min_k_relevant'", "Here relevant from grade 2 on",
    ]  # fmt: skip
    assert all(" The usual form: " in hint for hint in hints[:3])
    assert hints[3].startswith("One divided by the rank of the first relevant document. ")
    assert all(hint.endswith(" Higher is better.") for hint in hints)


def test_effect_sizes_say_what_they_are_and_hold_their_numbers() -> None:
    subject = COMPARED["gaps"]()
    table = tables(section_of("scoreboard", subject))["effect-sizes"]
    assert [c.header for c in table.columns] == [
        "run", "against", "relative", "95% interval, not corrected", "in sd", "queries better", "carried by", "p",
    ]  # fmt: skip
    for row in table.rows:
        c = subject.result[str(row[0]), "AP"]
        share, bounds = c.relative
        interval = ValueRange(share, bounds.lower, bounds.upper, f"{bounds.lower:+.1%} to {bounds.upper:+.1%}")
        assert row[2:6] == (
            NumberText(f"{share:+.1%}", share), interval, NumberText(f"{c.effect:+.2f}", c.effect), NumberText(f"{c.wins / c.queries:.1%}", c.wins / c.queries),
        )  # fmt: skip
        assert isinstance(row[7], NumberText)
        assert row[7].value == c.p_value_adjusted
    alone = tables(section_of("scoreboard", COMPARED["two"]()))["effect-sizes"]
    assert alone.columns[3].header == "95% interval"
    assert not alone.note


def test_queries_of_no_weight_are_not_called_without_a_value() -> None:
    weights = {q: float(i % 3 > 0) for i, q in enumerate(QRELS)}
    section = section_of("scoreboard", compared(QRELS, {"x": ranked_run(1), "y": ranked_run(2)}, "RR", weights=weights))
    said = [b.text for b in section.blocks if isinstance(b, Paragraph)]
    assert "8 queries have no weight in the mean of RR" in said
    assert not any("no value" in text for text in said)


def test_no_value_is_called_the_best_of_a_metric_without_a_direction() -> None:
    lead = section_of("scoreboard", COMPARED["no direction"]()).lead
    assert lead.endswith("in the order given. None of the values is best.")
    mixed = compared(QRELS, {"x": ranked_run(1), "y": ranked_run(2)}, ["Judged@5", "RR"])
    assert section_of("scoreboard", mixed).lead.endswith("The best value of RR is marked.")


def test_values_that_have_no_interval_stay_numbers() -> None:
    subject = SCORED["one run, pooled"]()
    row = tables(section_of("scoreboard", subject))["scoreboard"].rows[0]
    assert subject.scores is not None
    assert isinstance(row[1], ValueRange)  # of the bootstrap
    assert row[1].value == pytest.approx(subject.scores["AUC(pooled=True)"])
    assert row[2] == subject.scores["NumRelRet"]
    assert isinstance(row[3], ValueRange)
    assert row[3].value == subject.scores["GMAP"]


def test_all_pairs_tell_the_discriminative_power() -> None:
    subject = COMPARED["all pairs"]()
    section = section_of("scoreboard", subject)
    assert "against-baseline" not in tables(section)
    clear = sum(c.verdict in {"better", "worse"} for c in subject.result.contrasts)
    said = [b.text for b in section.blocks if isinstance(b, Paragraph)]
    assert f"Pairs with a clear difference on these queries (discriminative power): AP {clear / 10:.0%}." in said


def test_health_keeps_what_is_odd_and_folds_the_rest() -> None:
    missing = {q: docs for q, docs in ranked_run(2).items() if q != "q03"} | {"extra": {"d": 1.0}}
    section = section_of("data", compared(QRELS, {"x": ranked_run(1), "y": missing}, "P@5"))
    table = tables(section)["data-health"]
    assert column(table, "missing") == [0, 1]
    assert column(table, "extra") == [0, 1]
    assert tables(section)["missing-queries"].rows == (("y", "q03"),)
    folded = next(b.text for b in section.blocks if isinstance(b, Paragraph))
    assert "empty rankings" in folded
    assert "judged queries without a ranking" not in folded
    codes = {note.code for b in section.blocks if isinstance(b, Notes) for note in b.items}
    assert {"RS101", "RS102"} <= codes
    assert all(c.hint for c in table.columns[1:])
