"""Bytes of an input: a file or a stream, decompressed, with one clear line for each error."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import IO, Any, NoReturn

import polars as pl

from rankscope import words
from rankscope.errors import DataError, InputError
from rankscope.files.roles import ColumnRoles
from rankscope.parallel import check_memory
from rankscope.tables import Source


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _Unpacked(io.RawIOBase):
    """A stream that unpacks a ``file`` while it is read."""

    file: Any

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.file.close()
        super().close()


class _Unzstd(_Unpacked):
    def __init__(self, file: IO[bytes] | Path) -> None:
        self.file, self.broken = _zstd().ZstdFile(file), _zstd().ZstdError

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self.file.readinto(buffer))
        except self.broken as error:
            raise OSError(str(error)) from error


def first_of_zstd(data: bytes, size: int) -> bytes:
    """Return the first ``size`` bytes of a frame. Raises OSError for a damaged one."""
    zstd = _zstd()
    try:
        return bytes(zstd.ZstdDecompressor().decompress(data, size))
    except zstd.ZstdError as error:
        raise OSError(str(error)) from error


HEAD = 1 << 16
SMALL = 1 << 20  # bytes on disk: larger files may be read in parts
SMALL_PACKED = 1 << 18  # bytes on disk of gzip, which packs 1,032 to one at most
PIECE = 1 << 23  # bytes unpacked at once
PACKED_PIECE = 1 << 18  # bytes of a large gzip file read at once
LARGE_PACKED = 1 << 21  # bytes on disk of a large gzip file
LINE = 64 << 20  # bytes of the longest line
BOM = b"\xef\xbb\xbf"
PACKED = re.compile(rb"(\x1f\x8b)|(\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)")  # a frame of zstd may be one to skip
BLANK_BYTES = b" \t\r\n"
OLD_MAC = "lines end in a lone carriage return (old Mac): run tr '\\r' '\\n' on the file"
FIRST_LINE = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t\r\f\v]*[^\s#][^\n]*\n", re.MULTILINE)  # neither blank nor a comment
UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)  # errors of Polars for unreadable input
BROKEN = (OSError, EOFError, zlib.error)  # errors of gzip and zstd for damaged archives
FOREIGN = {
    b"BZh": ("bzip2", "run bunzip2 on it first"),
    b"\xfd7zXZ": ("xz", "run unxz on it first"),
    b"\x04\x22\x4d\x18": ("lz4", "run unlz4 on it first"),
    b"\xff\xfe": ("UTF-16 text", "write it as UTF-8"),
    b"\xfe\xff": ("UTF-16 text", "write it as UTF-8"),
    b"SQLite format": ("an SQLite database", "export the table as CSV or Parquet"),
    b"\x89HDF": ("an HDF5 file", "export the table as CSV or Parquet"),
    b"\x80\x04": ("a Python pickle", "write it as a TREC file, CSV, JSONL or Parquet"),
}


@dataclass(frozen=True, eq=False)
class Raw:
    """One input: the path of a file on disk, or the bytes of a stream, which can be read only once.

    ``feed`` is the path or the bytes, ``start`` the first bytes before decompression. ``stamp`` has the time of the last change and the
    size of a file when it was opened. ``columns`` are roles that the caller gave to columns by name.
    """

    label: str
    feed: Path | bytes = field(repr=False)
    start: bytes = field(repr=False)
    stamp: tuple[int, int] | None = None
    columns: ColumnRoles | None = field(default=None, repr=False)
    origin: Path | None = None  # the file, if ``feed`` has the bytes that were taken out of it

    @cached_property
    def compression(self) -> str:
        """The compression, detected by the bytes and not by the name: '', 'gzip' or 'zstd'."""
        packed = PACKED.match(self.start)
        return "" if packed is None else "gzip" if packed[1] else "zstd"

    @property
    def path_on_disk(self) -> Path | None:
        """The path of a file that is not compressed; None for an archive or a stream."""
        return self.feed if isinstance(self.feed, Path) and not self.compression else None

    @cached_property
    def head(self) -> bytes:
        """The first bytes, decompressed, with at least one whole line of content if it is no longer than ``LINE``."""
        start, size = b"" if self.compression else self.start, HEAD
        if not self.compression and (len(start) < HEAD or start.startswith(b"PAR1") or FIRST_LINE.search(start)):
            return start
        try:
            with self.unpack() as file:
                start, looked = b"", 0
                while looked < LINE and (piece := file.read(size)):
                    start = start + piece if start else piece if piece.strip(b"\r\n") else b""
                    looked += len(piece)
                    if len(start) >= HEAD and (start.startswith(b"PAR1") or FIRST_LINE.search(start)):
                        break
                    size = max(HEAD, looked)
        except BROKEN as error:
            self.fail(error)
        return start

    @property
    def size(self) -> int:
        """The bytes of the input; an estimate for an archive."""
        held = self.stamp[1] if self.stamp is not None else len(self.feed) if isinstance(self.feed, bytes) else 0
        return held * (4 if self.compression else 1)

    @property
    def first_line(self) -> str:
        """The first line as text."""
        line = self.head.removeprefix(BOM).lstrip(b"\r\n").split(b"\n", 1)[0]
        return line.rstrip(b"\r").decode("utf-8", "replace")

    @property
    def ending(self) -> str:
        """The ending of the name, in small letters and without ``.gz`` or ``.zst``: ``.csv`` for ``a.csv.gz``."""
        path = Path(self.label)
        return (path.with_suffix("") if path.suffix.lower() in {".gz", ".zst"} else path).suffix.lower()

    @property
    def is_small(self) -> bool:
        """True if the file is best read at once, and is small when unpacked."""
        size = len(self.feed) if isinstance(self.feed, bytes) else self.stamp[1] if self.stamp else 0
        return size <= {"": SMALL, "gzip": SMALL_PACKED}.get(self.compression, 0)

    def source(self, kind: str, **more: Any) -> Source:
        """Return this input as the source of a table."""
        path = str(self.origin or self.feed) if self.origin or isinstance(self.feed, Path) else None
        return Source(self.label, kind, path, sha256=self.sha256, same=self.same, **more)

    def read(self, longest: int | None = None) -> bytes:
        """Return all bytes, decompressed. Raises InputError if they exceed the memory, or a line is longer than ``longest``."""
        if self.compression and not self.is_small:
            return self._unpack_all(longest)
        if self.stamp is not None and self.stamp[1] > LINE:
            check_memory(self.label, self.stamp[1])
        data = self.feed.read_bytes() if isinstance(self.feed, Path) else self.feed
        try:
            data = gzip.decompress(data) if self.compression else data
        except BROKEN as error:
            self.fail(error)
        if longest is not None and len(data) > longest:
            next(check_lines(self.label, iter((data,)), longest))
        return data

    def text(self) -> bytes:
        """Return all bytes of a file with lines of at most ``LINE`` bytes, decompressed."""
        return self.read(LINE)

    def _unpack_all(self, longest: int | None) -> bytes:
        try:
            with self.unpack() as file:
                pieces: Iterator[bytes] = iter(partial(file.read, PIECE), b"")
                return _gather(self.label, check_lines(self.label, pieces, longest) if longest else pieces)
        except BROKEN as error:
            self.fail(error)

    def sha256(self) -> str:
        """Return the digest of the stored bytes. Raises DataError if the file has changed since it was read."""
        self.same()
        with self.origin.open("rb") if self.origin else self.open() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def same(self) -> None:
        """Raise DataError if the file has changed since it was read."""
        if self.stamp is None or not isinstance(self.feed, Path):
            return
        try:
            now = self.feed.stat()
            same = (now.st_mtime_ns, now.st_size) == self.stamp
        except OSError:
            same = False
        if not same:
            raise DataError(f"{self.label}: the file has changed since it was read: read and score it again")

    def fail(self, error: BaseException) -> NoReturn:
        """Raise the error of a reading library as one clear line."""
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "utf-8" in text.lower() or "utf8" in text.lower():
            place, remedy = "", "write the file as UTF-8 (iconv -f latin1 -t utf-8, if it is Latin-1)"
            if wrong := _first_wrong(self.read()):
                place, text = f" line {words.count(wrong[0])}", f": {wrong[1]!r}"
            raise InputError(f"{self.label}{place}: not UTF-8 text{text if place else ''}; {remedy}") from None
        if "too much memory" in text:
            problem = "packed with zstd --long, which takes more memory than is given: unpack it first"
            raise InputError(f"{self.label}: {problem}") from None
        if self.compression:
            early = any(sign in text for sign in ("unexpected end", "incomplete", "ended before", "premature"))
            what = "ends too early (a download or copy that stopped?)" if early else "is damaged"
            raise InputError(f"{self.label}: the {self.compression} file {what}: fetch or copy it again") from None
        raise InputError(f"{self.label}: cannot be read: {text}") from None

    def open(self) -> io.BytesIO | io.BufferedReader:
        """Return the stored bytes as a stream."""
        return self.feed.open("rb") if isinstance(self.feed, Path) else io.BytesIO(self.feed)

    def unpack(self) -> gzip.GzipFile | io.BytesIO | io.BufferedReader:
        """Return the bytes as a stream that decompresses while it is read."""
        if not self.compression:
            return self.open()
        if self.compression == "gzip" and self.stamp is not None and self.stamp[1] > LARGE_PACKED:
            return io.BufferedReader(_Gunzipped(self.open()), PACKED_PIECE)
        packed = self.feed if isinstance(self.feed, Path) else io.BytesIO(self.feed)
        return gzip.open(packed) if self.compression == "gzip" else io.BufferedReader(_Unzstd(packed), 1 << 18)

    def lines_frame(self) -> pl.DataFrame:
        """Return one row per line in a column ``line``."""
        schema, feed = {"line": pl.String}, self.path_on_disk or self.text()
        for separator in "\x01\x02\x03\x04":  # until one is in no line
            scan = pl.scan_csv(feed, separator=separator, has_header=False, quote_char=None, schema=schema, glob=False)
            try:
                return scan.collect()
            except pl.exceptions.NoDataError:
                return pl.DataFrame(schema=schema)
            except UNREADABLE as error:
                if "more fields" not in str(error):
                    self.fail(error)
        raise InputError(f"{self.label}: not a text file (it holds control characters)")


class _Gunzipped(_Unpacked):
    """A stream of gzip members: before Python 3.12 the standard reader takes a third longer.

    Raises EOFError for a stream cut short, OSError and zlib.error for a damaged one.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file, self.packed, self.member = file, b"", zlib.decompressobj(31)  # with head and checksum of gzip

    def readinto(self, buffer: Any) -> int:
        while True:
            if self.member.eof:
                self.packed = self.member.unused_data.lstrip(b"\0")
                while not self.packed and (piece := self.file.read(PACKED_PIECE)):
                    self.packed = piece.lstrip(b"\0")
                if not self.packed:
                    return 0
                self.member = zlib.decompressobj(31)
            packed = self.packed or self.file.read(PACKED_PIECE)
            data = self.member.decompress(packed, len(buffer))
            self.packed = self.member.unconsumed_tail
            if data:
                buffer[: len(data)] = data
                return len(data)
            if not packed and not self.member.eof:
                raise EOFError("it ended before its end was marked")


