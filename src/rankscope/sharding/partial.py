"""A partial result: the values of one share of a run and its whole request, kept in a file until all shares are there.

A file is Parquet with its facts as JSON in the metadata, written in full or not at all.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import polars as pl

from rankscope import words
from rankscope._version import __version__
from rankscope.engines.base import DataFacts, Order
from rankscope.errors import InputError
from rankscope.files.parts import PartFacts, RunHead
from rankscope.files.raw import open_raw
from rankscope.files.side_tables import CLUSTERS
from rankscope.lists import Aspects, Judged
from rankscope.scoring.evaluation import check_grades, read_judgments
from rankscope.scoring.fold import Fold
from rankscope.scoring.inputs import CleanInput, named_runs
from rankscope.scoring.policies import POLICIES
from rankscope.scoring.request import Request
from rankscope.scoring.weights import Weights
from rankscope.sharding.shares import TOLD, JudgedShare, ShareFacts, judge_share
from rankscope.store import write_file
from rankscope.tables import MARK, Source, sha256_of

KEY = "rankscope"  # under which the file's metadata holds the JSON
FORMAT = 2
SEAL = (
    b"sha256 of this file with zeros here: "  # the digest follows, and is checked before anything else reads the file
)
EXPECTED = "parts are written by rankscope evaluate --partition"


def write_partial(frame: pl.DataFrame, facts: Mapping[str, Any], place: str | Path) -> None:
    """Write rows and their facts into a file. Raises InputError if it cannot be written, and then leaves no file."""
    # in ASCII, as the name of a file may have letters that Parquet cannot store
    text = json.dumps({"format": FORMAT, **facts})
    packed = io.BytesIO()
    frame.write_parquet(packed, metadata={KEY: text, f"{KEY}.digest": f"{SEAL.decode()}{'0' * 64}"})
    write_file(place, [_sealed(packed.getvalue())])


def read_partial(path: str | Path) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the rows and their facts. Raises InputError for another file, or a damaged one."""
    raw = open_raw(path, EXPECTED)
    if not raw.start.startswith(b"PAR1"):
        raise InputError(f"{raw.label}: not a part of an evaluation; {EXPECTED}")
    damaged = f"{raw.label}: cut short or damaged: make this part again with rankscope evaluate --partition"
    data = raw.read()
    if not data.endswith(b"PAR1"):
        raise InputError(damaged)
    if SEAL not in data:
        raise InputError(f"{raw.label}: a Parquet file, but not a part of an evaluation; {EXPECTED}")
    if _sealed(data) != data:
        raise InputError(damaged)
    facts = json.loads(pl.read_parquet_metadata(io.BytesIO(data))[KEY])
    if facts.pop("format") != FORMAT:
        problem = "a part as another version of rankscope writes it"
        raise InputError(f"{raw.label}: {problem}: make all parts with one version")
    return pl.read_parquet(io.BytesIO(data)), facts


def _sealed(data: bytes) -> bytes:
    """Return the bytes of a file with the digest filled in."""
    at = data.rindex(SEAL) + len(SEAL)  # in the metadata after all rows
    digest = hashlib.sha256(data[:at] + b"0" * 64 + data[at + 64 :]).hexdigest()
    return data[:at] + digest.encode() + data[at + 64 :]


FIELDS = ("retrieved", "size", "in_run", "grade", "rank", "tie_start", "tie_size", "score", "by_id")  # of ``Judged``
T = TypeVar("T")
ASPECT_FIELDS = ("count", "aspect", "group", "grade")


@dataclass(frozen=True)
class QrelsFacts:
    """The judgments of a partial result: their digest, their source (None for a dict), and the number of rows left out."""

    sha256: str
    source: Source | None
    duplicates: int
    file_sha256: str | None = None
    content_sha256: str | None = None

    @classmethod
    def of(cls, grades: CleanInput) -> QrelsFacts:
        """The facts of these judgments."""
        table = grades.table
        digest = hashlib.sha256(f"{sha256_of(table.frame)} {sorted(table.more_queries)}".encode()).hexdigest()
        source = grades.source
        file = None if source is None or source.sha256 is None else source.sha256()
        return cls(digest, source, grades.duplicates, file, table.content_sha256)

    def as_source(self) -> Source | None:
        """Their sources, as a result reports them."""
        digest = self.file_sha256
        return self.source and replace(self.source, sha256=None if digest is None else lambda: digest)


