"""A diagnosis as tables: what is lost, how queries fail, how deep relevant documents were found, and the worst queries."""

from __future__ import annotations

from collections.abc import Sequence

from rankscope.blocks import EMPTY, Block, Column, Heading, Table, Value
from rankscope.show.result import null
from rankscope.verbs.diagnose.diagnose import Diagnosis
from rankscope.verbs.diagnose.failures import BANDS, EQUAL, KINDS, Kind
from rankscope.verbs.diagnose.losses import Diagnosed, Query

TOLD = 3  # runs that are told about one by one


def tables_of(found: Diagnosis) -> list[Block]:
    """All tables, each after an empty line; those that would say nothing are left out."""
    tables = (_losses, _kinds, _depths, _high, _hardest, _regrets, _documents)
    return [block for table in tables for block in table(found)]


def _meaning(kind: Kind, found: Diagnosis) -> str:
    """What a kind is; where no best ranking is known, none can be called perfect for scoring like it."""
    if kind.name == "perfect" and found.reason:
        return _at("a relevant document is first, and the top k holds all it can", found.runs[0])
    return _at(kind.meaning, found.runs[0])


def _at(meaning: str, run: Diagnosed) -> str:
    """The cutoff in numbers."""
    return meaning.replace("top k", f"top {run.facts.k}").replace("rank k", f"rank {run.facts.k}")


def _losses(found: Diagnosis) -> list[Block]:
    """What each run loses, and how far re-ranking would bring it."""
    metric, runs = str(found.metric), found.runs
    if found.reason:
        return [EMPTY, _values((metric,), [[run.lost.value] for run in runs], found)] if len(runs) > 1 else []
    first = "never retrieved" if all(run.could.missing_only for run in runs) else "by documents"
    parts = [
        [lost.value, lost.best, lost.loss, lost.never_retrieved, lost.ordered_badly]
        for lost in (run.lost for run in runs)
    ]
    out: list[Block] = [EMPTY, _values((metric, "best", "lost", first, "by order"), parts, found)]
    if not any(run.lost.ordered_badly > EQUAL for run in runs):
        return out
    depths = sorted({depth for run in runs for depth in run.lost.tops})
    reach = [
        [lost.value, *(lost.tops.get(depth, lost.ceiling) for depth in depths), lost.ceiling]
        for lost in (run.lost for run in runs)
    ]
    heading = Heading(f"{metric} if the first N documents stood in the best order")
    return [
        *out,
        EMPTY,
        heading,
        _values(("now", *(f"N = {depth}" for depth in depths), "all"), reach, found),
    ]


def _values(heads: Sequence[str], rows: Sequence[Sequence[float]], found: Diagnosis) -> Table:
    """Numbers of each run, a dash for what is not known."""
    columns = (Column("run"), *(Column(head, "value") for head in heads))
    lines: list[tuple[Value, ...]] = [
        (run.name, *map(null, row)) for run, row in zip(found.runs, rows, strict=True)
    ]
    return Table(columns, tuple(lines))


def _kinds(found: Diagnosis) -> list[Block]:
    """How many queries of each run fail in each way; ways that no query fails in are left out."""
    seen = [kind for kind in KINDS if any(run.kinds[kind.name] for run in found.runs)]
    heading = Heading("queries by how they fail")
    if len(found.runs) > TOLD:
        columns = (Column("run"), *(Column(kind.name, "count") for kind in seen))
        counts: list[tuple[Value, ...]] = [
            (run.name, *(run.kinds[kind.name] for kind in seen)) for run in found.runs
        ]
        return [EMPTY, heading, Table(columns, tuple(counts))]
    heads = ["queries"] if len(found.runs) == 1 else [run.name for run in found.runs]
    columns = (Column(""), *(Column(head, "count") for head in heads), Column("that is", wraps=True))
    rows: tuple[tuple[Value, ...], ...] = tuple(
        (kind.name, *(run.kinds[kind.name] for run in found.runs), _meaning(kind, found)) for kind in seen
    )
    return [EMPTY, heading, Table(columns, rows)]


