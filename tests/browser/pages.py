"""Pages that the tests of the page open: one with every kind of block, one with what could break it."""

from __future__ import annotations

import math

from rankscope.blocks import (
    Block,
    Chart,
    Code,
    Column,
    Document,
    Explorer,
    Facts,
    Heading,
    Note,
    Notes,
    Page,
    Paragraph,
    Query,
    Section,
    Table,
    ValueRange,
    Verdict,
)  # fmt: skip

RUNS = ("bm25", "dense", "hybrid")
METRICS = ("nDCG@10", "AP")
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


def values(run: int, query: int) -> float:
    """A value for a run and a query, the same each time, spread over 0 to 1."""
    return round(math.sqrt(abs(math.sin(1.0 + 3.7 * query + 0.35 * run)) ** 3), 6)


def explorer(queries: int, name: str = "q") -> Explorer:
    """Rankings of a few documents over these queries."""
    return Explorer(
        RUNS[:2],
        METRICS,
        "higher",
        tuple(
            Query(
                f"{name}{i}",
                f"what is {name}{i}",
                tuple((values(r, i), values(r, i + 7)) for r in range(2)),
                tuple(
                    Document(f"d{i}-{j}", float(j % 3), (j + 1, 3 - j), (0.1 * j, 0.1), f"text {j}") for j in range(3)
                ),
                (3, 3),
                ((0.0, 1), (1.0, 1), (2.0, 1)),
                ((), ()),
                (0.0, 0.0),
                (0, 0),
            )
            for i in range(queries)
        ),
        10,
        10,
        1.0,
        2.0,
    )


def board(title: str = "") -> Table:
    """A scoreboard with intervals, a best value and definitions."""
    columns = (
        Column("run"),
        Column("nDCG@10", "value", hint="What the first 10 documents gain, each discounted by its rank, out of the best there could be."),
        Column("AP", "value", hint="The mean of the precisions at the ranks of the relevant documents."),
        Column("R@100", "value"),
        Column("wins", "count", hint="Queries on which the run is better than bm25."),
    )  # fmt: skip
    rows = (
        ("bm25", ValueRange(0.51234567890123, 0.4513, 0.5733), ValueRange(0.3312, 0.2904, 0.372), 0.7011, None),
        ("dense", ValueRange(0.4722, 0.4102, 0.5342), ValueRange(0.3104, 0.2701, 0.3507), 0.6904, 1204),
        ("hybrid", ValueRange(0.1 + 0.2, 0.25, 0.5), ValueRange(0.3812, 0.3397, 0.4227), 0.7512, 2101),
    )
    return Table(
        columns, rows, best=frozenset({(0, 1), (2, 2), (2, 3)}), name="scoreboard", title=title,
        note="±: 95% interval by the bias-corrected bootstrap. Bold and marked: the best of its column.",
    )  # fmt: skip


def per_query(queries: int, name: str = "q") -> Table:
    """A row a query."""
    columns = (
        Column("query", queries=True),
        Column("text", wraps=True),
        Column("bm25", "value"),
        Column("hybrid", "value"),
    )
    rows = tuple(
        (f"{name}{i}", f"what is known about the {name} of number {i}", values(0, i), values(1, i))
        for i in range(queries)
    )
    return Table(columns, rows, name="per-query", title="Each query")  # fmt: skip


def charts(queries: int = 30, name: str = "q") -> tuple[Chart, ...]:
    """A chart of each form."""
    pairs = tuple((f"{name}{i}", values(0, i), values(1, i)) for i in range(queries))
    ordered = sorted(pairs, key=lambda p: p[1] - p[2])
    says = [(i + 1, b - a, "better" if b > a else "worse", q) for i, (q, a, b) in enumerate(ordered)]
    forest = tuple(
        (r, ValueRange(0.01 * i, 0.01 * i - 0.02, 0.01 * i + 0.03), "nDCG@10") for i, r in enumerate(RUNS, 1)
    )
    by_k = tuple((k, 0.3 + 0.05 * r + k / 100, run) for r, run in enumerate(RUNS) for k in (1, 5, 10, 20))
    heat = tuple((f"{name}{i}", run, values(r, i)) for i in range(8) for r, run in enumerate(RUNS))
    wins = tuple(
        (run, n + r, kind) for r, run in enumerate(RUNS) for n, kind in ((20, "better"), (9, "worse"), (1, "same"))
    )
    run, metric = Column("run"), Column("metric")
    value = Column("difference", "value")
    return (
        Chart("forest", "Differences and their intervals", "intervals", (run, value, metric), forest, x="difference", y="run",
              guide="zero", caption="Where an interval crosses 0, the data cannot tell the two apart."),
        Chart("waterfall", "Each query, by its difference", "ordered",
              (Column("place", "count"), value, Column("which"), Column("query")), tuple(says), x="place", y="difference",
              series="which", query="query", guide="zero", caption="One bar a query, from the largest loss to the largest gain."),
        Chart("scatter", "Query by query", "points", (Column("query"), Column("bm25", "value"), Column("hybrid", "value")), pairs,
              x="bm25", y="hybrid", query="query", guide="equal", limits=(0, 1), caption="Above the line hybrid is better."),
        Chart("cutoffs", "nDCG by cutoff", "lines", (Column("cutoff", "count"), Column("nDCG", "value"), run), by_k, x="cutoff",
              y="nDCG", series="run", caption="Compare runs at one cutoff, never one run at two."),
        Chart("heat", "Runs and queries", "heat", (Column("query"), run, Column("nDCG@10", "value")), heat, x="query", y="run",
              colour="nDCG@10", limits=(0, 1)),
        Chart("wins", "Queries won and lost", "stacked", (run, Column("queries", "count"), Column("which")), wins, x="queries",
              y="run", series="which"),
    )  # fmt: skip


