"""Worked examples of helpers, by module."""

from __future__ import annotations

import numpy as np
import polars as pl


def test_words_number() -> None:
    from rankscope.words import number

    assert (number(0.0214), number(0.00042), number(-0.5, sign=True), number(1234.5), number(-2e-17, sign=True)) == (
        "0.021",
        "0.00042",
        "−0.500",
        "1,234.500",
        "0.000",
    )
    assert (number(0.0214, digits=4), number(-0.00001, digits=4), number(float("nan")), number(float("-inf"))) == (
        "0.0214",
        "0.0000",
        "-",
        "−∞",
    )
    assert number(1e149) == "1e+149"


def test_words_decimals_for() -> None:
    from rankscope.words import decimals_for

    assert [decimals_for(size) for size in (0.0028, 0.28, 2.8, 28, 280, 0)] == [4, 2, 1, 1, 0, 3]


def test_words_interval() -> None:
    from rankscope.words import interval

    assert (interval(-0.0123, 0.25), interval(-0.0123, 0.25, between=", ")) == ("−0.012 to 0.250", "−0.012, 0.250")
    assert (interval(0.004, 0.25, digits=2), interval(0.004, 0.25, digits=2, apart=(0.0,))) == (
        "0.00 to 0.25",
        "0.004 to 0.250",
    )


def test_words_amount() -> None:
    from rankscope.words import amount

    assert (amount(45.0), amount(1250), amount(1250.25), amount(0.01234), amount(2.5), amount(-1)) == (
        "45",
        "1,250",
        "1,250.2",
        "0.01234",
        "2.5",
        "−1",
    )


def test_words_cell() -> None:
    from rankscope.words import cell

    assert (cell(0.51234), cell(-0.5, sign=True), cell(0.5, 2, sign=True), cell(-0.00001), cell(float("nan"))) == (
        "0.5123",
        "-0.5000",
        "+0.50",
        "0.0000",
        "-",
    )


def test_words_in_table() -> None:
    from rankscope.words import in_table, interval

    assert in_table(interval(-0.012, 0.25, between=", ")) == "-0.012, 0.250"


def test_words_p_value() -> None:
    from rankscope.words import p_value

    assert (p_value(0.01234), p_value(0.00001), p_value(0.25), p_value(float("nan"))) == (
        "p = 0.012",
        "p < 0.001",
        "p = 0.25",
        "no p-value",
    )


def test_words_p_cell() -> None:
    from rankscope.words import p_cell

    assert (p_cell(0.01234), p_cell(0.00001), p_cell(0.25), p_cell(float("nan"))) == ("0.012", "<.001", "0.25", "-")


def test_words_percent() -> None:
    from rankscope.words import percent

    assert (percent(0.95), percent(0.999), percent(1 - 1e-5)) == ("95%", "99.9%", "99.999%")


def test_words_share() -> None:
    from rankscope.words import share

    assert (share(0.567), share(0.567, 1), share(0.0), share(0.001), share(0.9997), share(1.0), share(0.0001, 1)) == (
        "57%",
        "56.7%",
        "0%",
        "<1%",
        ">99%",
        "100%",
        "<0.1%",
    )


def test_words_relative() -> None:
    from rankscope.words import relative

    assert (relative(0.13), relative(-0.0421)) == ("+13.0%", "−4.2%")


def test_words_day() -> None:
    from rankscope.words import day

    assert (day(0), day(19727)) == ("1970-01-01", "2024-01-05")


def test_words_day_number() -> None:
    from datetime import date

    from rankscope.words import day_number

    assert day_number(date(2024, 1, 5)) == 19727


def test_words_factor() -> None:
    from rankscope.words import factor

    assert (factor(9.0), factor(5.61), factor(1234.5), factor(0.0123)) == ("9x", "5.6x", "1,234x", "0.012x")


def test_words_finite() -> None:
    from rankscope.words import finite

    assert (finite(0.5), finite(float("nan")), finite(float("inf")), finite(None), finite("bm25")) == (
        0.5,
        None,
        None,
        None,
        "bm25",
    )


