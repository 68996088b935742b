"""Spark: brings the rows of each query together, and maps a function over parts of some whole queries. The only place that imports pyspark.

A row that Spark moves and sorts by itself costs it more than all that is computed of it. So rows are packed where they lie: those of a few
hundred thousand that fall into the same bucket by the hash of their query become one value in Arrow's format, and Spark brings the values of
a bucket together. Nothing here knows a metric: what is mapped is a function of Polars frames. Frames of Spark Connect are taken like
classic ones.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from rankscope import words
from rankscope.engines.packing import BUCKET, Columns, PartStream, RowPacker, packed_columns
from rankscope.errors import DataError, InputError, MissingExtraError, RankscopeError

if TYPE_CHECKING:  # whoever asks whether something is a Spark frame does not load it
    import polars as pl

    from rankscope.engines.remote_queries import RowReading

LACKING = "Spark needs pyspark, pyarrow and pandas: pip install 'rankscope[spark]'"
SHIP = (
    "install rankscope there in the same version, or ship an environment that holds it (venv-pack -o env.tar.gz, then "
    "spark.archives=env.tar.gz#env and PYSPARK_PYTHON=env/bin/python)"
)
STEADY = "write the frame to a table, or take frame.checkpoint(), and evaluate that"
ROWS = 1 << 18  # about so many rows make a part
BUCKETS = 512  # at least so many; some make a part
MOST_BUCKETS = (1 << 15) - 1  # a smallint
OPTIONS = {"rankscope.part.rows": ROWS, "rankscope.broadcast.rows": 100_000}  # as Spark has them: spark.rankscope...
ORDER = "row"
TRIES = 3  # executors are rarely lost: after the last try something else is wrong
WHOLE = ("tinyint", "smallint", "int", "bigint")
FRACTIONS = ("float", "double")

Frame = Any  # a DataFrame of pyspark, classic or Connect
T = TypeVar("T")
RowFunction = Callable[[Iterable[Any]], Iterator["pl.DataFrame"]]  # of the Arrow batches of a partition
PartFunction = Callable[[PartStream], Iterator["pl.DataFrame"]]  # of the parts of a partition, which hold whole queries


def is_frame(source: object) -> bool:
    """True if an object is a Spark DataFrame. Does not import pyspark."""
    return any(cls.__name__ == "DataFrame" and cls.__module__.startswith("pyspark.sql") for cls in type(source).__mro__)


def functions() -> Any:
    """pyspark.sql.functions. Raises MissingExtraError if Spark is not there, or not all that it needs."""
    try:
        import pyarrow as pa  # noqa: F401
        from pyspark.sql import functions
    except ImportError:
        raise MissingExtraError(LACKING) from None
    if find_spec("pandas") is None:  # pyspark hands over Arrow by it
        raise MissingExtraError(LACKING)
    return functions


def _ask(question: Callable[[], Any]) -> Any:
    """Return the answer of Spark. Raises its errors as one line each."""
    try:
        return question()
    except Exception as error:  # noqa: BLE001 - goes on where it is none of ours
        fail(error)


def option(frame: Frame, name: str) -> int:
    """A setting of the session, a whole number of at least 1: ``spark.rankscope.part.rows``, ``spark.rankscope.broadcast.rows``."""
    text = frame.sparkSession.conf.get(f"spark.{name}", str(OPTIONS[name]))
    if not re.fullmatch(r"\d{1,12}", text) or (name == "rankscope.part.rows" and not int(text)):
        raise InputError(f"spark.{name}={text!r}: give the number of rows, like {OPTIONS[name]}")
    return int(text)


def kinds_of(frame: Frame) -> dict[str, str]:
    """The columns of a frame with their types: ``text``, ``whole``, ``float``, or the name of another type."""
    fields = _ask(lambda: frame.schema.fields)  # the frame may name a column or a file that there is not
    return {field.name: _kind(field.dataType.simpleString()) for field in fields}


def _kind(name: str) -> str:
    if name.startswith(("string", "char", "varchar")):
        return "text"
    if name in WHOLE:
        return "whole"
    return "float" if name in FRACTIONS or name.startswith("decimal") else name


def lay_out(
    frame: Frame,
    columns: Mapping[str, tuple[str, str]],
    ordered: bool,
    floats: Mapping[str, tuple[str, str]] | None = None,
) -> Frame:
    """The columns of a frame under other names and types.

    ``columns`` gives for each name the column and its type; with ``ordered`` also a number that rises with the rows of the frame.
    ``floats`` are the columns that hold ids as floats, with what is said of fractions and of floats that stand for several whole
    numbers: these are a ``fault`` of their row.
    """
    F = functions()
    chosen = {role: _column(name).cast(kind) for role, (name, kind) in columns.items()}
    for role, (fraction, large) in (floats or {}).items():
        number = _column(columns[role][0]).cast("double")
        present, whole, exact = ~F.isnan(number), number == F.floor(number), F.abs(number) < 2.0**53
        chosen[role] = F.when(present & whole & exact, number.cast("bigint").cast("string"))
        fault = F.when(present & ~whole, F.format_string(fraction, number)).when(
            present & ~exact, F.format_string(large, number)
        )
        chosen["fault"] = F.coalesce(chosen["fault"], fault) if "fault" in chosen else fault
    named = [column.alias(role) for role, column in chosen.items()]
    return frame.select(*named, *([F.monotonically_increasing_id().alias(ORDER)] if ordered else []))


def _column(name: str) -> Any:
    return functions().col(f"`{name.replace('`', '``')}`")


def restore_floats(frame: Frame, names: Sequence[str], pattern: str) -> Frame:
    """Restore columns of texts that were floats, if every text fits this ``pattern``. The first row says which columns to test."""
    F = functions()
    first = _ask(lambda: frame.select(*map(_column, names)).limit(1).collect())
    cells = zip(names, first[0] if first else (), strict=False)
    likely = [name for name, text in cells if re.fullmatch(pattern, (text or "").strip())]
    if not likely:
        return frame
    other = [F.max(~F.trim(_column(name)).rlike(f"^({pattern})?$")) for name in likely]
    has_other = _ask(lambda: frame.select(*other).collect())[0]
    for name, odd in zip(likely, has_other, strict=True):
        text = F.trim(_column(name))
        frame = frame if odd else frame.withColumn(name, F.when(text != "", text.cast("double")))
    return frame


def of_polars(session: Any, frame: pl.DataFrame) -> Frame:
    """A Polars frame as one of Spark."""
    import polars as pl
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    return session.createDataFrame(table.cast(pa.schema([(f.name, _plain(f.type)) for f in table.schema])))


def _plain(kind: Any) -> Any:
    import pyarrow as pa

    return {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}.get(kind, kind)


def first_rows(frame: Frame, rows: int) -> pl.DataFrame | None:
    """All rows of a small frame, None above the limit: asked without columns first, as ``limit`` computes all partitions up to the last row."""
    more = _ask(lambda: frame.select(functions().lit(1)).offset(rows).limit(1).collect())
    return None if more else collect(frame)


def _map_parts(
    batches: Iterable[Any], function: PartFunction, rows: int, columns: Mapping[int, Columns], schema: Columns
) -> Iterator[Any]:
    """Yield the answers of a function for packed rows. Rows of one bucket are adjacent, and a part has about ``rows`` rows."""
    return _batches_of(function(PartStream(batches, rows, columns)), schema)


def _map_rows(batches: Iterable[Any], function: RowFunction, schema: Columns) -> Iterator[Any]:
    return _batches_of(function(batches), schema)


def _read_and_pack(batches: Iterable[Any], reading: RowReading, packer: RowPacker) -> Iterator[Any]:
    return packer(reading(batches))


def _batches_of(frames: Iterable[pl.DataFrame], columns: Columns) -> Iterator[Any]:
    import polars as pl
    import pyarrow as pa

    types = {"string": pa.string(), "double": pa.float64(), "int": pa.int32(), "binary": pa.binary()}
    schema = pa.schema([(name, types[kind]) for name, kind in columns])
    for frame in frames:
        lacking = [pl.lit(None).alias(name) for name in schema.names if name not in frame.columns]
        table = frame.with_columns(lacking).select(schema.names).to_arrow(compat_level=pl.CompatLevel.oldest())
        yield from table.cast(schema).to_batches()


def map_rows(frame: Frame, function: RowFunction, schema: Columns) -> Frame:
    """Map a function over the batches of each partition."""
    return frame.mapInArrow(partial(_map_rows, function=function, schema=schema), _written(schema))


def map_read_parts(frame: Frame, reading: RowReading, function: PartFunction, schema: Columns) -> Frame:
    """Map a function over parts of the rows that ``reading`` makes of a frame. Rows with one key, the first column, are in one part."""
    rows, buckets = option(frame, "rankscope.part.rows"), _buckets(frame)
    packer = RowPacker(0, reading.columns, 2 * rows, buckets, len(reading.columns))
    read = partial(_read_and_pack, reading=reading, packer=packer)
    values = [frame.mapInArrow(read, _written(packed_columns(packer.pieces)))]
    return _mapped(values, function, rows, {0: reading.columns}, schema)


def columns_of(frame: Frame, names: Sequence[str], order: str = "") -> Frame:
    """These columns of a frame as c0, c1 ... (Spark maps no dots or accents), and as ``order`` a number that rises with its rows."""
    number = [functions().monotonically_increasing_id().alias(order)] if order else []
    return frame.select(*(_column(name).alias(f"c{at}") for at, name in enumerate(names)), *number)


def pickler() -> Any:
    """Return the module that pickles functions like Spark."""
    from pyspark import cloudpickle

    return cloudpickle


def schema_of(frame: Frame) -> dict[str, pl.DataType]:
    """The columns of a frame with their types in Polars."""
    return dict(collect(frame.limit(0)).schema)


def map_parts(frames: Mapping[int, Frame], key: str, function: PartFunction, schema: Columns) -> Frame:
    """A function (importable where Spark runs it) mapped over parts of whole queries. ``frames`` are the sources by number, ``key`` their column of queries."""
    first = next(iter(frames.values()))
    rows, buckets = option(first, "rankscope.part.rows"), _buckets(first)
    columns: dict[int, Columns] = {}
    laid: dict[int, Frame] = {}
    for source, frame in frames.items():
        laid[source] = frame.select(key, *(name for name in frame.columns if name != key))
        columns[source] = tuple((field.name, field.dataType.simpleString()) for field in laid[source].schema.fields)
    pieces = max(map(len, columns.values()))
    packed = _written(packed_columns(pieces))
    values = [
        frame.mapInArrow(RowPacker(source, columns[source], 2 * rows, buckets, pieces), packed)
        for source, frame in laid.items()
    ]
    return _mapped(values, function, rows, columns, schema)


def _buckets(frame: Frame) -> int:
    tasks = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions", "200"))
    return min(max(BUCKETS, 4 * tasks), MOST_BUCKETS)


def _mapped(
    packed: Sequence[Frame], function: PartFunction, rows: int, columns: Mapping[int, Columns], schema: Columns
) -> Frame:
    values = reduce(lambda one, other: one.union(other), packed)
    together = values.repartition(functions().col(BUCKET)).sortWithinPartitions(BUCKET)
    mapper = partial(_map_parts, function=function, rows=rows, columns=columns, schema=schema)
    return together.mapInArrow(mapper, _written(schema))


def _written(schema: Columns) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in schema)


def retry(job: Callable[[int], T]) -> T:
    """Do a job, and again if an executor was lost with rows that others had fetched. It is given the number of the try."""
    for number in range(1, TRIES):
        try:
            return job(number)
        except LostRowsError:
            continue
    return job(TRIES)


def check_rows(more: int, check: int) -> None:
    """Check that each packed row was unpacked once, by the count of rows and a 64-bit sum of their hashes. Raises DataError."""
    if more or check % (1 << 64):
        rows = f"{words.counted(abs(more), 'row')} {'more' if more > 0 else 'fewer'}" if more else "other rows"
        raise DataError(
            f"Spark handed over {rows} than it had read: a lost task was run again and its frame had changed: " + STEADY
        )


def collect(frame: Frame) -> pl.DataFrame:
    """Collect all rows of a frame. Raises one line for an error on an executor."""
    import polars as pl

    return pl.DataFrame(pl.from_arrow(_ask(frame.toArrow)))


class LostRowsError(DataError):
    """An executor was lost, its rows came in another order or were others when they were computed again, and Spark gave the job up."""


def _here() -> str:
    """Return the remedy for executors on this machine that run another Python."""
    if "PYSPARK_PYTHON" in os.environ:
        return ""
    return f"if they run on this machine, set PYSPARK_PYTHON={sys.executable} before Spark starts. Otherwise "


def fail(error: Exception) -> NoReturn:
    """Raise an error of Spark as one line. An error that the user did not cause is raised unchanged."""
    if isinstance(error, RankscopeError):
        raise error
    text = str(error)
    missing = re.findall(r"No module named '([\w.]+)'", text)
    if missing:
        raise InputError(f"the executors have no {missing[-1].partition('.')[0]}: {_here()}{SHIP}") from None
    if "PYTHON_VERSION_MISMATCH" in text or "different version" in text:
        raise InputError(f"the executors run another version of Python: {_here()}{SHIP}") from None
    if "indeterminate output" in text:
        raise LostRowsError(f"Spark lost rows, and others came when it computed them again: {STEADY}") from None
    if "AnalysisException" in "".join(cls.__name__ for cls in type(error).__mro__):
        raise InputError(f"Spark cannot read this: {' '.join(text.split())[:300]}") from None
    raise error


def pickled(value: object) -> bytes:
    """Pickle an object for executors, also if its class was defined in a notebook."""
    functions()
    return bytes(pickler().dumps(value))


ADAPTIVE = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


def keep(frame: Frame) -> Frame:
    """The frame, kept by Spark once it was computed, in as many partitions as suit its size (Spark's own number of small tasks takes longer)."""
    settings = frame.sparkSession.conf
    before = settings.get(ADAPTIVE, "false")
    settings.set(ADAPTIVE, "true")
    try:
        return frame.persist()
    finally:
        settings.set(ADAPTIVE, before)


def session_of(master: str | None) -> Any:
    """The Spark session there is, or a new one at this master (``local[2]``, ``spark://host:7077``, or of Connect ``sc://host``)."""
    functions()
    from pyspark.sql import SparkSession

    if master is not None and master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # otherwise workers run any python3
    builder = SparkSession.builder.appName("rankscope").config("spark.ui.showConsoleProgress", "false")
    if master is not None:
        builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    try:
        return builder.getOrCreate()
    except Exception as error:
        text = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"Spark cannot be started at {master or 'its default master'}: {text}. Is Java 17 or newer there?"
        ) from error


