"""The bytes of an input: a file or a stream, decompressed, with clear errors where it cannot be read."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import sys
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NoReturn

import polars as pl

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.tables import MARK, PARTIAL, Source

HEAD = 1 << 16
SMALL = 1 << 20  # bytes on disk: what is larger may be read in parts
BOM = b"\xef\xbb\xbf"
PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
FOREIGN = {
    b"PK\x03\x04": ("a zip archive", "unzip it first"),
    b"BZh": ("bzip2", "run bunzip2 on it first"),
    b"\xfd7zXZ": ("xz", "run unxz on it first"),
    b"\x04\x22\x4d\x18": ("lz4", "run unlz4 on it first"),
    b"\xff\xfe": ("UTF-16 text", "write it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "write it as UTF-8"),
    b"SQLite format": ("an SQLite database", "export the table as CSV or Parquet"),
    b"\x89HDF": ("an HDF5 file", "export the table as CSV or Parquet"),
    b"\x80\x04": ("a Python pickle", "write it as a TREC file, CSV, JSONL or Parquet"),
    b"ARROW1": ("an Arrow file", "write it as Parquet"),
}


@dataclass(frozen=True, eq=False)
class Raw:
    """One input: a file that stays on disk, or the bytes of a stream, which can be read only once.

    ``feed`` is what Polars reads: the path, so that the file need not pass through Python, or the bytes. ``start`` are its first bytes
    as they lie there. ``stamp`` is when a file was last written, and its size, as it was found.
    """

    label: str
    feed: Path | bytes = field(repr=False)
    start: bytes = field(repr=False)
    stamp: tuple[int, int] | None = None

    @cached_property
    def compression(self) -> str:
        """How the bytes are compressed, told by the bytes and not by the name: '', 'gzip' or 'zstd'."""
        return next((kind for magic, kind in PACKED.items() if self.start.startswith(magic)), "")

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed."""
        if self.compression == "gzip":
            try:
                with self.unpack() as file:
                    start = file.read1(HEAD)
                    while len(start) < HEAD and (piece := file.read1(HEAD)):
                        start += piece
                    return start
            except (OSError, EOFError, zlib.error) as error:
                self.fail(error)
        return self._unzstd(rows=500) if self.compression == "zstd" else self.start

    @property
    def size(self) -> int:
        """How many bytes there are, or about how many when unpacked."""
        held = self.stamp[1] if self.stamp is not None else len(self.feed) if isinstance(self.feed, bytes) else 0
        return held * (4 if self.compression else 1)

    @property
    def first_line(self) -> str:
        """The first line as text."""
        line = self.head.removeprefix(BOM).lstrip(b"\r\n").split(b"\n", 1)[0]
        return line.rstrip(b"\r").decode("utf-8", "replace")

    @property
    def ending(self) -> str:
        """What the name ends with, in small letters and without that of a compressed file: ``.csv`` of ``a.csv.gz``."""
        path = Path(self.label)
        return (path.with_suffix("") if path.suffix.lower() in {".gz", ".zst"} else path).suffix.lower()

    @property
    def is_small(self) -> bool:
        """Whether the file is best read at once."""
        return (len(self.feed) if isinstance(self.feed, bytes) else self.stamp[1] if self.stamp else 0) <= SMALL

    def source(self, kind: str, **more: Any) -> Source:
        """This file as the source of a table."""
        path = str(self.feed) if isinstance(self.feed, Path) else None
        return Source(self.label, kind, path, sha256=self.sha256, same=self.same, **more)

    def read(self) -> bytes:
        """All bytes, decompressed."""
        if self.compression == "zstd":
            return self._unzstd(rows=None)
        data = self.feed.read_bytes() if isinstance(self.feed, Path) else self.feed
        if self.compression == "gzip":
            try:
                return gzip.decompress(data)
            except (OSError, EOFError, zlib.error) as error:
                self.fail(error)
        return data

    def sha256(self) -> str:
        """Digest of the bytes as they lie in the file, compressed or not. Raises DataError where the file has changed since it was read."""
        self.same()
        with self.open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def same(self) -> None:
        """Raise DataError where the file is no longer the one that was read."""
        if self.stamp is None or not isinstance(self.feed, Path):
            return
        try:
            found = self.feed.stat()
            same = (found.st_mtime_ns, found.st_size) == self.stamp
        except OSError:
            same = False
        if not same:
            raise DataError(f"{self.label}: the file has changed since it was read: read and score it again")

    def fail(self, error: Exception) -> NoReturn:
        """Raise what the reading library said as one line of ours."""
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "utf-8" in text.lower() or "utf8" in text.lower():
            self._fail_utf8(error)
        if self.compression:
            early = any(sign in text for sign in ("unexpected end", "incomplete", "ended before", "premature"))
            what = "ends too early (a download or copy that stopped?)" if early else "is damaged"
            raise InputError(f"{self.label}: the {self.compression} file {what}: fetch or copy it again") from error
        raise InputError(f"{self.label}: cannot be read: {text}") from error

    def _fail_utf8(self, error: Exception) -> NoReturn:
        where = f"{self.label}: not UTF-8 text"
        if self.compression != "zstd" and (wrong := _first_wrong(self.read())):
            where = f"{self.label} line {words.count(wrong[0])}: not UTF-8 text: {wrong[1]!r}"
        raise InputError(f"{where}; write the file as UTF-8 (iconv -f latin1 -t utf-8, if it is Latin-1)") from error

    def open(self) -> io.BytesIO | io.BufferedReader:
        """The bytes as they lie in the file, as a stream."""
        return self.feed.open("rb") if isinstance(self.feed, Path) else io.BytesIO(self.feed)

    def unpack(self) -> gzip.GzipFile | io.BytesIO | io.BufferedReader:
        """The bytes as a stream, decompressed as they are read."""
        if self.compression == "gzip":
            return gzip.open(self.feed if isinstance(self.feed, Path) else io.BytesIO(self.feed))
        return io.BytesIO(self.read()) if self.compression == "zstd" else self.open()

    def scan_parquet(self) -> pl.LazyFrame:
        """The columns of a Parquet file, read when they are asked for. Raises InputError for a damaged one."""
        try:
            whole = isinstance(self.feed, Path) and not self.compression
            scan = pl.scan_parquet(self.feed if whole else io.BytesIO(self.read()), glob=False)
            partial = MARK in scan.collect_schema()
        except (pl.exceptions.PolarsError, OSError) as error:
            self.fail_parquet(error)
        if partial:
            raise InputError(f"{self.label}: {PARTIAL}")
        return scan

    def fail_parquet(self, error: Exception) -> NoReturn:
        """Raise what the reading library said of a Parquet file."""
        text = str(error).splitlines()[0]
        raise InputError(f"{self.label}: not a whole Parquet file ({text}): fetch or write it again") from error

    def lines_frame(self, rows: int | None = None) -> pl.DataFrame:
        """One row a line in a column ``line``; Polars decompresses."""
        schema = {"line": pl.String}
        for separator in "\x01\x02\x03\x04":  # one that stands in no line
            scan = pl.scan_csv(
                self.feed, separator=separator, has_header=False, quote_char=None, schema=schema, n_rows=rows, glob=False
            )  # fmt: skip
            try:
                return scan.collect()
            except pl.exceptions.NoDataError:
                return pl.DataFrame(schema=schema)
            except (pl.exceptions.PolarsError, OSError) as error:
                if "more fields" not in str(error):
                    self.fail(error)
        raise InputError(f"{self.label}: not a text file (it holds control characters)")

    def _unzstd(self, rows: int | None) -> bytes:
        # Python has no zstd before 3.14 and Polars hands out no bytes, so they pass through lines
        out = io.BytesIO()
        self.lines_frame(rows).write_csv(out, include_header=False, quote_style="never")
        return out.getvalue()