def test_words_count() -> None:
    from rankscope.words import count

    assert (count(7), count(8691), count(1204.0)) == ("7", "8,691", "1,204")


def test_words_counted() -> None:
    from rankscope.words import counted

    assert (
        counted(1, "query"),
        counted(8691, "query"),
        counted(0, "document"),
        counted(2, "score is", "scores are"),
    ) == ("1 query", "8,691 queries", "0 documents", "2 scores are")


def test_words_plural() -> None:
    from rankscope.words import plural

    assert (plural("query"), plural("judged query"), plural("run"), plural("key"), plural("class")) == (
        "queries",
        "judged queries",
        "runs",
        "keys",
        "classes",
    )


def test_words_agree() -> None:
    from rankscope.words import agree

    assert (agree(1, "differs"), agree(2, "differs"), agree(0, "is"), agree(3, "carries"), agree(2, "has")) == (
        "differs",
        "differ",
        "are",
        "carry",
        "have",
    )


def test_words_rounded() -> None:
    from rankscope.words import rounded

    assert (rounded(113), rounded(47), rounded(12345), rounded(12345, up=True)) == ("110", "47", "12,000", "13,000")


def test_words_listing() -> None:
    from rankscope.words import listing

    assert (
        listing(["AP"]),
        listing(["AP", "RR", "P@10"]),
        listing(["AP", "RR"], last="or"),
        listing("abcde", most=3),
    ) == ("AP", "AP, RR and P@10", "AP or RR", "a, b, c and 2 more")


def test_words_sample() -> None:
    from rankscope.words import sample

    assert (sample(["17", "21"]), sample(["17", "21", "40", "41"]), sample(["17"], 9, most=1), sample([])) == (
        "17, 21",
        "17, 21, 40 ...",
        "17 ...",
        "none",
    )


def test_words_choices() -> None:
    from rankscope.words import choices

    assert choices(["rank", "docid", None]) == "'rank', 'docid', None"


def test_words_short() -> None:
    from rankscope.words import short

    assert (short("bm25"), short("bm25-with-expansion", 8)) == ("bm25", "bm25-wi…")


def test_words_quote() -> None:
    from rankscope.words import quote

    assert (quote("301 Q0"), quote("coronavirus", 6)) == ("'301 Q0'", "'coron…'")


def test_words_nearest() -> None:
    from rankscope.words import nearest

    assert (nearest("BM52", ["bm25", "dense"]), nearest("sparse", ["bm25"])) == ("bm25", None)


def test_words_hint() -> None:
    from rankscope.words import hint

    assert (hint("bm52", ["bm25", "dense"]), hint("sparse", ["bm25", "dense"]), hint("sparse", [])) == (
        ", did you mean bm25?",
        ": there are bm25 and dense",
        "",
    )


def test_words_is_number() -> None:
    from rankscope.words import is_number

    assert (is_number("1e3"), is_number("1_000")) == (True, False)


def test_words_as_share() -> None:
    from rankscope.words import as_share

    assert (as_share("2%"), as_share(0.02), as_share("two")) == ((0.02, True), (0.02, False), None)


def test_words_plain_name() -> None:
    from rankscope.words import plain_name

    assert plain_name("userId") == plain_name("user_id") == plain_name(" USER-ID")


def test_moments_Moments() -> None:
    from rankscope.moments import Moments

    whole = Moments.of([1.0, 2.0, 3.0, 6.0])
    parts = Moments.of([1.0, 2.0]) + Moments.of([3.0, 6.0])
    assert (parts.count, parts.mean.tolist(), parts.variance.tolist() == whole.variance.tolist()) == (4, [3.0], True)


def test_moments_ExactSum() -> None:
    from rankscope.moments import ExactSum

    assert ExactSum.of([0.1, 1e300]) + ExactSum.of([0.2, -1e300]) == ExactSum.of([0.2, 0.1])
    assert (ExactSum.of([0.1] * 5) + ExactSum.of([0.1] * 5)).value == 1.0