def read_parquet(session: Any, path: str) -> Frame:
    """Read a Parquet file or a folder of Parquet files."""
    return _ask(lambda: session.read.parquet(path))


def read_columns(session: Any, path: str, separator: str) -> Frame:
    """CSV with a header, all columns as strings."""
    return _ask(lambda: session.read.option("escape", '"').csv(path, sep=separator, header=True, inferSchema=False))


def read_jsonl(session: Any, path: str, keys: Sequence[str]) -> Frame:
    """One JSON object a line, these keys as strings."""
    from pyspark.sql.types import StringType, StructField, StructType

    F = functions()
    schema = StructType([StructField(key, StringType()) for key in [*keys, "_broken"]])
    frame = _ask(lambda: session.read.json(path, schema=schema, columnNameOfCorruptRecord="_broken"))
    fault = F.concat(F.lit("not a JSON object: "), F.substring("_broken", 1, 80))
    return frame.withColumn("fault", fault).drop("_broken")


def read_lines(session: Any, path: str, names: Mapping[str, int], width: int, expected: str) -> Frame:
    """Split lines at white space into ``width`` columns and return the columns in ``names``. A line of another width has a ``fault``."""
    F = functions()
    line = F.trim(F.regexp_replace("value", r"\s+", " "))
    lines = _ask(lambda: session.read.text(path)).select(line.alias("line")).where("line != '' and line not like '#%'")
    cells = F.split("line", " ")
    fault = F.concat(F.lit("a line has "), F.size(cells), F.lit(f" columns, {expected}: "), F.substring("line", 1, 80))
    wrong = F.when(F.size(cells) != width, fault).alias("fault")
    return lines.select(*(F.get(cells, at).alias(name) for name, at in names.items()), wrong)


def head_of(session: Any, path: str, rows: int) -> list[str]:
    """The first lines of a file."""
    return [row.value for row in _ask(lambda: session.read.text(path).limit(rows).collect())]