def _depths(found: Diagnosis) -> list[Block]:
    """How deep relevant documents were found: by grade for one run, in all for several."""
    bands = [
        i
        for i in range(len(BANDS))
        if i < 2 or any(depth.bands[i] for run in found.runs for depth in run.depths)
    ]
    names = [f"{low}-{high}" if high else f"from {low}" for low, high in (BANDS[i] for i in bands)]
    heads = tuple(Column(name, "count") for name in (*names, "never", "known"))
    if len(found.runs) == 1:
        rows: tuple[tuple[Value, ...], ...] = tuple(
            (f"grade {depth.grade:g}", *(depth.bands[i] for i in bands), depth.never, depth.total)
            for depth in found.runs[0].depths
        )
    else:
        rows = tuple(
            (
                run.name,
                *(sum(depth.bands[i] for depth in run.depths) for i in bands),
                sum(depth.never for depth in run.depths),
                sum(depth.total for depth in run.depths),
            )
            for run in found.runs
        )
    label = "" if len(found.runs) == 1 else "run"
    heading = Heading("relevant documents by the rank at which they were found")
    return [EMPTY, heading, Table((Column(label), *heads), rows)] if rows else []


def _high(found: Diagnosis) -> list[Block]:
    """What stands at the first ranks."""
    heads = ("relevant", "not relevant", "not judged", "nothing")
    rows: list[tuple[Value, ...]] = []
    for run in found.runs:
        for at in run.high if len(found.runs) == 1 else run.high[:1]:
            label = f"rank {at.rank}" if len(found.runs) == 1 else run.name
            rows.append((label, at.relevant, at.not_relevant, at.unjudged, at.nothing))
    label = "" if len(found.runs) == 1 else "run"
    which = "the first ranks" if len(found.runs) == 1 else "rank 1"
    table = Table((Column(label), *(Column(head, "count") for head in heads)), tuple(rows))
    return [EMPTY, Heading(f"queries by what stands at {which}"), table]


def _hardest(found: Diagnosis) -> list[Block]:
    if not found.hardest:
        return []
    several = len(found.runs) > 1
    what = "lose most" if not found.reason else "score worst"
    heading = f"queries that {what}" + (", each in the run that is best on it" if several else "")
    parts = () if found.reason else ("ceiling", "best", "lost")

    def numbers(one: Query) -> tuple[Value, ...]:
        return tuple(map(null, () if found.reason else (one.ceiling, one.best, one.loss)))

    columns = (
        Column("query"),
        *([Column("run")] if several else []),
        *(Column(head, "value") for head in ("value", *parts)),
        Column("how"),
    )
    rows = tuple(
        (one.query_id, *([one.run] if several else []), null(one.value), *numbers(one), one.kind)
        for one in found.hardest
    )
    return [EMPTY, Heading(heading), Table(columns, rows, labels=2 if several else 1)]


def _regrets(found: Diagnosis) -> list[Block]:
    if not found.regrets:
        return []
    columns = (
        Column("query"),
        Column("run"),
        Column("value", "value"),
        Column("best run"),
        Column("regret", "value"),
        Column("how"),
    )
    rows = tuple(
        (one.query_id, one.run, null(one.value), one.best_run, one.regret, one.kind) for one in found.regrets
    )
    return [
        EMPTY,
        Heading("queries on which a run is furthest below the best run"),
        Table(columns, rows, labels=2),
    ]


def _documents(found: Diagnosis) -> list[Block]:
    """Documents to look at, for one run."""
    if len(found.runs) > 1:
        return []
    documents = found.shown.of(found.runs[0])
    if not documents:
        return []
    columns = (
        Column("documents to look at"),
        Column("query"),
        Column("document"),
        Column("grade"),
        Column("rank", "count"),
    )
    rows = tuple((d.what, d.query_id, d.doc_id, f"{d.grade:g}", d.rank) for d in documents)
    return [EMPTY, Table(columns, rows)]