def _first_wrong(data: bytes) -> tuple[int, bytes] | None:
    """Line and text of the first line that is not UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        stop = data.find(b"\n", error.start)
        return data.count(b"\n", 0, error.start) + 1, data[start : stop if stop >= 0 else None][:80].rstrip()
    return None


def open_raw(path: str | Path, expected: str) -> Raw:
    """Open an input, or raise an error of one line; ``-`` is standard input."""
    if not str(path).strip():
        raise InputError("the path is empty")
    raw = _standard_input() if str(path) == "-" else _open_path(Path(path), str(path))
    if not raw.start:
        raise InputError(f"{raw.label}: the file is empty; {expected}")
    for magic, (what, remedy) in FOREIGN.items():
        if raw.start.startswith(magic):
            raise InputError(f"{raw.label}: this is {what}, which rankscope does not read: {remedy}")
    return raw


def _standard_input() -> Raw:
    if sys.stdin is None:  # as the shell's <&- leaves it
        raise InputError("standard input is closed: give a file in place of -, or a pipe")
    try:
        return _of_stream("standard input", sys.stdin.buffer)
    except OSError as error:
        raise InputError(f"standard input: cannot be read: {error.strerror or error}") from error


def _of_stream(label: str, stream: IO[bytes]) -> Raw:
    data = stream.read()
    return Raw(label, data, data[:HEAD])


def _open_path(path: Path, label: str) -> Raw:
    try:
        path = Path(os.path.expanduser(path))  # Path.expanduser fails where there is no such user
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            odd = str(path).encode("utf-8", "ignore").decode() != str(path)  # a name that Polars cannot be given
            if odd or not stat.S_ISREG(found.st_mode):  # a pipe, as from <(zcat run.gz): it gives its bytes once
                return _of_stream(label, file)
            return Raw(label, path, file.read(HEAD), (found.st_mtime_ns, found.st_size))
    except FileNotFoundError as error:
        raise InputError(f"{label}: no such file{_near(path)}") from error
    except IsADirectoryError as error:
        raise InputError(f"{label}: a folder, not a file: name the files in it") from error
    except PermissionError as error:
        raise InputError(f"{label}: no permission to read this file (chmod +r makes it readable)") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{label}: cannot be opened: {getattr(error, 'strerror', None) or error}") from error


def _near(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    except OSError:
        return ""
    return words.hint(path.name, names, otherwise="", offer=lambda name: str(path.with_name(name)))
