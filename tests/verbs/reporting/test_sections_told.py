"""What a report says first: verdicts, the scoreboard, the health of the data."""

from __future__ import annotations

import numpy as np
import pytest
from tests.verbs.made_scores import ranked, ranked_run
from tests.verbs.reporting.made_sections import (
    QRELS,
    SUBJECTS,
    column,
    compared,
    scored,
    tables,
)

from rankscope.blocks import Notes, Paragraph, Ranged
from rankscope.verbs.comparison.sentences import sentences
from rankscope.verbs.reporting import board, data_health
from rankscope.verbs.reporting.verdicts import verdicts

# --- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["two", "gaps", "lower is better", "no direction", "all the same", "of all kinds"]
)
def test_verdicts_are_the_sentences_of_the_comparison(name: str) -> None:
    subject = SUBJECTS[name]()
    assert subject.comparison is not None
    said = list(sentences(subject.comparison))
    found = verdicts(subject)
    assert sorted(" ".join([v.text, *v.more]) for v in found[: len(said)]) == sorted(said)
    tones = {"better": "better", "worse": "worse", "cannot tell": "unclear", "same": "same"}
    by_pair = {verdict.about: verdict for verdict in found}
    for c in subject.comparison.of(subject.comparison.primary):
        verdict = by_pair[f"{c.run} against {c.baseline}"]
        assert verdict.tone == tones.get(c.verdict, "plain")
        largest = np.sort(np.abs(c.paired.gains))[::-1][: len(verdict.queries)]
        by_id = dict(
            zip(
                (q for q, k in zip(c.measured.query_ids, c.paired.inside.tolist(), strict=True) if k),
                c.paired.gains,
                strict=True,
            )
        )
        assert [abs(by_id[q]) for q, _ in verdict.queries] == largest.tolist()
        assert all(words.startswith(c.run) for _, words in verdict.queries)


def test_many_runs_are_counted_and_the_best_is_told() -> None:
    subject = SUBJECTS["forty"]()
    total, best, group, *_, left = verdicts(subject)
    assert total.text.startswith("Of 39 runs compared with run00 on AP:")
    assert len(total.queries) == 6
    leader = max(subject.lead.systems, key=subject.lead.mean)
    assert best.about == f"{leader} against run00"
    assert group.text.startswith(f"{leader} is best on AP")
    assert subject.comparison is not None
    unclear = sum(c.verdict == "cannot tell" for c in subject.comparison.contrasts)
    assert left.text.startswith(f"{unclear} of 39 comparisons on AP cannot be told; nearest to it is")
    assert left.tone == "unclear"


def test_where_less_is_better_words_say_so() -> None:
    base = dict.fromkeys(QRELS, 3.0)
    other = {q: 3.0 - i / 10 for i, q in enumerate(QRELS)}
    (found,) = verdicts(compared({"a": base, "b": other}, metrics="CoverageError"))
    assert found.tone == "better"
    assert found.queries[0] == ("q23", "b -2.300 (better)")


def test_one_run_says_what_it_scores_and_what_it_loses() -> None:
    run = ranked((1, 2, 4, 1, 1, 1, 1, 1))
    scores, lost = verdicts(scored({f"q{i}": {"good": 1} for i in range(8)}, run, "RR"))
    mean = (6 + 1 / 2 + 1 / 4) / 8
    assert scores.text.startswith(f"run scores {mean:.3f} on RR (95% interval")
    assert f"loses {1 - mean:.3f} of RR" in lost.text
    assert "because relevant documents stand too low" in lost.text
    assert [q for q, _ in lost.queries] == ["q2", "q1"]
    assert lost.queries[0][1].startswith("0.250, loses 0.750: ")


# --- scoreboard and health -----------------------------------------------------------------------


def test_the_scoreboard_holds_the_means_and_marks_the_best() -> None:
    subject = SUBJECTS["gaps"]()
    section = board.section(subject)
    found, field = tables(section), subject.lead
    values = found["scoreboard"]
    order = [str(row[0]) for row in values.rows]
    assert order == sorted(field.systems, key=lambda s: -field.mean(s))
    for i, (name, cell) in enumerate(values.rows):
        bounds = field.interval(str(name))
        assert cell == Ranged(field.mean(str(name)), bounds.lower, bounds.upper)
        assert ((i, 1) in values.best) == (i == 0)
    marked = found["against-baseline"]
    marks = dict(zip(column(marked, "run"), column(marked, marked.columns[1].header), strict=True))
    assert subject.comparison is not None
    for c in subject.comparison.contrasts:
        mark = {"better": " *", "worse": " †"}.get(c.verdict, "")
        assert marks[c.run] == f"{c.difference:+.3f}{mark}"
    assert "Holm" in found["against-baseline"].note


def test_a_heading_tells_what_the_metric_is() -> None:
    subject = SUBJECTS["runs"]()
    (values, marks) = (tables(board.section(subject))[name] for name in ("scoreboard", "against-baseline"))
    for table in (values, marks):
        hint = {c.header: c.hint for c in table.columns}["nDCG@10"]
        assert hint.startswith("nDCG@10: ")
        assert "linear gain" in hint
        assert "higher is better" in hint
    assert (
        "scores as they were given"
        in tables(board.section(SUBJECTS["unknown metric"]()))["scoreboard"].columns[1].hint
    )


def test_values_that_have_no_interval_stay_numbers() -> None:
    subject = SUBJECTS["one run, pooled"]()
    row = tables(board.section(subject))["scoreboard"].rows[0]
    assert subject.scores is not None
    assert row[1] == subject.scores["AUC(pooled=True)"]
    assert row[2] == subject.scores["NumRelRet"]
    assert isinstance(row[3], Ranged)
    assert row[3].value == subject.scores["GMAP"]


def test_all_pairs_tell_the_discriminative_power() -> None:
    subject = SUBJECTS["all pairs"]()
    section = board.section(subject)
    assert "against-baseline" not in tables(section)
    assert subject.comparison is not None
    clear = sum(c.verdict in {"better", "worse"} for c in subject.comparison.contrasts)
    said = [b.text for b in section.blocks if isinstance(b, Paragraph)]
    assert f"Pairs told apart with these queries (discriminative power): AP {clear / 10:.0%}." in said


def test_health_keeps_what_is_odd_and_folds_the_rest() -> None:
    missing = {q: docs for q, docs in ranked_run(2).items() if q != "q03"} | {"extra": {"d": 1.0}}
    section = data_health.section(compared(QRELS, {"x": ranked_run(1), "y": missing}, "P@5"))
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
