"""Streams of zstd, by the standard library of Python 3.14 or the same module for older ones."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import IO, Any


def _module() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


class _Unpacked(io.RawIOBase):
    def __init__(self, file: IO[bytes] | Path) -> None:
        self.file, self.broken = _module().ZstdFile(file), _module().ZstdError

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return int(self.file.readinto(buffer))
        except self.broken as error:
            raise OSError(str(error)) from error

    def close(self) -> None:
        self.file.close()
        super().close()


def open_zstd(file: IO[bytes] | Path) -> io.BufferedReader:
    """Return a stream that unpacks a file of one or more frames; errors are OSError and EOFError, as for gzip."""
    return io.BufferedReader(_Unpacked(file), 1 << 18)


def first_bytes(data: bytes, size: int) -> bytes:
    """Return the first ``size`` bytes of a frame. Raises OSError for a damaged one."""
    zstd = _module()
    try:
        return bytes(zstd.ZstdDecompressor().decompress(data, size))
    except zstd.ZstdError as error:
        raise OSError(str(error)) from error
