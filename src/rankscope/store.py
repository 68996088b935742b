"""Written files: each is complete or absent, whatever interrupts the work."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from zlib import crc32

from rankscope.errors import InputError, RankscopeError


def write_file(path: str | Path, pieces: Iterable[str | bytes]) -> None:
    """Write a file next to its place and move it there when all is on the disk. Pipes, devices and links are followed. Raises InputError if it fails."""
    try:
        if Path(path).exists() and not Path(path).is_file():
            with Path(path).open("wb") as stream:
                stream.writelines(map(as_bytes, pieces))
        else:
            _replace(Path(os.path.realpath(path)), map(as_bytes, pieces))
    except (BrokenPipeError, RankscopeError):  # a closed pipe, or an error of the pieces themselves
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None


def _replace(place: Path, pieces: Iterable[bytes]) -> None:
    handle, beside, lock = _open_part(place)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
            stream.flush()
            os.fsync(stream.fileno())  # some disks say only now that they are full
        mask = os.umask(0)
        os.umask(mask)
        beside.chmod(place.stat().st_mode & 0o777 if place.exists() else 0o666 & ~mask)
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _open_part(place: Path) -> tuple[int, Path, int | None]:
    """A file open for writing next to a place, its path, and what holds its lock, if it has one.

    It has a short name, as that of the place may be as long as names can be, and the same one each time, so that what a process left that was
    killed is written over by the next. One that another process is writing is left alone: then there is a name for this time.
    """
    beside = place.parent / f".rankscope-{crc32(os.fsencode(place.name)):08x}.part"
    made = not beside.exists()
    try:
        import fcntl

        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except (ImportError, OSError):
        return _open_new(place)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # a process that ends lets go of it, however it ends
        ours, there = os.fstat(handle), os.stat(beside, follow_symlinks=False)
        if os.path.samestat(ours, there) and ours.st_uid == os.geteuid() and ours.st_nlink == 1:
            os.truncate(handle, 0)
            return handle, beside, os.dup(handle)
    except BlockingIOError:
        made = False
    except OSError:  # gone to its place meanwhile, or on a disk without locks
        if made:
            beside.unlink(missing_ok=True)
    os.close(handle)
    return _open_new(place)


def _open_new(place: Path) -> tuple[int, Path, None]:
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=".rankscope-", suffix=".part")
    return handle, Path(name), None


def as_bytes(piece: str | bytes) -> bytes:
    """A piece as it is written: text as UTF-8."""
    return piece if isinstance(piece, bytes) else piece.encode("utf-8", "backslashreplace")