def test_moments_of_set() -> None:
    from rankscope.moments import Moments

    one, other = (
        Moments.of_set([[0.1, 1.0], [0.7, 2.0], [0.2, 1.0]]),
        Moments.of_set([[0.7, 2.0], [0.2, 1.0], [0.1, 1.0]]),
    )
    assert one.mean.tolist() == other.mean.tolist()
    assert one.products.tolist() == other.products.tolist()


def test_moments_of_sums() -> None:
    from rankscope.moments import Moments

    assert Moments.of_sums(3, [6.0], [[14.0]]).variance.tolist() == [1.0]  # of 1, 2, 3


def test_moments_combine() -> None:
    from rankscope.moments import Moments

    assert Moments.of([[1.0, 0.0], [3.0, 1.0]]).combine([1, -1]) == (1.5, 0.5)  # of the differences 1 and 2


def test_moments_variance_of() -> None:
    from rankscope.moments import Moments

    assert Moments.of([[0.3, 0.1], [0.6, 0.2], [2.1, 0.7]]).variance_of(np.array([1.0, -3.0])) == 0.0


def test_blocks_note() -> None:
    from rankscope.blocks import ValueRange

    assert ValueRange.note([ValueRange(0.5, 0.4, 0.6)], "the 95% interval") == "± is half of the 95% interval"
    assert (
        ValueRange.note([ValueRange(0.5, 0.4, 0.6), ValueRange(0.9, 0.7, 1.0)], "the 95% interval")
        == "± is half of the 95% interval, - and + its two sides if they differ"
    )
    assert (
        ValueRange.note([ValueRange(0.9, 0.7, 1.0)], "the 95% interval"),
        ValueRange.note([], "the 95% interval"),
    ) == ("- and + are the two sides of the 95% interval", "")


def test_cli_process_with_options() -> None:
    from rankscope.cli.process import with_options

    assert (
        with_options("level=2: a level is a number", {"level": "--level"}),
        with_options("no P(level=2)", {"level": "--level"}),
    ) == ("--level 2: a level is a number", "no P(level=2)")


def test_cli_runner_number_runs() -> None:
    from rankscope.cli.runner import number_runs

    assert number_runs([("a", "1.run"), ("a", "2.run"), (None, "b.run")]) == (
        [("a#1", "1.run"), ("a#2", "2.run"), (None, "b.run")],
        {"a#1": "a", "a#2": "a"},
    )


def test_click_models_bias_all_pairs() -> None:
    from rankscope.click_models.bias import all_pairs

    assert all_pairs(np.array([[0.0, 10.0], [5.0, 0.0]]), np.array([[0.0, 10.0], [15.0, 0.0]])).round(6).tolist() == [
        1.0,
        0.5,
    ]


def test_declared_doc_of() -> None:
    from rankscope.declared import Lookup, doc_of

    assert doc_of(Lookup).partition(":")[0] == "A small function written out"


def test_declared_split_spellings() -> None:
    from rankscope.declared import split_spellings

    assert split_spellings("nDCG@5,10 RR, P(level=2)@10") == ["nDCG@5,10", "RR", "P(level=2)@10"]


def test_diagnostics_codes_codes_of() -> None:
    from rankscope.diagnostics.codes import codes_of

    assert (codes_of("rs203,MissingQueries"), codes_of(["RS50"])) == (
        ["RS203", "RS101"],
        ["RS501", "RS502", "RS503", "RS504", "RS505", "RS506", "RS507", "RS508"],
    )


def test_diagnostics_codes_rule_named() -> None:
    from rankscope.diagnostics.codes import rule_named

    assert rule_named("missingqueries").code == "RS101"


def test_diagnostics_rule_changes() -> None:
    from rankscope.diagnostics.rule import changes

    assert changes({"nDCG@10": -0.019, "RR": 0.0, "AP": -0.004}) == "−0.019 nDCG@10, −0.004 AP"


