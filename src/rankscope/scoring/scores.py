"""The result of ``evaluate``: means, the values of every query, the conventions and the state of the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rankscope import words
from rankscope.blocks import (
    EMPTY,
    Block,
    Caution,
    Chart,
    Column,
    Heading,
    NumberText,
    Paragraph,
    Table,
    Value,
    ValueRange,
)
from rankscope.errors import InputError
from rankscope.metrics import Metric, parse, parse_many
from rankscope.scoring import spread
from rankscope.scoring.request import Request
from rankscope.scoring.runs import (
    SLICES,
    Mean,
    RunEvaluation,
    RunScores,
    SliceMean,
    tables_of_slices,
    trec_queries,
    trec_value,
)
from rankscope.show.result import FORMATS, Col, Result, Shown, View, caution_block, own_ids
from rankscope.show.text import as_latex

if TYPE_CHECKING:
    import polars as pl

    from rankscope.inference.base import Bounds

UNRANGED = "the other intervals do not fit: a wider terminal shows them, --format csv has them"
FEW = 3  # as many runs are named, as many notes of readers shown one by one

MEAN = (
    Col("metric", of=lambda m: str(m.metric), head="metric"),
    Col("asked", of=lambda m: m.spelling, rare=True),
    Col("value", head="value", kind="value"),
    Col("queries", head="queries", kind="count"),
    Col("undefined", of=lambda m: m.undefined or None, kind="count", rare=True, fill=0),
    Col("ci_lower", "ci_upper", of=lambda m: (m.bounds.lower, m.bounds.upper), kind="value"),
    Col("interval", of=lambda m: m.bounds.method),
)
MEANS = (
    Col("run", head="run"),
    *MEAN,
    Col("interval_reason", of=lambda m: m.bounds.reason or None, rare=True),
    Col("standard_error_of_ties", of=lambda m: m.error, kind="value", rare=True),
    Col("queries_with_orders_drawn", of=lambda m: m.sampled_queries or None, kind="count", rare=True),
)
SPREAD = (
    Col("run", head="run"), Col("metric", head="metric"), Col("queries", head="queries", kind="count"),
    *(Col(name, head=name, kind="value") for name in spread.QUANTILES), Col("zeros", head="zeros", kind="count"),
)  # fmt: skip


class Records(View):
    """A view with rows that are records already, as there may be millions."""

    def records(self, result: Any) -> Iterator[dict[str, Any]]:
        """The rows as they are."""
        yield from self.rows(result)


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Result):
    """What ``evaluate`` found.

    ``scores["bm25", "nDCG@10"]`` is a number, ``scores["bm25", "q1", "nDCG@10"]`` that of a query. Metrics may be spelled in any way
    (``"ndcg_cut_10"``). With one run ``scores["nDCG@10"]`` is enough, and ``bounds_of`` takes the same
    to tell its interval. ``means``, ``per_query``, ``distribution`` and ``first_relevant`` are Polars frames. ``request`` is what
    was asked for, and ``conventions`` states what was assumed, ``data_health`` what is odd about the data, ``warnings`` what that
    does to the numbers. ``evaluations`` hold the judged documents of each run, for verbs that look below the values; ``data`` is
    what was passed as qrels and as runs, each with its name, for those that look for documents.
    """

    schema: ClassVar[str] = "evaluate/1"
    formats: ClassVar[tuple[str, ...]] = (*FORMATS, "trec")
    of_latex: ClassVar[tuple[str, ...]] = ("caption", "label", "digits")
    appended = "slices"
    header: ClassVar[tuple[str, ...]] = ("conventions", "inputs", "judgments", "data_health")
    views: ClassVar[tuple[View, ...]] = (
        View("results", MEANS, lambda scores: scores.board),
        Records(
            "per_query",
            lambda scores: (
                Col("run"), Col("query_id"), Col("metric"), Col("value", kind="value"),
                *([Col("weight", kind="value")] if scores.request.policies.weights is not None else []),
            ),
            lambda scores: scores._query_rows.iter_rows(named=True),
            option="per_query",
        ),
        View(
            "facts", lambda scores: (Col("run"), Col("query_id"), Col("runid"), *map(Col, scores.runs[0].facts)),
            lambda scores: scores._facts(), option="per_query",
        ),
        View("distribution", SPREAD, lambda scores: scores._spread(), option="distribution"),
        View(
            "first_relevant",
            (Col("run", head="run"), Col("rank", head="rank"), Col("queries", head="queries", kind="count")),
            lambda scores: (
                {"run": run.name, "rank": rank, "queries": queries}
                for run in scores.runs
                for rank, queries in spread.rank_counts(run).items()
            ),
            option="distribution",
        ),
        View("slices", SLICES, lambda scores: scores.slices, held=lambda scores: scores.slices),
    )  # fmt: skip

    request: Request
    runs: Sequence[RunScores]
    board: Sequence[Mean]
    warnings: Sequence[Caution]
    inputs: Sequence[Any] = field(default_factory=list)
    notes: Sequence[str] = field(default_factory=list)
    evaluations: Sequence[RunEvaluation] = ()
    data: tuple[Any, Sequence[tuple[str | None, Any]]] | None = None
    slices: Sequence[SliceMean] = ()
    content: Callable[[], str | None] | None = None
    predictions: Scores | None = None

    @property
    def judgments(self) -> dict[str, str | None]:
        """The digest of the judgments, as JSON holds it."""
        return {"content_sha256": self.judgments_sha256}

    @cached_property
    def judgments_sha256(self) -> str | None:
        """The digest of the judgments, equal for a file, packed or not, a frame and a dict. None if they are unavailable."""
        return None if self.content is None else self.content()

    def __getitem__(self, key: Any) -> float:
        if isinstance(key, tuple) and len(key) == 3:
            return self._of_query(*key)
        return self.mean_of(key).value

    def _of_query(self, run: str, query: Any, metric: Any) -> float:
        mean = self.mean_of((run, metric))
        scored = next(scored for scored in self.runs if scored.name == mean.run)
        if (text := str(query)) not in scored.query_ids:
            raise KeyError(f"query {text!r} is not scored{words.hint(text, scored.query_ids, otherwise='')}")
        return float(scored.values[mean.metric][scored.query_ids.index(text)])

    def to_dict(self, run: str | None = None) -> dict[str, Any]:
        """The values of queries as ``{query: {metric: value}}``, as pytrec_eval gives them, under the names that were asked for.

        Of several runs ``{run: {query: {metric: value}}}``, unless one ``run`` is named. A value that is undefined is NaN. Queries are
        numbers if all inputs are frames with numbers as ids.

        >>> import rankscope as rs
        >>> rs.evaluate({"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}, ["recip_rank", "P_5"]).to_dict()["q1"]
        {'recip_rank': 0.5, 'P_5': 0.2}
        """
        if run is not None and run not in [scored.name for scored in self.runs]:
            raise KeyError(f"no run is called {run!r}: there are {', '.join(scored.name for scored in self.runs)}")
        names = {mean.metric: mean.spelling for mean in self.board}
        by_run = {
            scored.name: {
                query: {names[m]: float(values[i]) for m, values in scored.values.items()}
                for i, query in enumerate(self._own_queries(scored))
            }
            for scored in self.runs
            if run in (None, scored.name)
        }
        return by_run if len(by_run) > 1 or (run is None and len(self.runs) > 1) else next(iter(by_run.values()))

    def _own_queries(self, run: RunScores) -> list[Any]:
        if "query_id" not in self.whole_ids:
            return list(run.query_ids)
        import polars as pl

        return own_ids(pl.DataFrame({"query_id": run.query_ids}), self.whole_ids)["query_id"].to_list()

    def bounds_of(self, key: Any) -> Bounds:
        """The interval of a number, which is named as in ``scores[key]``.

        >>> import rankscope as rs
        >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
        >>> run = {"q1": {"a": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"b": 2.0, "c": 1.0, "a": 0.5}}
        >>> ends = rs.evaluate(qrels, run, "RR").bounds_of("RR")
        >>> ends.method, ends.lower, ends.upper  # 0.61 ± 4.303 · 0.200, within 0 and 1
        ('t', 0.0, 1.0)
        """
        return self.mean_of(key).bounds

    def mean_of(self, key: Any) -> Mean:
        """The entry of the board for ``scores[key]``. Raises KeyError if there is none."""
        run, metric = key if isinstance(key, tuple) else (None, key)
        names = [scored.name for scored in self.runs]
        if run is None and len(names) > 1:
            raise KeyError(f"there are {len(names)} runs, name one: scores[{names[0]!r}, {str(metric)!r}]")
        if run is not None and run not in names:
            raise KeyError(f"no run is called {run!r}: there are {', '.join(names)}")
        board = [mean for mean in self.board if run in (None, mean.run)]
        exact = [mean for mean in board if metric in (mean.spelling, str(mean.metric))]
        if exact:
            return exact[0]
        try:
            wanted = parse(metric)
        except InputError as error:
            raise KeyError(str(error)) from None
        for mean in board:
            if wanted in (mean.metric, *(m for _, m in parse_many(mean.spelling))):
                return mean
        raise KeyError(f"{wanted} was not evaluated: there are {', '.join(map(str, self.metrics))}")

    @cached_property
    def metrics(self) -> list[Metric]:
        """The metrics, in the order asked."""
        return list(dict.fromkeys(mean.metric for mean in self.board))

    def by_merit(self, metric: Metric) -> list[str]:
        """The runs by their value on a metric, best first, undefined last. The order is unchanged if neither high nor low is better."""
        sign = {"higher": -1.0, "lower": 1.0, "neither": 0.0}[metric.better]
        values = {mean.run: sign * mean.value for mean in self.board if mean.metric == metric}
        return sorted(values, key=lambda run: math.inf if math.isnan(values[run]) else values[run])

    def sorted_by(self, metric: Any) -> Scores:
        """Return the same scores with the best run on a metric first. Raises InputError for a metric that was not evaluated.

        >>> import rankscope as rs
        >>> runs = {"low": {"q": ["b", "a"]}, "high": {"q": ["a", "b"]}}
        >>> [run.name for run in rs.evaluate({"q": {"a": 1}}, runs, "RR").sorted_by("RR").runs]
        ['high', 'low']
        """
        wanted = metric_to_sort_by(metric, self.metrics)
        places = {run: place for place, run in enumerate(self.by_merit(wanted))}
        order = sorted(range(len(self.runs)), key=lambda i: places[self.runs[i].name])
        board = sorted(self.board, key=lambda mean: places[mean.run])
        evaluations = [self.evaluations[i] for i in order] if self.evaluations else ()
        return replace(self, runs=[self.runs[i] for i in order], board=board, evaluations=evaluations)

    @cached_property
    def conventions(self) -> Mapping[str, Any]:
        """The assumptions: every policy, and the assumptions of each metric."""
        corrected = {} if self.predictions is None else {"predicted": "PPI++: people correct the model, query by query"}
        return {**self.request.conventions(), **corrected}

    @property
    def methods(self) -> str:
        """The statement of method for a paper, then its sources as BibTeX."""
        from rankscope.scoring.methods import Cites, of_means, of_values

        intervals, health = self.request.intervals, [run.health for run in self.runs]
        cites = Cites(intervals.clusters is not None)
        queries = len({query for run in self.runs for query in run.query_ids})
        metrics, runs = [(str(metric), metric) for metric in self.metrics], words.counted(len(self.runs), "run")
        text = [*of_values(metrics, runs, queries, cites, self.request, health)]
        text += of_means([mean.bounds for mean in self.board], intervals.level, cites, "clusters", "")
        return cites.statement(text)

    @property
    def data_health(self) -> dict[str, dict[str, Any]]:
        """The health of the data of each run, as plain values."""
        return {run.name: run.health.as_dict() for run in self.runs}

    @cached_property
    def means(self) -> pl.DataFrame:
        """run, metric, value (null: undefined), queries, and the ends of the interval (null: none): one row per number."""
        return self.to_polars().select("run", "metric", "value", "queries", "ci_lower", "ci_upper")

    @cached_property
    def distribution(self) -> pl.DataFrame:
        """run, metric, queries, min, q05, q25, median, q75, q95, max, zeros: how the queries' values are spread.

        Quantiles lie between the two values around them, as numpy's; ``zeros`` counts values of exactly 0.
        """
        return self.to_polars("distribution")

    @cached_property
    def first_relevant(self) -> pl.DataFrame:
        """run, rank (1 to 10, 11-100, 101+, none), queries: the ranks of the first document of grade 1 or more."""
        return self.to_polars("first_relevant")

    @cached_property
    def whole_ids(self) -> frozenset[str]:
        """Which ids (query_id, doc_id) were whole numbers in all dicts and data frames that were passed: frames that come back hold them so."""
        from rankscope.scoring.inputs import kinds_of_ids

        qrels, runs = self.data or (None, ())
        return kinds_of_ids(self.inputs, [qrels, *(run for _, run in runs)])

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """run, query_id (whole numbers stay whole), metric, value (null: undefined), any weight: one row per query and metric."""
        return own_ids(self._query_rows, self.whole_ids)

    @cached_property
    def _query_rows(self) -> pl.DataFrame:
        import polars as pl

        weighted, parts = self.request.policies.weights is not None, []
        for run in self.runs:
            queries, metrics = len(run.query_ids), len(run.values)
            matrix = np.stack(list(run.values.values()), axis=1) if metrics else np.empty((queries, 0))
            columns = {
                "query_id": pl.Series(run.query_ids, dtype=pl.String).gather(np.repeat(np.arange(queries), metrics)),
                "metric": pl.Series([str(m) for m in run.values]).gather(np.tile(np.arange(metrics), queries)),
                "value": pl.Series(matrix.ravel(), nan_to_null=True),
            }
            if weighted:
                ones = np.ones(queries)
                weights = np.stack([run.weights.get(metric, ones) for metric in run.values], axis=1)
                columns["weight"] = pl.Series(weights.ravel(), nan_to_null=True)
            parts.append(pl.DataFrame(columns).select(pl.lit(run.name).alias("run"), pl.all()))
        return pl.concat(parts)

    def to_polars(self, table: str = "") -> pl.DataFrame:
        """A table as a Polars frame."""
        return self.per_query if table == "per_query" else super().to_polars(table)

    def json_header(self) -> dict[str, Any]:
        """Return the declared header. The key ``per_query`` is always there, and filled on request."""
        return {**super().json_header(), "per_query": []}

    def write(
        self, form: str, *, width: int = 80, colour: bool = False, table: str = "", **options: Any
    ) -> Iterable[str]:
        """The result in one of ``formats``, in pieces. ``per_query`` and ``distribution`` add views next to the means."""
        per_query = bool(options.get("per_query"))
        if form == "trec":
            if self.slices:
                raise InputError("the lines of trec_eval cannot hold slices: leave them out, or choose another format")
            return self.trec_lines(per_query)
        table = table or ("per_query" if per_query else "")
        return super().write(form, width=width, colour=colour, table=table, **options)

    def save(self, path: str | Path, *, table: str = "", **options: Any) -> Path:
        """Write the result to a file, in the format of its ending: .json .jsonl .csv .md .tex .txt .trec; gives the path.

        JSON holds the values of the queries as well, unless ``per_query=False``: so it can be the baseline of a gate.

        >>> import tempfile, rankscope as rs
        >>> qrels, run = {"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     baseline = rs.evaluate(qrels, run, "RR").save(f"{folder}/baseline.json")
        ...     rs.gate(qrels, baseline, run, "RR").status
        'pass'
        """
        if Path(path).suffix.lower() == ".json":
            options.setdefault("per_query", True)
        return super().save(path, table=table, **options)

    def trec_lines(self, per_query: bool = False) -> Iterator[str]:
        """The lines that trec_eval prints: name, query and value. Runs one after the other, each under its id."""
        several = len(self.runs) > 1
        for run in self.runs:
            lines = [("runid", "all", run.name)] if several else []
            lines += trec_queries(run) if per_query else []
            lines += [("runid", "all", run.tag)] if run.tag and not several else []
            lines += [trec_value(mean.metric, "all", mean.value) for mean in self.board if mean.run == run.name]
            yield from (f"{name:<22}\t{query}\t{text}\n" for name, query, text in lines if text)

    def _facts(self) -> Iterator[dict[str, Any]]:
        for run in self.runs:
            for i, query in enumerate(run.query_ids):
                facts = {name: values[i] for name, values in run.facts.items()}
                yield {"run": run.name, "query_id": query, "runid": run.tag, **facts}

    def _spread(self) -> Iterator[dict[str, Any]]:
        for run in self.runs:
            for metric, values in run.values.items():
                yield {"run": run.name, "metric": str(metric), **spread.spread_of(values)}

    def sentences(self) -> Iterator[str]:
        """Each number in a line."""
        for mean in self.board:
            number = f"{mean.run}  {mean.metric} = {words.number(mean.value, digits=4)}"
            yield f"{number}  ({words.counted(mean.queries, 'query')})"

    def blocks(
        self, *, per_query: bool = False, distribution: bool = False, next_step: str = "", **_: Any
    ) -> list[Shown]:
        """The answer, its cautions, and its conventions."""
        each: list[Shown] = [self.table("per_query"), EMPTY] if per_query else []
        return [
            *each, self.table(), *(Paragraph(text, quiet=True) for text in self.queries_in_words()), EMPTY,
            *([*self.spread_blocks(), EMPTY] if distribution else []), *self._slice_blocks(),
            *caution_block(self.warnings), Paragraph(self.request.small_print(), quiet=True),
            *([Paragraph(next_step, quiet=True)] if next_step else []),
        ]  # fmt: skip

    def document_blocks(self, *, per_query: bool = False, distribution: bool = False, **_: Any) -> list[Shown]:
        """The blocks of a document: the tables, and queries and conventions in the small print."""
        small = " · ".join([*self.queries_in_words(), self.request.small_print()])
        alone = f"{self.runs[0].name}: " if len(self.runs) == 1 else ""
        each: list[Shown] = [Heading(f"{alone}each query"), self.table("per_query"), Heading("all queries")]
        spread_blocks = self.spread_blocks() if distribution else []
        return [
            *(each if per_query else []), self.table(), *spread_blocks, *self._slice_blocks(),
            Paragraph(small, quiet=True),
        ]  # fmt: skip

    def table(self, name: str = "", *, most: int | None = None) -> Table:
        """A printed table: by default the scoreboard."""
        if name in {"", "results"}:
            return self._scoreboard()
        return self._query_table(most) if name == "per_query" else super().table(name, most=most)

    def charts(self) -> Iterator[Chart]:
        """The distribution of the first metric, and the ranks of the first relevant documents."""
        lead, by_name = self.metrics[0], {run.name: run for run in self.runs}
        runs = map(by_name.__getitem__, self.by_merit(lead))
        shown = [run for run in runs if not np.isnan(run.values[lead]).all()][: spread.LINES]
        if shown:
            sign = {"higher": 1, "lower": -1, "neither": 0}[lead.better]
            values = {run.name: run.values[lead] for run in shown}
            order = tuple(
                dict.fromkeys((self.runs[0].name, *self.by_merit(lead)))
            )  # the colours that a report gives them
            yield replace(spread.distribution_chart(_column(lead), values, sign, lead.range), order=order)
            yield replace(spread.first_relevant_chart(shown[: spread.BARS]), order=order)

    def to_latex(
        self, *, per_query: bool = False, distribution: bool = False, caption: str = "", label: str = "", digits: int | None = None, **_: Any
    ) -> str:  # fmt: skip
        """Return the table of a paper: systems by metrics, the best in bold, in one column of two if it fits.

        ``per_query`` adds an appendix: for each metric a table of any length, queries by systems. It needs the packages booktabs,
        threeparttable and (for the appendix) longtable. Raises InputError for an invalid ``label`` or ``digits``.
        """
        from rankscope.show.latex import PaperCell, PaperTable, check_digits, long_table

        places, best, names = check_digits(digits, 4), self._scoreboard().best, [run.name for run in self.runs]
        means = {(m.run, m.metric): m.value for m in self.board}
        metrics, tag = list(self._columns), label or "tab:systems"

        def text(run: str, metric: Metric) -> str:
            parts = [metric, *filter(None, [self._columns[metric]])]
            return " + ".join(_in_paper(means[run, part], part, places) for part in parts)

        table = PaperTable(
            [str(m) for m in metrics], [m.better for m in metrics], names, [""] * len(names),
            [[PaperCell(text(run, m), best=(i, place) in best) for place, m in enumerate(metrics, start=1)] for i, run in enumerate(names)],
            caption or f"{words.counted(len(names), 'system')} on {words.counted(len(self.runs[0].query_ids), 'query')}.", tag,
            f"{', '.join(self.queries_in_words())}. {self.request.small_print()}.",
        )  # fmt: skip
        lines = [*table.lines(), ""]
        for number, metric in enumerate(self.metrics if per_query else (), start=1):
            by_run = [dict(zip(run.query_ids, run.values[metric].tolist(), strict=True)) for run in self.runs]
            queries = dict.fromkeys(query for values in by_run for query in values)
            rows = [
                [query, *(_in_paper(values.get(query, math.nan), metric, places) for values in by_run)]
                for query in queries
            ]
            lines += [*long_table(["query", *names], rows, f"{metric} of every query.", f"{tag}-queries-{number}"), ""]
        more = [*(self.spread_blocks() if distribution else []), *self._slice_blocks()]
        return "\n".join([*lines, *([as_latex(more)] if more else [])])

    def queries_in_words(self) -> Iterator[str]:
        """The number of queries the values are made of, and which metrics leave some out, or have no interval."""
        queries = len(self.runs[0].query_ids)
        number, vary = words.counted(queries, "query"), self._queries_vary
        yield {
            "judged": words.counted(queries, "judged query"),
            "run": "all queries of each run" if vary else f"{number} of the run",
            "both": f"{number} judged and in every run",
            "either": "all queries judged or in the run" if vary else f"{number} judged or in the run",
            "list": f"{number} of the list",
        }.get(self.request.statement_of("queries"), f"{number}, counted by the rules of the dialect")
        if (weights := self.request.policies.weights) is not None:
            yield weights.in_words(dict.fromkeys(query for run in self.runs for query in run.query_ids))
        for metric in self.metrics:
            yield from self._left_out(metric)
        yield from self._without_interval()

    def _left_out(self, metric: Metric) -> Iterator[str]:
        means = [mean for mean in self.board if mean.metric == metric]
        counts = {mean.run: mean.undefined for mean in means if mean.undefined}
        if counts:
            queries = f"{_span([*counts.values()])} queries, depending on the run"
            if len(counts) == len(self.runs) and len(set(counts.values())) == 1:
                queries = words.counted(means[0].undefined, "query")
            elif len(counts) <= FEW:
                queries = ", ".join(f"{count:,} ({run})" for run, count in counts.items()) + " of the queries"
            yield f"{metric} has no value for {queries}: left out of its mean"
        ties = self.request.of_metric(metric).convention.ties
        drawn = max(mean.sampled_queries for mean in means)
        if drawn and ties in {"best", "worst"}:
            have = f"{words.counted(drawn, 'query')} {words.agree(drawn, 'has')}"
            yield f"{metric}: {have} too many orders of equal scores to try, so the {ties} of some is taken"
        if errors := [mean.error for mean in means if mean.error]:
            yield f"{metric}: too many orders of equal scores to count, so they were sampled: standard error {words.number(max(errors))}"

    def _without_interval(self) -> Iterator[str]:
        bare = [mean for mean in self.board if not mean.bounds.known and not math.isnan(mean.value)]
        by_reason = sorted(bare, key=lambda mean: mean.bounds.reason)
        for reason, group in groupby(by_reason, key=lambda mean: mean.bounds.reason):
            alike = list(group)
            if len(alike) == len(self.board):
                yield f"no interval: {reason}"
                return
            yield f"no interval of {', '.join(self._name_means(alike))}: {reason}"

    def _name_means(self, alike: Sequence[Mean]) -> Iterator[str]:
        for metric in dict.fromkeys(mean.metric for mean in alike):
            runs = [mean.run for mean in alike if mean.metric == metric]
            which = ", ".join(runs) if len(runs) <= FEW else words.counted(len(runs), "run")
            yield f"{metric} ({which})" if len(runs) < len(self.runs) else str(metric)

    def reader_notes(self) -> list[str]:
        """The notes of readers: line by line for a few runs, summed up for many."""
        of_runs = [(run, e.source) for run, e in zip(self.runs, self.evaluations, strict=True) if e.source is not None]
        if len(of_runs) <= FEW:  # runs in memory have no source
            return list(self.notes)
        runs = [source for _, source in of_runs]
        others = [source for source in self.inputs if source not in runs]
        kinds = {source.kind for source in runs}
        kind = f" as {kinds.pop()}s" if len(kinds) == 1 else ""
        rows, queries = (_span([getattr(run.health, of) for run, _ in of_runs]) for of in ("rows", "queries"))
        more = [note for source in runs for note in source.notes[1:]]
        rest = f"and {len(more) - FEW:,} more notes like these: evaluate a single run to see its own"
        own = {note for source in self.inputs for note in source.notes}
        return [
            *(note for source in others for note in source.notes),
            f"read {len(runs)} runs{kind}: {rows} rows, {queries} queries each", *more[:FEW],
            *([rest] if len(more) > FEW else []), *(note for note in self.notes if note not in own),
        ]  # fmt: skip

    @property
    def _queries_vary(self) -> bool:
        return len({len(run.query_ids) for run in self.runs}) > 1

    def _scoreboard(self) -> Table:
        means, metrics = {(mean.run, mean.metric): mean for mean in self.board}, self._columns
        columns = [Column("run"), *map(_column, metrics)]
        rows = [
            (
                run.name,
                *(
                    _with_interval(means[run.name, m], means[run.name, beside] if beside else None)
                    for m, beside in metrics.items()
                ),
            )
            for run in self.runs
        ]
        if self._queries_vary:
            columns.append(Column("queries", "count"))
            rows = [(*row, len(run.query_ids)) for row, run in zip(rows, self.runs, strict=True)]
        best = frozenset(
            (row, place)
            for place, metric in enumerate(metrics, start=1)
            for row in best_rows(metric.better, [words.finite(means[run.name, metric].value) for run in self.runs])
        )
        return Table(tuple(columns), tuple(rows), best=best, turns=True, note=self._legend(), unranged=UNRANGED)

    @cached_property
    def _columns(self) -> dict[Metric, Metric | None]:
        """The metrics of the scoreboard, each with the residual that its cell shows as well."""
        residuals = {m: getattr(m, "residual", None) for m in self.metrics}
        shared = {
            m: next((other for other in self.metrics if residual and _alike(residual, other)), None)
            for m, residual in residuals.items()
        }
        return {m: beside for m, beside in shared.items() if m not in shared.values()}

    def _legend(self) -> str:
        known = [mean for mean in self.board if mean.bounds.known]
        methods = " or ".join(sorted({mean.bounds.method for mean in known}))
        intervals = self.request.intervals
        clustered = " in clusters" if intervals.clusters is not None else ""
        which = f"the {words.percent(intervals.level)} {methods} interval over queries{clustered}"
        apart = {metric for pair in self._columns.items() if pair[1] for metric in pair}
        ranges = [ValueRange(m.value, m.bounds.lower, m.bounds.upper) for m in known if m.metric not in apart]
        residual = [
            f"+ in {m}: the possible gain by unjudged documents" for m, beside in self._columns.items() if beside
        ]
        return "; ".join(filter(None, [ValueRange.note(ranges, which), *residual]))

    def _query_table(self, most: int | None = None) -> Table:
        several, weights = len(self.runs) > 1, self.request.policies.weights
        rows: list[tuple[Value, ...]] = []
        places = [{query: i for i, query in enumerate(run.query_ids)} for run in self.runs]
        for query in dict.fromkeys(query for run in self.runs for query in run.query_ids):
            for run, place in zip(self.runs, places, strict=True):
                if (at := place.get(query)) is not None:
                    values = [words.finite(float(column[at])) for column in run.values.values()]
                    facts = [fact[at] for fact in run.facts.values()]
                    weight = [] if weights is None else [weights.by_query[query]]
                    rows.append((query, *([run.name] if several else []), *weight, *values, *facts))
        names = [Column("query"), *([Column("run")] if several else [])]
        weight_column = [] if weights is None else [Column("weight", "value")]
        columns = (*names, *weight_column, *map(_column, self.metrics), *map(Column, self.runs[0].facts))
        return Table(columns, tuple(rows[:most]), labels=len(names), name="per_query")

    def _slice_blocks(self) -> Iterator[Block]:
        for table in tables_of_slices(self.slices, self.metrics, [run.name for run in self.runs]):
            yield from (Heading(f"slices {table.title}"), table, EMPTY)

    def spread_blocks(self) -> list[Block]:
        """The distribution of the values, and the ranks of first relevant documents.

        For one run quantiles are a table with one row per metric, for several one table per metric with one row per run.
        """
        records = list(self._spread())
        by_metric = [(metric, [r for r in records if r["metric"] == str(metric)]) for metric in self.metrics]
        tables = [_quantiles("run", alike, str(metric)) for metric, alike in by_metric]
        if len(self.runs) == 1:
            tables = [_quantiles("metric", records)]
        return [
            Heading("values of the queries"),
            *(block for table in tables for block in (table, EMPTY)),
            Heading("queries by the rank of their first relevant document (grade ≥ 1)"),
            spread.rank_table(self.runs),
        ]


def metric_to_sort_by(named: Any, metrics: Iterable[Metric]) -> Metric:
    """Return the named metric among the evaluated ones. Raises InputError for another."""
    wanted = parse(named)
    if wanted not in metrics:
        raise InputError(f"sort={str(named)!r}: sort by one of {', '.join(map(str, metrics))}")
    return wanted


def _in_paper(value: float, metric: Metric, digits: int) -> str:
    return "-" if math.isnan(value) else words.number(value, digits=0 if metric.aggregate == "sum" else digits)


def _alike(residual: Metric, other: Metric) -> bool:
    """True if another metric is this residual, with any rule for ranks below the end of a list."""
    return type(residual) is type(other) and residual.having(tail=getattr(other, "tail", None)) == other


def _with_interval(mean: Mean, residual: Mean | None = None) -> Value:
    bounds = mean.bounds
    if residual is not None and not math.isnan(mean.value + residual.value):
        return NumberText(f"{words.cell(mean.value)} + {words.cell(residual.value)}", mean.value)
    return ValueRange(mean.value, bounds.lower, bounds.upper) if bounds.known else words.finite(mean.value)


def _column(metric: Metric) -> Column:
    return Column(str(metric), "count" if metric.aggregate == "sum" else "value")


def best_rows(better: str, values: Sequence[float | None]) -> list[int]:
    """The rows with the best value to four decimals, none if all are equal."""
    rounded = [None if value is None else round(value, 4) for value in values]
    known = [value for value in rounded if value is not None]
    if better == "neither" or len(known) < 2 or len(set(known)) == 1:
        return []
    top = max(known) if better == "higher" else min(known)
    return [i for i, value in enumerate(rounded) if value == top]


def _quantiles(first: str, records: Sequence[dict[str, Any]], head: str = "") -> Table:
    names = [*spread.QUANTILES, "zeros", *(["queries"] if len({record["queries"] for record in records}) > 1 else [])]
    columns = (Column(head or first), *(Column(n, "value" if n in spread.QUANTILES else "count") for n in names))
    return Table(columns, tuple(tuple(record[name] for name in (first, *names)) for record in records))


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