def page(queries: int = 45, drawn: bool = True, explored: bool = True) -> Page:
    """A page with every kind of block."""
    verdicts = (
        Verdict("hybrid beats bm25 on nDCG@10 by 0.0213 (95% interval 0.0041 to 0.0385, p = 0.012, 45 queries: 24 better, 18 worse, 3 the same).",
                "better", "hybrid against bm25", (("q7", "gains 0.4100"), ("q12", "loses 0.2200"))),
        Verdict("dense cannot be told from bm25 on nDCG@10: the interval reaches from -0.0301 to 0.0210.", "unclear", "dense against bm25"),
        Verdict("On R@100 dense is worse by 0.0107.", "worse", "dense against bm25"),
        Verdict("On AP both are the same.", "same", "dense against bm25"),
    )  # fmt: skip
    health: tuple[Block, ...] = (
        Facts((("queries", "45 judged, 45 in every run"), ("judged", "92% of the first 10"), ("relevant", "12.3 a query"))),
        Notes((Note("2 queries of dense are missing from the judgments", "score them as 0, or leave them out", "W012"),
               Note("hybrid has equal scores in the first 10 of 9 queries", "", "W020"))),
    )  # fmt: skip
    sections = [
        Section("health", "Data health", health, "What was read, and what to doubt about it."),
        Section("scoreboard", "Scoreboard", (board(), Paragraph("45 judged queries · ties: score, then document id", quiet=True))),
        *([Section("differences", "Differences", charts(queries), "By how much, and where.")] if drawn else []),
        Section("queries", "Queries", (Heading("Every query"), Paragraph("Largest loss first."), per_query(queries))),
        *([Section("explorer", "Query explorer", (explorer(queries),))] if explored else []),
        Section("verdict-inside", "In between", (Verdict("On slices of long queries it is worse.", "worse", "slice"),)),
        Section("empty", "Nothing here", ()),
        Section("reproduce", "Reproduce", (Code(("pip install rankscope", "rankscope report qrels.txt bm25.run hybrid.run -o report.html")),
                Facts((("seed", "0"), ("qrels.txt", "sha256 " + "9f86d081" * 8)))), folded=True),
    ]  # fmt: skip
    return Page(
        "hybrid and dense against bm25",
        "45 queries of a made-up collection, judged from 0 to 3",
        verdicts,
        tuple(sections),
        "rankscope",
    )


def odd_page(drawn: bool = True) -> Page:
    """What could break a page: markup and control characters in every text, long ids, Arabic, many columns, nothing at all."""
    long, signs, arabic = "x" * 500, "a\x00b\x1b[31m\u202e\ud800", "الرياض عاصمة المملكة"
    many = tuple(Column(f"metric{i}@10" if i else "run", "value" if i else "text", hint=EVIL) for i in range(40))
    wide = Table(
        many,
        tuple((f"run{r}", *(values(r, i) for i in range(39))) for r in range(40)),
        name=EVIL,
        title="Wide",
        note=EVIL,
    )
    ids = Table(
        (Column("query", queries=True), Column(EVIL, hint=EVIL), Column("v", "value")),
        ((long, EVIL, 1.0), (signs, arabic, math.nan), (EVIL, long, math.inf), (arabic, "", None)),
        best=frozenset({(0, 0)}),
    )
    empty = Table((Column("run"), Column("v", "value")), (), name="none")
    odd = replace_names(charts(6, EVIL)) if drawn else ()
    sections = (
        Section("wide", EVIL, (wide, ids, empty, Table((), ())), EVIL),
        Section("texts", "Texts", (Heading(EVIL), Paragraph(EVIL), Notes((Note(EVIL, EVIL, EVIL),)), Facts(((EVIL, EVIL), (long, signs))),
                Code((EVIL, long, signs)), Verdict(EVIL, "worse", EVIL, ((EVIL, EVIL), (long, signs)))), folded=True),
        *((Section("charts", "Charts", odd),) if drawn else ()),
        Section("explorer", "Explorer", (explorer(3, EVIL),)),
    )  # fmt: skip
    return Page(
        EVIL, EVIL, (Verdict(EVIL + " " + long, "better", EVIL, ((f"{EVIL}1", EVIL), (long, arabic))),), sections, EVIL
    )


def replace_names(found: tuple[Chart, ...]) -> tuple[Chart, ...]:
    """The charts with markup in their titles, captions and names."""
    from dataclasses import replace

    return tuple(replace(chart, title=EVIL, caption=EVIL, name=chart.name + EVIL) for chart in found)