def test_engines_orders_order_within() -> None:
    import numpy as np

    from rankscope.engines.orders import order_within

    assert order_within(np.array([1, 0, 0, 1]), np.array([0.5, 2.0, 1.0, 0.5])).tolist() == [2, 1, 0, 3]


def test_engines_orders_number_texts() -> None:
    import numpy as np

    from rankscope.engines.orders import number_texts

    row, number = number_texts(np.array([1, 0, 1, 0]), pl.Series(["b", "a", "b", "c"]))
    assert (row.tolist(), number.tolist()) == ([1, 3, 0], [2, 0, 2, 1])


def test_engines_pairs_without() -> None:
    from rankscope.engines.pairs import without

    rows = pl.DataFrame({"query_id": ["q1", "q1"], "doc_id": ["a", "b"]})
    assert without(rows, rows[:1]).rows() == [("q1", "b")]


def test_engines_pairs_literal() -> None:
    from rankscope.engines.pairs import literal

    assert literal("d#1.txt") == "d#1\\.txt"


def test_engines_top_top() -> None:
    from rankscope.engines.base import Order
    from rankscope.engines.top import top

    assert top({"q1": {"a": 1.0, "b": 3.0, "c": 3.0}}, Order("trec"), 2).rows() == [("q1", "c", 1), ("q1", "b", 2)]


def test_metrics_description_unfit_for() -> None:
    from rankscope.metrics import parse
    from rankscope.metrics.description import unfit_for

    assert (
        unfit_for(parse("Success@5"))
        == "distinguishing grades; the order of the documents; queries that want several documents"
    )


def test_metrics_description_convention_of() -> None:
    from rankscope.metrics import parse
    from rankscope.metrics.description import convention_of

    assert (
        convention_of(parse("P@10"))
        == "divides by k even if fewer documents were returned. denominator='min_k_listlen' does not"
    )
    assert (
        convention_of(parse("DCG(gain='exponential')@10"))[:55]
        == "here: gain 2^grade - 1. Usually: linear gain and 1/log2"
    )


def test_metrics_description_stated_parameters() -> None:
    from rankscope.metrics import parse
    from rankscope.metrics.description import stated_parameters

    assert stated_parameters(parse("nDCG@10")) == [
        "linear gain",
        "discount 1/log2(rank + 1)",
        "ideal of all judged documents, cut at k",
    ]
    assert stated_parameters(parse("AP")) == []


def test_metrics_description_relevance_levels() -> None:
    from rankscope.metrics import parse
    from rankscope.metrics.description import relevance_levels

    assert (
        relevance_levels([parse("P@10"), parse("nDCG@10")]),
        relevance_levels([parse("AP"), parse("P(level=2)@10")]),
    ) == (
        "A document is relevant from grade 1 on.",
        "A document is relevant from grade 1 on for AP, from grade 2 on for P(level=2)@10.",
    )


def test_metrics_exposure_attention() -> None:
    from rankscope.metrics.exposure import attention

    assert attention(np.zeros((1, 3)), "position", 0.8, 1.0).round(3).tolist() == [[1.0, 0.5, 0.333]]


def test_metrics_rank_weights_weights_of() -> None:
    from rankscope.metrics import parse
    from rankscope.metrics.rank_weights import weights_of

    assert weights_of(parse("RR"), 4).tolist() == [1.0, 0.5, 0.3333333333333333, 0.25]


def test_metrics_rank_weights_weights_below_relevant() -> None:
    from rankscope.metrics import parse
    from rankscope.metrics.rank_weights import weights_below_relevant

    assert np.asarray(weights_below_relevant(parse("RR"), 4)).tolist() == [1.0, 0.0, 0.0, 0.0]
    assert weights_below_relevant(parse("DCG")) is None


def test_metrics_rank_weights_chart_of() -> None:
    from rankscope.metrics import parse
    from rankscope.metrics.rank_weights import chart_of

    assert chart_of(parse("RR")).rows[:2] == (("RR", 1, 1.0), ("RR", 2, 0.5))


