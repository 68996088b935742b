"""Labelled features of documents by query: LETOR and SVMlight files, with qid or with a file of group sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.files.raw import BOM, open_raw
from rankscope.files.trec import DOCUMENT
from rankscope.tables import Array

EXPECTED = "features are lines like '2 qid:10 1:0.03 5:0.8', or without qid next to a file of group sizes (train.txt, train.txt.query)"
LINES = 50_000  # parsed at once
MOST_FEATURES = 1_000_000


@dataclass(frozen=True, eq=False)
class RankingData:
    """Documents with features and grades, query by query: ``sizes`` counts the rows of each query.

    ``weights`` has a weight per row; None if all count alike. A missing feature is 0.
    """

    label: str
    features: Array
    grades: Array
    sizes: Array
    queries: Sequence[str]
    documents: Sequence[str]
    weights: Array | None = None

    @cached_property
    def query(self) -> Array:
        """The number of the query of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def only(self, inside: Array) -> RankingData:
        """Return some of the queries; ``inside`` is true for each to keep."""
        rows = inside[self.query]
        return replace(
            self, features=self.features[rows], grades=self.grades[rows], sizes=self.sizes[inside],
            queries=[q for q, kept in zip(self.queries, inside.tolist(), strict=True) if kept],
            documents=[d for d, kept in zip(self.documents, rows.tolist(), strict=True) if kept],
            weights=None if self.weights is None else self.weights[rows],
        )  # fmt: skip

    def wide(self, width: int) -> RankingData:
        """Return the same with this number of features; new ones are 0."""
        out = np.zeros((len(self.grades), width))
        most = min(width, self.features.shape[1])
        out[:, :most] = self.features[:, :most]
        return replace(self, features=out)

    def split(self, share: float, seed: int) -> tuple[RankingData, RankingData]:
        """Divide the queries at random; the second part has this share. Raises DataError for fewer than two queries."""
        count = len(self.sizes)
        if count < 2:
            raise DataError(
                f"{self.label}: {words.counted(count, 'query')} cannot be split into two parts: give more queries"
            )
        held = np.zeros(count, dtype=bool)
        held[np.random.default_rng(seed).permutation(count)[: min(max(round(share * count), 1), count - 1)]] = True
        return self.only(~held), self.only(held)

    def table(self, values: Array) -> dict[str, dict[str, float]]:
        """Return a value per row as ``{query: {document: value}}``."""
        ends = np.cumsum(self.sizes)
        return {
            query: dict(zip(self.documents[end - size : end], values[end - size : end].tolist(), strict=True))
            for query, size, end in zip(self.queries, self.sizes.tolist(), ends.tolist(), strict=True)
        }