@dataclass(frozen=True, eq=False, repr=False)
class PartialScores:
    """The part of an evaluation that one partition of a run gave. No result, until ``rs.merge`` has all parts.

    It is the ``number``-th of so many (``of``; None if that is not known before the run is read). ``save`` writes it to a file.
    ``request`` is what was asked for, ``terms`` the same as plain values.
    """

    number: int
    of: int | None
    request: Request
    terms: Mapping[str, Any]
    qrels: QrelsFacts
    share: JudgedShare
    version: str = __version__
    place: str = "this part"

    part_of_rankscope: ClassVar[bool] = True  # by which readers know it

    @property
    def title(self) -> str:
        """Which part it is."""
        return f"part {self.number} of {'a job' if self.of is None else self.of}"

    def __repr__(self) -> str:
        queries = words.counted(len(self.share.queries), "query")
        return f"{self.title} of {self.share.run.label}: {queries} (rankscope merge combines all parts)"

    def save(self, path: str | Path) -> None:
        """Write it to a Parquet file, which is there in full or not at all. Raises InputError if that cannot be."""
        if Path(path).suffix.lower() not in {".parquet", ".pq"}:
            raise InputError(f"{path}: a part is a Parquet file: name it like part{self.number}.parquet")
        frame, shape = _pack(self.share, list(dict.fromkeys(self.request.orders)))
        run = self.share.run
        facts = {
            "rankscope": self.version, "number": self.number, "of": self.of, "request": self.terms,
            "qrels": {**asdict(replace(self.qrels, source=None)), "source": _source_dict(self.qrels.source)},
            "run": {**asdict(replace(run, source=None)), "source": _source_dict(run.source)},
            "judged": shape,
        }  # fmt: skip
        write_partial(frame, facts, path)

    def differences(self, other: PartialScores) -> Iterator[str]:
        """The differences from another part, in words, if the two are not of the same evaluation."""
        here, there = f"in {self.place}", f"in {other.place}"
        if self.version != other.version:
            yield f"rankscope was {self.version} {here}, {other.version} {there}"
        if self.of != other.of:
            yield f"{self.place} is {self.title}, {other.place} {other.title}"
        if self.qrels.sha256 != other.qrels.sha256:
            yield f"the judgments {here} and {there} differ"
        mine, theirs = self.share.run, other.share.run
        for what, one, two in (("run", mine.label, theirs.label), ("name of the run", mine.given, theirs.given)):
            if _last(one) != _last(two):
                yield f"the {what} is {one} {here}, {two} {there}"
        if mine.size != theirs.size:
            yield f"the run had {words.count(mine.size)} bytes {here}, {words.count(theirs.size)} {there}"
        if mine.changed != theirs.changed:
            yield f"the file of the run was written between {self.place} and {other.place}"
        yield from self._other_terms(other, here, there)

    def _other_terms(self, other: PartialScores, here: str, there: str) -> Iterator[str]:
        mine, theirs = self.terms, other.terms
        if mine["metrics"] != theirs["metrics"]:
            yield f"the metrics are {' '.join(mine['metrics'])} {here}, {' '.join(theirs['metrics'])} {there}"
        for name in POLICIES:
            if mine["policies"].get(name) != theirs["policies"].get(name):
                one, two = (part.request.statement_of(name) for part in (self, other))
                yield f"{name} {'differs' if one == two else f'was {one} {here}, {two} {there}'}"
        for name in ("facts", "interval", "level", "clusters", "clusters_sha256"):
            if mine[name] != theirs[name]:
                yield f"{name} was {_short(mine[name])} {here}, {_short(theirs[name])} {there}"


def _last(label: str | None) -> str | None:
    return None if label is None else Path(label).name


def _short(value: Any) -> str:
    return words.short(str(value))


def _source_dict(source: Source | None) -> dict[str, Any] | None:
    return None if source is None else {name: getattr(source, name) for name in TOLD}