def test_metrics_sampled_value_by_rank() -> None:
    from rankscope.metrics.base import Metric
    from rankscope.metrics.sampled import value_by_rank

    assert value_by_rank(Metric.read("RR@2"), 3).tolist() == [1.0, 0.5, 0.0]


def test_metrics_sampled_estimates() -> None:
    from rankscope.metrics.sampled import estimates

    assert estimates("R@1", 3, 2, "none", 0.1).tolist() == [1.0, 0.0, 0.0]


def test_metrics_trec_parse_trec() -> None:
    from rankscope.metrics import CATALOGUE
    from rankscope.metrics.trec import parse_trec

    assert repr(parse_trec("ndcg_cut.5,10", CATALOGUE)) == "[nDCG@5, nDCG@10]"


def test_metrics_trec_parse_ranx() -> None:
    from rankscope.metrics import parse

    assert (
        repr((parse("map@100-l2"), parse("rbp.95"), parse("ndcg@10-l3"), parse("precision-l2")))
        == "(AP(level=2)@100, RBP(p=0.95), nDCG(gain={1: 0, 2: 0})@10, SetP(level=2))"
    )


def test_parallel_map_parts() -> None:
    from rankscope.parallel import map_parts

    assert list(map_parts(len, ["one", "three"])) == [3, 5]


def test_scoring_citations_read() -> None:
    from rankscope.scoring.methods import read

    found = read("Zhai, Cohen and Lafferty, Beyond independent relevance, SIGIR 2003")
    assert (found.authors, found.title, found.venue, found.year, found.short) == (
        ("Zhai", "Cohen", "Lafferty"),
        "Beyond independent relevance",
        "SIGIR",
        "2003",
        "Zhai, Cohen and Lafferty, 2003",
    )
    assert (read("Student, Biometrika 6(1), 1908").venue, read("trec_eval ndcg").short) == (
        "Biometrika 6(1)",
        "trec_eval ndcg",
    )


def test_scoring_citations_in_brackets() -> None:
    from rankscope.scoring.methods import in_brackets

    assert in_brackets(["Holm, A simple sequentially rejective multiple test procedure, 1979"]) == " (Holm, 1979)"


def test_scoring_fold_document() -> None:
    from rankscope.scoring.fold import Fold

    assert (Fold("#.*").document("d1#3"), Fold("^(.+)_p[0-9]+$").document("d_7_p12"), Fold("#.*").document("d1")) == (
        "d1",
        "d_7",
        "d1",
    )


def test_scoring_health_looks_like_ratings() -> None:
    from rankscope.scoring.health import looks_like_ratings

    assert (
        looks_like_ratings({1: 4, 2: 9, 3: 9, 4: 9, 5: 4}),
        looks_like_ratings({0: 90, 1: 4, 2: 9, 3: 9, 4: 9, 5: 4}),
    ) == (True, False)


def test_scoring_health_level_of() -> None:
    from rankscope.scoring.health import level_of

    assert (level_of({0: 5, 1: 2, 2: 1}), level_of(dict.fromkeys((1, 2, 3, 4, 5), 9)), level_of({0: 3, 0.5: 1})) == (
        1.0,
        4.0,
        0.5,
    )


def test_scoring_inputs_distinct_names() -> None:
    from rankscope.scoring.inputs import distinct_names

    assert (
        distinct_names(
            [("x", "/a/ql.catb.run.gz", ""), ("x", "/b/ql.catb.run", ""), ("y", "", ""), ("x", "/c/d.1.txt", "")]
        )
    ) == ["ql.catb.run.gz", "ql.catb.run", "y", "d.1"]
    assert distinct_names([("x", "/a/run.gz", ""), ("x", "/b/run.gz", ""), ("x", "", "run3")]) == [
        "a/run",
        "b/run",
        "run3",
    ]


def test_scoring_policies_Policies() -> None:
    from rankscope.scoring.policies import Policies

    assert (Policies(depth=10).depth, Policies().nothing_found) == (10, "metric")


