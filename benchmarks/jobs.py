"""One piece of work a process: ``python -m benchmarks.jobs NAME QRELS RUN``, or a LOG and its columns. What it finds is printed, a name and a number a line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

MEASURES = {"ndcg_cut.10", "map", "recip_rank", "recall.100", "P.10"}


def pytrec_eval_files(qrels_path: str, run_path: str) -> None:
    """pytrec_eval with its own parser; the mean over queries as its documentation takes it."""
    import pytrec_eval

    with open(qrels_path, encoding="utf-8") as file:
        qrels = pytrec_eval.parse_qrel(file)
    with open(run_path, encoding="utf-8") as file:
        run = pytrec_eval.parse_run(file)
    results = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    for measure in sorted(next(iter(results.values()))):
        values = [result[measure] for result in results.values()]
        print(measure, pytrec_eval.compute_aggregated_measure(measure, values))


def ir_measures_files(qrels_path: str, run_path: str) -> None:
    """ir_measures with its own readers and the measures it is known for."""
    tool: Any = import_module("ir_measures")
    measures = [tool.nDCG @ 10, tool.AP, tool.RR @ 10, tool.R @ 100, tool.P @ 10]
    found = tool.calc_aggregate(measures, tool.read_trec_qrels(qrels_path), tool.read_trec_run(run_path))
    for measure, value in found.items():
        print(measure, value)


def polars_parse(_: str, run_path: str) -> None:
    """Polars reading the columns of the file and nothing else: the floor."""
    import polars as pl

    schema = {
        "query": pl.String,
        "q0": pl.String,
        "doc": pl.String,
        "rank": pl.Int32,
        "score": pl.Float64,
        "tag": pl.String,
    }
    frame = pl.scan_csv(run_path, separator=" ", has_header=False, quote_char=None, schema=schema).collect()
    print("rows", frame.height)


def polars_scan(_: str, run_path: str) -> None:
    """Polars going through all columns of a Parquet file part by part, keeping one number of each: the floor."""
    import polars as pl

    frame = pl.scan_parquet(run_path)
    looked = [
        pl.len().alias("rows"),
        pl.col("query_id").str.len_bytes().sum(),
        pl.col("doc_id").str.len_bytes().sum(),
        pl.col("score").sum(),
    ]
    print("rows", frame.select(looked).collect(engine="streaming")["rows"][0])


def polars_users(log_path: str) -> None:
    """Polars summing clicks, conversions and rows by user, and nothing else: the floor."""
    import polars as pl

    sums = pl.col("click").sum(), pl.col("conversion").sum(), pl.len()
    print("users", pl.scan_parquet(log_path).group_by("unit_id").agg(sums).collect().height)


def polars_sums(log_path: str, by: str, columns: str) -> None:
    """Polars summing columns by another one, and nothing else: the floor."""
    import polars as pl

    sums = [pl.col(name).sum() for name in columns.split(",")]
    print("groups", pl.scan_parquet(log_path).group_by(by).agg(*sums, pl.len()).collect().height)


def tea_tasting_log(log_path: str) -> None:
    """The log rolled up to users by pandas, and variants compared by tea-tasting: CTR and CVR."""
    import pandas as pd

    tool: Any = import_module("tea_tasting")
    log = pd.read_parquet(log_path, columns=["unit_id", "variant", "click", "conversion"])
    log["shown"] = 1
    log["sold"] = log["click"] & log["conversion"]
    users = log.groupby(["unit_id", "variant"], as_index=False)[["click", "shown", "sold"]].sum()
    metrics = {"CTR": tool.RatioOfMeans("click", "shown"), "CVR": tool.RatioOfMeans("sold", "click")}
    found = tool.Experiment({**metrics, "split": tool.SampleRatio()}).analyze(users)
    for name in metrics:
        print(name, found[name].effect_size)
        print(f"{name}.p_value", found[name].pvalue)


JOBS: dict[str, Callable[..., None]] = {
    "pytrec_eval": pytrec_eval_files,
    "ir_measures": ir_measures_files,
    "polars-parse": polars_parse,
    "polars-scan": polars_scan,
    "polars-users": polars_users,
    "polars-sums": polars_sums,
    "tea-tasting": tea_tasting_log,
}

if __name__ == "__main__":
    JOBS[sys.argv[1]](*sys.argv[2:])