def is_blank(piece: bytes) -> bool:
    """True if a piece of a text has only blank lines."""
    return not piece[:64].strip(BLANK_BYTES) and not piece.translate(None, BLANK_BYTES)


def check_lines(label: str, pieces: Iterable[bytes], longest: int = LINE) -> Iterator[bytes]:
    """Yield the pieces of a text. Raises InputError at a line of more than ``longest`` bytes."""
    begun = before = 0  # bytes of the open line, and of all pieces so far
    for piece in pieces:
        at = -begun  # where the line begins
        while len(piece) - at > longest:
            end = piece.rfind(b"\n", max(at, 0), max(at + longest + 1, 0))
            if end < 0:
                where = f"the one that begins after {words.counted(before + at, 'byte')}"
                raise InputError(f"{label}: a line is longer than {longest >> 20} MB ({where}): is it a file of lines?")
            at = end + 1
        end = piece.rfind(b"\n", max(at, 0))
        begun = len(piece) - (at if end < 0 else end + 1)
        before += len(piece)
        yield piece


def _first_wrong(data: bytes) -> tuple[int, bytes] | None:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        stop = data.find(b"\n", error.start)
        return data.count(b"\n", 0, error.start) + 1, data[start : stop if stop >= 0 else None][:80].rstrip()
    return None