def test_scoring_request_without_facts() -> None:
    from rankscope.scoring.request import _without_facts

    assert _without_facts(["P@5", "relstring.20"]) == (["P@5"], {"relstring_20": 20})


def test_scoring_spread_cumulative() -> None:
    from rankscope.scoring.spread import cumulative

    assert cumulative(np.array([0.5, 0.0, 0.5, 1.0])) == [(0.0, 0.25), (0.5, 0.75), (1.0, 1.0)]


def test_scoring_weights_in_words() -> None:
    from rankscope.scoring.weights import Weights

    assert (
        Weights({"q1": 1.0, "q2": 1.0, "q3": 2.0}, "w.csv").in_words(["q1", "q2", "q3"])
        == "weights of w.csv: 1 to 2, half of the weight on 1 of 3 queries"
    )


def test_sharding_partial_partition_of() -> None:
    from rankscope.sharding.partial import partition_of

    assert partition_of("3/8") == (3, 8)


def test_syntax_in_caller_syntax() -> None:
    from rankscope.words import OPTION_VALUES, in_caller_syntax

    OPTION_VALUES["duplicates"] = ("error", "first", "best")
    assert (
        in_caller_syntax("remove one, or choose --duplicates first or best"),
        in_caller_syntax("rankscope check --list lists all"),
    ) == ('remove one, or choose duplicates="first" or "best"', "rankscope check --list lists all")


def test_syntax_by_caller() -> None:
    from rankscope.words import by_caller

    assert by_caller("next: rankscope check --explain RS101", 'next: rs.rules("RS101")') == 'next: rs.rules("RS101")'


def test_syntax_option_named() -> None:
    from rankscope.words import option_named

    assert option_named("no_relevant") == "no_relevant"


def test_testing_variants_variants() -> None:
    from rankscope.metrics import Success
    from rankscope.testing.variants import variants

    assert repr(variants(Success)[:3]) == "[Success@3, Success@2, Success@1]"


def test_testing_variants_worked_out() -> None:
    from rankscope.testing.variants import worked_out

    assert worked_out("(3 / log2(2) + 2 / log2(4)) / 8") == 0.5


def test_advise_result_fold() -> None:
    from rankscope.verbs.advise.result import fold

    assert fold("rankscope evaluate qrels.txt my.run -m AP") == ["rankscope evaluate qrels.txt my.run -m AP"]
    assert fold(f"rankscope evaluate {'q' * 40} {'r' * 20} -m AP")[1] == "  rrrrrrrrrrrrrrrrrrrr -m AP"


def test_advise_situation_precision_ceiling() -> None:
    from rankscope.verbs.advise.situation import Situation

    assert Situation(2, 4, {1.0: 4}, 1.0, np.array([1, 3]), np.array([0, 0]), []).precision_ceiling(2) == 0.75


def test_advise_tasks_task_called() -> None:
    from rankscope.verbs.advise.tasks import task_called

    assert (task_called("Legal").name, task_called("first_stage").name) == ("recall", "candidates")


def test_agree_measures_tau_ap() -> None:
    from rankscope.verbs.agree.agree import _tau_ap

    assert _tau_ap(np.array([0, 2, 1])) == 0.5


def test_catalogue_catalogue_find_usual() -> None:
    from rankscope.verbs.catalogue.catalogue import find_usual

    assert repr((find_usual("P"), find_usual("RBP(p=0.5)"))) == "(P@10, RBP(p=0.5))"


def test_check_case_against() -> None:
    from rankscope.verbs.check.case import against

    assert against(0.5, 0.4) == "0.5000 vs 0.4000"


def test_check_case_winners() -> None:
    from rankscope.metrics import AP, nDCG
    from rankscope.verbs.check.case import Alternative

    assert (
        Alternative(AP(), nDCG(), {"a": 0.5, "b": 0.1}, {"a": 0.3, "b": 0.6}).winners
        == "a leads on AP (0.5000 vs 0.1000) and b on nDCG (0.6000 vs 0.3000)"
    )


