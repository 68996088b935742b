"""Files that are written: each is there in full or not at all, whatever ends the work in between."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from rankscope.errors import InputError, RankscopeError


def write_file(path: str | Path, pieces: Iterable[str | bytes]) -> None:
    """Write a file beside its place and move it there when all of it is on the disk; what was there is replaced at once.

    Text becomes UTF-8, and halves of characters their escapes. A pipe or a device is written to as it is, and a link is followed.
    Raises InputError where it cannot be written, and leaves nothing then.
    """
    try:
        if Path(path).exists() and not Path(path).is_file():
            with Path(path).open("wb") as stream:
                stream.writelines(map(_as_bytes, pieces))
        else:
            _replace(Path(os.path.realpath(path)), map(_as_bytes, pieces))
    except (
        BrokenPipeError,
        RankscopeError,
    ):  # the reader of a pipe went away; or who makes the pieces has something to say
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None


def _replace(place: Path, pieces: Iterable[bytes]) -> None:
    # a short name of its own: that of the file may be as long as names can be
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=".rankscope-", suffix=".part")
    beside = Path(name)
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


def _as_bytes(piece: str | bytes) -> bytes:
    return piece if isinstance(piece, bytes) else piece.encode("utf-8", "backslashreplace")