def open_raw(path: str | Path, expected: str) -> Raw:
    """Open an input; ``-`` is standard input. Raises InputError if there is none, or it is of a foreign format."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a file is needed, not a {type(path).__name__}; {expected}")
    if not str(path).strip():
        raise InputError("the path is empty")
    raw = _standard_input() if str(path) == "-" else _open_path(Path(path), str(path))
    if not raw.start:
        raise InputError(f"{raw.label}: the file is empty; {expected}")
    for magic, (what, remedy) in FOREIGN.items():
        if raw.start.startswith(magic):
            raise InputError(f"{raw.label}: this is {what}, which rankscope does not read: {remedy}")
    taken_out = next((take(raw) for magic, take in CONTAINERS.items() if raw.start.startswith(magic)), None)
    return raw if taken_out is None else taken_out


def _held(raw: Raw, data: bytes) -> Raw:
    origin = raw.feed if isinstance(raw.feed, Path) else None
    return Raw(raw.label, data, data[:HEAD], columns=raw.columns, origin=origin)


def _unzipped(raw: Raw) -> Raw:
    """Return the only file of a zip archive. Raises InputError for several files, or a damaged archive."""
    try:
        with raw.open() as file, zipfile.ZipFile(file) as archive:
            files = [one for one in archive.infolist() if not one.is_dir() and not one.filename.startswith("__MACOSX")]
            if len(files) != 1:
                raise InputError(
                    f"{raw.label}: a zip archive with {words.counted(len(files), 'file')}: unzip it first, and name one file"
                )
            check_memory(raw.label, files[0].file_size)
            with archive.open(files[0]) as member:
                return _held(raw, member.read(files[0].file_size))
    # the last two are zipfile's own errors of archives that it cannot read: of an unknown compression, and of an encrypted file
    except (*BROKEN, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{raw.label}: the zip archive cannot be read ({error}): fetch or copy it again") from None


def _of_arrow(raw: Raw, *, stream: bool = False) -> Raw:
    """Return the table of an Arrow IPC file or stream, as Parquet. Raises InputError for a damaged one."""
    out = io.BytesIO()
    read, what = (pl.read_ipc_stream, "stream") if stream else (pl.read_ipc, "file")
    try:
        read(io.BytesIO(raw.read())).write_parquet(out)
    except UNREADABLE as error:
        raise InputError(
            f"{raw.label}: the Arrow IPC {what} cannot be read ({error}): fetch or copy it again"
        ) from None
    return _held(raw, out.getvalue())


CONTAINERS: dict[bytes, Callable[[Raw], Raw]] = {
    b"PK\x03\x04": _unzipped,
    b"ARROW1": _of_arrow,
    b"\xff\xff\xff\xff": partial(_of_arrow, stream=True),  # the mark before each message of a stream
}


def _standard_input() -> Raw:
    if sys.stdin is None:  # as the shell's <&- leaves it
        raise InputError("standard input is closed: give a file instead of -, or a pipe")
    try:
        return _of_stream("standard input", sys.stdin.buffer)
    except OSError as error:
        raise InputError(f"standard input: cannot be read: {error.strerror or error}") from None


def _gather(label: str, pieces: Iterable[bytes]) -> bytes:
    """Return the pieces as one. Raises InputError if they exceed the memory."""
    out, checked = io.BytesIO(), 2 * LINE
    for piece in pieces:
        out.write(piece)
        if out.tell() > checked:
            check_memory(label, checked := 2 * checked)
    return out.getvalue()


def _of_stream(label: str, stream: IO[bytes]) -> Raw:
    _refuse_device(label, stream)
    data = _gather(label, iter(partial(stream.read, PIECE), b""))
    return Raw(label, data, data[:HEAD])


def _refuse_device(label: str, stream: IO[bytes]) -> None:
    """Reject devices that never end, such as /dev/zero; terminals and /dev/null end."""
    try:
        status = os.fstat(stream.fileno())
    except (OSError, AttributeError):  # a stream in memory
        return
    device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    if device and not stream.isatty() and status.st_rdev != os.stat(os.devnull).st_rdev:
        raise InputError(f"{label}: a device, not a file")


def _open_path(path: Path, label: str) -> Raw:
    try:
        path = Path(os.path.expanduser(path))  # Path.expanduser raises for an unknown user
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            odd = str(path).encode("utf-8", "ignore").decode() != str(path)  # a name that Polars cannot open
            if odd or not stat.S_ISREG(status.st_mode):  # a pipe, such as <(zcat run.gz), gives its bytes once
                return _of_stream(label, file)
            return Raw(label, path, file.read(HEAD), (status.st_mtime_ns, status.st_size))
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{label}: no such file{near_file(path)}") from None
    except IsADirectoryError:
        raise InputError(f"{label}: a folder, not a file: name the files in it") from None
    except PermissionError:
        raise InputError(f"{label}: no permission to read this file (chmod +r makes it readable)") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{label}: cannot be opened: {getattr(error, 'strerror', None) or error}") from None


def is_path(source: Any) -> bool:
    """True if a source names a file."""
    return isinstance(source, str | PathLike)


def near_file(path: Path) -> str:
    """Return the end of a message about a missing file: the nearest name in its folder, if any."""
    try:
        names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
    except OSError:
        return ""
    return words.hint(path.name, names, otherwise="", offer=lambda name: str(path.with_name(name)))
