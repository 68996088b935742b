"""The paragraph for a paper: everything that changes a number is in it, and nothing that did not happen."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.reporting.made_subjects import scored, subject, world

import rankscope as rs
from rankscope.blocks import Code, Paragraph
from rankscope.metrics import CATALOGUE, description, parse
from rankscope.reporting.sections import reproduce as paper
from rankscope.reporting.subject import Subject
from rankscope.scoring.methods import bibliography, in_brackets, read, sources_of

QRELS = {f"q{i:02}": {"a": 2.0, "b": 1.0} for i in range(12)}
RUNS = {
    "low": {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in QRELS},
    "high": {query: {"a": 3.0, "b": 2.0, "x": 1.0 + 3 * (i % 3 == 0)} for i, query in enumerate(QRELS)},
    "best": {query: {"a": 3.0, "b": 2.0, "x": 1.0 + 3 * (i % 4 == 0)} for i, query in enumerate(QRELS)},
}
TWO = {name: RUNS[name] for name in ("low", "high")}


def said(found: Subject[Any]) -> str:
    (paragraph,) = (block.text for block in paper.paper_blocks(found) if isinstance(block, Paragraph))
    return paragraph


def entries(found: Subject[Any]) -> str:
    (code,) = (block for block in paper.paper_blocks(found) if isinstance(block, Code))
    return "\n".join(code.lines)


def test_runs_metrics_test_and_correction_are_named_and_cited() -> None:
    text = said(subject(QRELS, RUNS, ["nDCG@10", "AP"], primary="AP"))
    start = f"3 runs were scored on 12 queries with rankscope {rs.__version__}, by AP (trec_eval map); nDCG@10 (linear gain; "
    assert text.startswith(start)
    assert "ideal of all judged documents, cut at k; Järvelin and Kekäläinen, 2002; trec_eval ndcg_cut_10)" in text
    assert "A document is relevant from grade 1 on." in text
    assert (
        "Every run was compared with low by a paired t test, two-sided (Student, 1908; Smucker, Allan and Carterette, 2007)."
        in text
    )
    assert "at the level at which Holm's correction tests each comparison (95% for one comparison)" in text
    assert "by Holm's correction (Holm, 1979), at alpha = 0.05." in text
    assert "Intervals of means are 95% t intervals" in text
    assert "AP was declared as the primary metric." in text
    assert "sign-flip" not in text
    assert "seed" not in text


def test_results_state_their_method() -> None:
    scores, found = rs.evaluate(QRELS, RUNS["low"], "AP"), rs.compare(QRELS, TWO, "AP")
    assert scores.methods.startswith(
        f"1 run was scored on 12 queries with rankscope {rs.__version__}, by AP (trec_eval map)."
    )
    assert "compared" not in scores.methods
    assert "Every run was compared with low by a paired t test" in found.methods
    text, sources = rs.methods(found).split("\n\n")
    assert text == said(Subject(found))
    assert sources.startswith("@software{rankscope,")


def test_one_comparison_is_not_corrected() -> None:
    text = said(subject(QRELS, TWO, ["nDCG@10"]))
    assert "There was one comparison, so no p-value needed correction, and alpha = 0.05." in text
    assert "Intervals of differences are 95% t intervals" in text
    assert "Holm" not in text + entries(subject(QRELS, TWO, ["nDCG@10"]))


def test_one_run_is_compared_with_nothing() -> None:
    text = said(scored(QRELS, {"low": RUNS["low"]}, "AP"))
    assert text.startswith("1 run was scored on")
    assert "compared" not in text


def test_few_differing_queries_are_told_only_where_there_are_such() -> None:
    same = RUNS["low"] | {query: RUNS["high"][query] for query in ["q01", "q02"]}
    assert ", or if fewer than 6 queries differed, by the exact sign-flip test." in said(
        subject(QRELS, {"low": RUNS["low"], "same": same}, "AP")
    )


def test_a_joint_correction_gives_the_intervals() -> None:
    text = said(subject(QRELS, RUNS, "nDCG@10", correction="max_t(rounds=999)"))
    assert "simultaneous 95% intervals by the max-t correction of Westfall and Young" in text
    assert "(rounds=999, seed=0; Westfall and Young, 1993)" in text or "(rounds=999; Westfall and Young, 1993)" in text
    assert "Random numbers start from seed 0." in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mean": "micro"}, "Means are micro means"),
        ({"weights": dict.fromkeys(QRELS, 1.0) | {"q00": 3.0}}, "Queries were weighted."),
        ({"no_relevant": "skip"}, "Queries without a relevant document were left out."),
        ({"no_relevant": 1}, "Queries without a relevant document score 1."),
        ({"nothing_found": "skip_list"}, "Queries with nothing relevant in the whole list were left out."),
        ({"depth": 2}, "Rankings were cut after 2 documents."),
        ({"margin": 0.01}, "two one-sided t tests (Schuirmann, 1987), with the margin 0.01."),
        ({"margin": {"AP": 0.01}}, "with the margin 0.01 (AP)."),
        ({"systems": {"high": "new", "best": "new"}}, "averaged query by query: new of 2 runs."),
        (
            {"clusters": {q: i // 3 for i, q in enumerate(QRELS)}},
            "Queries come in 4 clusters, and intervals and tests are of the sums",
        ),
        ({"dialect": "ranx"}, "All values are computed by the conventions of ranx"),
        ({"tried": 40}, "40 systems were tried on these judgments."),
        ({"correction": "none"}, "P-values were not corrected, and alpha = 0.05."),
        ({"correction": "bh"}, "the correction of Benjamini and Hochberg"),
        ({"test": "permutation(rounds=999)", "seed": 3}, "seed 3."),
        ({"interval": "bca(rounds=4999)"}, "BCa bootstrap intervals (rounds=4999"),
        ({"ties": "expected"}, "Equal scores: the mean over all orders of equal scores."),
        ({"bayes": True}, "Chances are of the Bayesian bootstrap (Rubin, 1981)."),
    ],
)
def test_what_changes_numbers_is_told(options: dict[str, Any], words: str) -> None:
    assert words not in said(subject(QRELS, RUNS, "AP"))
    assert words in said(subject(QRELS, RUNS, "AP", **options))


def test_repeated_rows_are_told_where_there_were_such() -> None:
    rows = [(q, d, s) for q, docs in RUNS["low"].items() for d, s in docs.items()]
    for more, words in (([], False), ([("q00", "a", 1.5)], True)):
        table = {"query_id": [], "doc_id": [], "score": []}  # type: dict[str, list[Any]]
        for row in [*rows, *more]:
            for name, value in zip(table, row, strict=True):
                table[name].append(value)
        import polars as pl

        found = scored(QRELS, {"low": pl.DataFrame(table)}, "AP", duplicates="best")
        assert ("the best row counts" in said(found)) is words


def test_scores_of_0_and_1_have_wilsons_interval() -> None:
    text = said(subject(QRELS, RUNS, ["P@1", "nDCG@3"]))
    assert "Wilson's intervals (if all scores are 0 or 1; Wilson, 1927)" in text


# --- sources -----------------------------------------------------------------------------------------------


def test_only_what_was_computed_is_cited() -> None:
    assert sources_of(parse("P@10")) == ["trec_eval P_10"]
    assert sources_of(parse("P(denominator='min_k_relevant')@10")) == ["trec_eval relative_P_10"]
    assert sources_of(parse("P(denominator='min_k_listlen')@10")) == []
    assert not any("Burges" in source for source in sources_of(parse("DCG@10")))
    assert any("Burges" in source for source in sources_of(parse("DCG(gain='exponential')@10")))
    assert in_brackets([]) == ""


def test_sources_part_into_authors_title_and_venue() -> None:
    told = read("Efron, The Jackknife, the Bootstrap and Other Resampling Plans, 1982")
    assert (told.authors, told.title, told.venue) == (
        ("Efron",),
        "The Jackknife, the Bootstrap and Other Resampling Plans",
        "",
    )
    told = read("Moffat, Bailey, Scholer and Thomas, INST, ADCS 2015")
    assert (told.authors[-1], told.title, told.venue, told.short) == ("Thomas", "INST", "ADCS", "Moffat et al., 2015")
    told = read("Chapelle et al., Expected Reciprocal Rank for Graded Relevance, CIKM 2009")
    assert (told.others, told.short) == (True, "Chapelle et al., 2009")
    assert read("ours; an idea").title == ""


@pytest.mark.parametrize("metric", sorted({cls.__name__ for cls in CATALOGUE.values()}))
def test_every_dated_source_makes_a_usable_entry(metric: str) -> None:
    sources = [part.strip() for part in CATALOGUE[metric].source.split(";")]
    usable(list(bibliography(sources)))


def usable(lines: list[str]) -> None:
    """Every entry has a title, and all but rankscope a year; keys are plain and no two alike; braces pair."""
    text = "\n".join(lines)
    made = re.findall(r"@(\w+)\{([^,]+),\n(.*?)\n\}", text, flags=re.DOTALL)
    assert len(made) == text.count("@")
    assert len({key for _, key, _ in made}) == len(made)
    assert all(key.isascii() for _, key, _ in made)
    assert all("  title = {" in body for _, _, body in made)
    assert all("  year = {" in body for _, key, body in made if key != "rankscope")
    assert text.count("{") == text.count("}")


def test_entries_are_whole() -> None:
    text = entries(subject(QRELS, RUNS, ["nDCG@10", "ERR@10", "RBP"]))
    usable(text.splitlines())
    assert (
        "@article{student1908,\n  author = {Student},\n  title = {{The probable error of a mean}},\n  journal = {Biometrika},"
        in text
    )
    assert "@inproceedings{chapelle2009,\n  author = {Chapelle and others}," in text
    assert text.count("student1908") == 1
    assert "clusters" not in text


def test_what_does_not_part_is_a_title_and_odd_signs_are_escaped() -> None:
    lines = list(bibliography(["A note of 50% & more {x} 2011", "Doe, A, 2011", "Doe, B, 2011"]))
    usable(lines)
    assert "  title = {{A note of 50\\% \\& more \\{x\\} 2011}}," in lines
    assert {"@misc{doe2011,", "@misc{doe2011b,"} <= set(lines)


def test_parameters_of_its_own_are_told_before_the_convention() -> None:
    for name in ("nDCG@10", "P@5", "AP", "IPrec@0.5"):
        assert description.convention_of(parse(name)) == parse(name).convention
    assert description.stated_parameters(parse("nDCG(ideal='retrieved_topk', gain='binary')@5")) == [
        "gain 1 from grade 1 on",
        "discount 1/log2(rank + 1)",
        "ideal of the documents retrieved in the top k",
    ]
    assert description.convention_of(parse("P(level=2)@5")).startswith(
        "here: relevant from grade 2 on. Usually: divides"
    )
    qrels, runs = world()
    assert "from grade 2 on for P(level=2)@5" in said(subject(qrels, runs, ["AP", "P(level=2)@5"]))


def test_the_entry_of_rankscope_has_an_author_and_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    from email.message import Message
    from importlib.metadata import PackageNotFoundError

    from rankscope.scoring import methods as citations

    stated = Message()
    for address in ("Changelog, https://example.org/r/changes", "Homepage, https://example.org/r"):
        stated["Project-URL"] = address
    monkeypatch.setattr(citations, "metadata", lambda name: stated)
    lines = list(bibliography([]))
    assert lines[0] == "@software{rankscope,"
    assert "  author = {{The rankscope developers}}," in lines
    assert "  url = {https://example.org/r}," in lines

    def absent(name: str) -> Message:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(citations, "metadata", absent)
    assert not any("url" in line for line in bibliography([]))