def test_check_check_scale_of() -> None:
    from rankscope.verbs.check.check import scale_of

    assert scale_of("0-3") == (0.0, 3.0)


def test_check_rules_metrics_weight_below() -> None:
    from rankscope.metrics import nDCG
    from rankscope.metrics.rank_weights import weight_below

    assert round(weight_below((nDCG @ 100).discounts(np.arange(1, 101))), 2) == 0.78


def test_compare_charts_slug() -> None:
    from rankscope.verbs.compare.charts import slug

    assert slug("BM25 (tuned).run") == "bm25-tuned-run"


def test_compare_paper_letter() -> None:
    from rankscope.verbs.compare.tables import _letter

    assert (_letter(0), _letter(25), _letter(26), _letter(52)) == ("a", "z", "aa", "ba")


def test_contexts_evidence_normalise() -> None:
    from rankscope.verbs.contexts.evidence import normalise

    assert normalise("The  Eiffel Tower, (1889)!") == "eiffel tower 1889"


def test_contexts_evidence_alike() -> None:
    from rankscope.verbs.contexts.evidence import alike

    assert alike("kitten", "sitting") == 0.5714285714285714


def test_contexts_evidence_repeated() -> None:
    from rankscope.verbs.contexts.evidence import repeated

    assert repeated([" a b c d ", " b c d "]) == 0.3333333333333333


def test_diagnose_losses_kind_of() -> None:
    from rankscope.verbs.diagnose.losses import KINDS, QueryFacts, kind_of

    one = np.array([1])
    facts = QueryFacts(10, 2 * one, one, one, 4 * one, 10 * one, 10 * one, 6 * one, np.array([0.5]))
    assert [KINDS[number].name for number in kind_of(facts)] == ["low in the top"]


def test_diagnose_losses_typical() -> None:
    from rankscope.verbs.diagnose.losses import typical

    assert typical(np.array([1, 2, 0, 4])) == (
        2.2857142857142856,
        2.0,
    )  # 4 / (1 + 1/2 + 0 + 1/4), and the second of 1, 2, 4, never


def test_unjudged_search_ways() -> None:
    from rankscope.verbs.unjudged.search import ways

    assert ways(2, (0.0, 1.0), 100, ordered=True)[0].tolist() == [
        [0.0, 0.0],
        [0.0, 1.0],
        [1.0, 1.0],
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 1.0],
    ]


def test_unjudged_search_alone() -> None:
    from rankscope.metrics import DCG, P, nDCG
    from rankscope.verbs.unjudged.search import alone

    assert (alone(P @ 5, 1.0), alone(DCG @ 5, 2.0), alone(nDCG @ 5, 2.0)) == (True, True, False)


def test_unjudged_unjudged_top_grade() -> None:
    from rankscope.metrics import ERR, RBP, P
    from rankscope.verbs.unjudged.unjudged import top_grade

    assert ([top_grade(m, 2.0) for m in (P @ 5, ERR @ 5, RBP(max_grade=3))], top_grade(P(level=2) @ 5, 1.0)) == (
        [2.0, 2.0, 3.0],
        2.0,
    )


def test_show_result_blocks_in_caller_syntax() -> None:
    from rankscope.blocks import EMPTY, Paragraph
    from rankscope.show.result import blocks_in_caller_syntax

    blocks = blocks_in_caller_syntax([Paragraph("9 more rows: --details shows all"), EMPTY])
    assert [block.text for block in blocks] == ["9 more rows: details=True shows all", ""]


def test_show_result_at_a_glance() -> None:
    from rankscope.blocks import Column, Heading, Paragraph, Table
    from rankscope.show.result import at_a_glance

    one, two = Table((Column("a"),), (("1",),)), Table((Column("b"),), (("2",),))
    blocks = at_a_glance([Paragraph("said"), one, Heading("more"), two], [])
    more = "1 more table: print() shows it, and report() makes a page of all."
    assert [getattr(block, "text", block) for block in blocks] == ["said", one, more]