def partition_of(text: Any) -> tuple[int, int]:
    """Number and count of a partition. Raises InputError for other values."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*", text) if isinstance(text, str) else None
    number, of = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= of:
        raise InputError(f"partition {text!r}: write which one of how many, like 3/8, from 1/8 to 8/8")
    return number, of


def evaluate_partition(qrels: Any, runs: Any, request: Request, partition: str) -> PartialScores:
    """Judge one partition of a run. Raises InputError for several runs, and for inputs that cannot be stored in a file."""
    number, of = partition_of(partition)
    named = list(named_runs(runs))
    if len(named) > 1:
        raise InputError(
            f"partitions are made of a single run, and there are {words.counted(len(named), 'run')}: evaluate each apart"
        )
    terms = terms_of(request)  # so that what cannot be kept is refused before any work
    grades = read_judgments(qrels, request)
    check_grades(grades, request)
    ((name, run),) = named
    share = judge_share(run, name, grades, request, number, of)
    if request.policies.columns is not None:
        request.policies.columns.refuse_absent()
    return PartialScores(number, of, request, terms, QrelsFacts.of(grades), share)


def terms_of(request: Request) -> dict[str, Any]:
    """A request as plain values from which it can be made again. Raises InputError for inputs that exist only in memory."""
    if request.policies.knows_items:
        raise InputError("items, histories and lengths are of all users together: evaluate the run as a whole")
    policies: dict[str, Any] = {}
    for name, policy in POLICIES.items():
        value = getattr(request.policies, name)
        if isinstance(value, Weights):
            value = {"label": value.label, "by_query": dict(value.by_query)}
        elif isinstance(value, frozenset):
            value = sorted(value)
        elif name == "fold" and value is not None:
            value = {"label": value.label, "documents": dict(value.documents)}
        elif name == "columns" and value is not None:
            value = dict(value)
        elif name == "fold_by" and value is not None:
            value = value.label
        if value != policy.default:
            policies[name] = value
    intervals = request.intervals
    terms = {
        "metrics": [m.spelling for m in request.metrics], "facts": list(request.facts), "policies": policies,
        "interval": None if intervals.interval is None else str(intervals.interval), "level": intervals.level,
        "clusters": _clusters(intervals.clusters), "clusters_sha256": _digest_of_clusters(intervals.clusters),
    }  # fmt: skip
    again = request_of(terms)
    if [m.metric for m in again.metrics] != [m.metric for m in request.metrics] or _told(again) != _told(request):
        raise InputError("these metrics and options cannot be written down by name: evaluate the run as a whole")
    return terms


def _told(request: Request) -> dict[str, Any]:
    return {**request.conventions(), "facts": dict(request.facts)}


def _clusters(source: Any) -> Any:
    if source is None or isinstance(source, str | Path):
        return None if source is None else str(source)
    if isinstance(source, Mapping):
        return {str(query): str(cluster) for query, cluster in source.items()}
    raise InputError("clusters of a partition are a file or {query: cluster}, which can be written down")


def _digest_of_clusters(source: Any) -> str | None:
    return open_raw(source, CLUSTERS).sha256() if isinstance(source, str | Path) else None


def check_clusters(terms: Mapping[str, Any]) -> None:
    """Raise InputError if the file of clusters has changed."""
    if _digest_of_clusters(terms["clusters"] if terms["clusters_sha256"] else None) != terms["clusters_sha256"]:
        raise InputError(
            f"{terms['clusters']}: the clusters have changed since the parts were made: make all parts again"
        )


def request_of(terms: Mapping[str, Any]) -> Request:
    """The request that these plain values describe."""
    policies = dict(terms["policies"])
    if "weights" in policies:
        policies["weights"] = Weights(policies["weights"]["by_query"], policies["weights"]["label"])
    if "fold" in policies:
        policies["fold"] = Fold(**policies["fold"])
    options = {name: terms[name] for name in ("interval", "level", "clusters")}
    return Request.of([*terms["metrics"], *terms["facts"]], policies, **options)


def _pack(share: JudgedShare, orders: Sequence[Order]) -> tuple[pl.DataFrame, dict[str, Any]]:
    columns: dict[str, Any] = {
        "query_id": pl.Series(share.queries, dtype=pl.String),
        "piece": share.piece,
        "judged": share.judged,
    }
    facts, where = [], ""
    for number, order in enumerate(orders):
        held = {"nothing": share.nothing[order]} if order in share.nothing else {}
        if order in share.findings:
            held["found"], seen = share.findings[order]
            facts.append(asdict(replace(seen, extra=(), missing=())))
        for kind, judged in held.items():
            columns |= _columns_of(judged, f"{kind}{number}.")
            where = where if judged.aspects is None else judged.aspects.where
    lists = [pl.Series(name, values).implode() for name, values in columns.items()]
    return pl.DataFrame([pl.Series(MARK, [1]), *lists]), {"facts": facts, "where": where}


def _columns_of(judged: Judged, prefix: str) -> dict[str, Any]:
    arrays = {name: getattr(judged, name) for name in FIELDS}
    aspects = judged.aspects
    arrays |= {} if aspects is None else {f"aspects.{name}": getattr(aspects, name) for name in ASPECT_FIELDS}
    columns = {prefix + name: array for name, array in arrays.items() if array is not None}
    return {f"{prefix}query_id": pl.Series(list(judged.query_id), dtype=pl.String), **columns}


def _unpack(frame: pl.DataFrame, shape: Mapping[str, Any], orders: Sequence[Order], run: ShareFacts) -> JudgedShare:
    lists = {name: frame[name].item() for name in frame.columns if name != MARK}
    findings = {
        order: (_judged(lists, f"found{number}.", shape["where"]), _facts(facts))
        for number, (order, facts) in enumerate(zip(orders, shape["facts"], strict=False))
    }
    nothing = {
        order: _judged(lists, f"nothing{number}.", shape["where"])
        for number, order in enumerate(orders)
        if f"nothing{number}.query_id" in lists
    }
    piece, judged = (lists[name].to_numpy() for name in ("piece", "judged"))
    return JudgedShare(lists["query_id"].to_list(), piece, judged, findings, run, nothing)


def _judged(lists: Mapping[str, pl.Series], prefix: str, where: str) -> Judged:
    arrays: dict[str, Any] = {name: lists[prefix + name].to_numpy() for name in FIELDS if prefix + name in lists}
    if f"{prefix}aspects.count" in lists:
        entries = {name: lists[f"{prefix}aspects.{name}"].to_numpy() for name in ASPECT_FIELDS}
        arrays["aspects"] = Aspects(**entries, where=where)
    return Judged(lists[f"{prefix}query_id"].to_list(), **arrays)


def _facts(fields: Mapping[str, Any]) -> DataFacts:
    by_cutoff = ("tied_at", "tied_in_top", "again_in_top")
    return _made(DataFacts, fields, **{name: {int(k): n for k, n in fields[name].items()} for name in by_cutoff})


def _made(kind: type[T], fields: Mapping[str, Any], **more: Any) -> T:
    return kind(**{n: tuple(value) if isinstance(value, list) else value for n, value in {**fields, **more}.items()})


def read_part(path: str | Path) -> PartialScores:
    """Read the partial result in a file. Raises InputError for another or an incomplete file."""
    frame, header = read_partial(path)
    if header["rankscope"] != __version__:
        raise InputError(
            f"{path}: made by rankscope {header['rankscope']}, and this is {__version__}: make and merge all parts with one version"
        )
    request = request_of(header["request"])
    qrels, run = header["qrels"], header["run"]
    sources = [one["source"] and _made(Source, one["source"]) for one in (qrels, run)]
    pieces = [(n, queries, _made(PartFacts, facts)) for n, queries, facts in run["pieces"]]
    head = run["head"] and _made(RunHead, run["head"])
    facts = _made(ShareFacts, run, source=sources[1], head=head, pieces=pieces)
    share = _unpack(frame, header["judged"], list(dict.fromkeys(request.orders)), facts)
    of_qrels = _made(QrelsFacts, qrels, source=sources[0])
    return PartialScores(
        header["number"], header["of"], request, header["request"], of_qrels, share, header["rankscope"], str(path)
    )