def ranking_data_of(source: Any, group: Any = None) -> RankingData:
    """Read features from a LETOR or SVMlight file. ``group`` has the sizes of queries for files without qid. Default: the file's name with .query or .group.

    A document is named by the comment of its row, or by its place in its query, from 1. Raises InputError for a row that is
    not a label and pairs of a number and a value, and for sizes that do not add up to the rows.
    """
    if isinstance(source, RankingData):
        return source
    raw = open_raw(source, EXPECTED)
    text = raw.read().removeprefix(BOM).decode("utf-8", "replace")
    lines = [
        (n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InputError(f"{raw.label}: no row; {EXPECTED}")
    parts = [_parsed(raw.label, lines[at : at + LINES]) for at in range(0, len(lines), LINES)]
    width = max(features.shape[1] for _, _, features in parts)
    grades = np.concatenate([grades for grades, _, _ in parts])
    features = np.vstack([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for _, _, part in parts])
    ids = [one for _, part, _ in parts for one in part]
    queries, sizes = _groups(raw.label, source, ids, lines, group)
    comments = [line.partition("#")[2].strip() for _, line in lines]
    places = [place for size in sizes for place in range(1, size + 1)]
    named = [DOCUMENT.match(comment) for comment in comments]
    documents = [match[1] if match else str(place) for match, place in zip(named, places, strict=True)]
    return RankingData(raw.label, features, grades, np.array(sizes), queries, documents)


def _parsed(label: str, lines: Sequence[tuple[int, str]]) -> tuple[Array, list[str | None], Array]:
    """The grades, the ids of queries (None without qid) and the features of some rows."""
    rows = pl.Series([line.partition("#")[0].strip() for _, line in lines])
    frame = pl.DataFrame({"row": np.arange(len(rows)), "cell": rows.str.replace_all(r"\s+", " ").str.split(" ")})
    grades = frame["cell"].list.first().cast(pl.Float64, strict=False)
    cells = frame.with_columns(pl.col("cell").list.slice(1)).explode("cell").drop_nulls()
    is_id = cells["cell"].str.starts_with("qid:")
    ids = dict(cells.filter(is_id).select("row", pl.col("cell").str.slice(4)).iter_rows())
    pairs = cells.filter(~is_id).with_columns(part=pl.col("cell").str.split_exact(":", 1)).unnest("part")
    number = pairs["field_0"].cast(pl.Int64, strict=False)
    value = pairs["field_1"].cast(pl.Float64, strict=False)
    broken = number.is_null() | value.is_null() | ~value.is_finite().fill_null(False) | (number < 0).fill_null(True)
    again = pl.DataFrame({"row": pairs["row"], "number": number}).is_duplicated()
    for bad, problem in (
        (broken, "is not a feature and its number, like 3:0.5"),
        (again & ~broken, "is a feature that is there twice"),
    ):
        if bad.any():
            row = pairs.filter(bad).row(0, named=True)
            raise InputError(f"{label} line {words.count(lines[row['row']][0])}: {words.quote(row['cell'])} {problem}")
    for at in np.flatnonzero((grades.is_null() | ~grades.is_finite().fill_null(False)).to_numpy())[:1].tolist():
        raise InputError(f"{label} line {words.count(lines[at][0])}: the label is not a number; {EXPECTED}")
    width = int(number.max() or 0) + 1  # type: ignore[arg-type]
    if width > MOST_FEATURES:
        raise InputError(f"{label}: feature {words.count(width - 1)} is above {words.count(MOST_FEATURES)}, the most")
    features = np.zeros((len(lines), width))
    features[pairs["row"].to_numpy(), number.to_numpy()] = value.to_numpy()
    return grades.to_numpy(), [ids.get(row) for row in range(len(lines))], features


def _groups(
    label: str, source: Any, ids: Sequence[str | None], lines: Sequence[tuple[int, str]], group: Any
) -> tuple[list[str], list[int]]:
    without = [at for at, one in enumerate(ids) if one is None]
    if not without:
        blocks = [(str(query), len(list(rows))) for query, rows in groupby(ids)]
        queries = [query for query, _ in blocks]
        if len(set(queries)) < len(queries):
            raise InputError(f"{label}: the rows of a query are not adjacent: sort the file by qid")
        return queries, [size for _, size in blocks]
    if len(without) < len(ids):
        raise InputError(f"{label} line {words.count(lines[without[0]][0])}: no qid, and other rows have one")
    sizes, place = _sizes(label, source, group)
    if sum(sizes) != len(ids):
        raise InputError(
            f"{place}: its sizes add up to {words.count(sum(sizes))}, and {label} has {words.counted(len(ids), 'row')}"
        )
    return [str(number) for number in range(1, len(sizes) + 1)], sizes


def _sizes(label: str, source: Any, group: Any) -> tuple[list[int], str]:
    stem = re.sub(r"\.(gz|zst)$", "", str(source))
    near = [Path(f"{stem}{ending}") for ending in (".query", ".group")]
    path = group if group is not None else next((path for path in near if path.exists()), None)
    if path is None:
        raise InputError(f"{label}: rows without qid need a file of group sizes: {near[0].name}, or --group FILE")
    if not isinstance(path, str | Path):
        return [int(size) for size in path], "group"
    raw = open_raw(path, "a file of group sizes has one whole number per line")
    cells = raw.text().split()
    if not all(cell.isdigit() and int(cell) for cell in cells):
        raise InputError(f"{raw.label}: a file of group sizes has one whole number above 0 per line")
    return [int(cell) for cell in cells], raw.label
