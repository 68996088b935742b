"""Files to read, written into a fresh folder that is the current one, so that labels stay short."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest


def zstd(data: bytes) -> bytes:
    """Compress lines; Polars writes zstd, which Python before 3.14 does not."""
    lines = pl.DataFrame({"line": data.decode().split("\n")[: -1 if data.endswith(b"\n") else None]})
    out = io.BytesIO()
    try:
        lines.write_csv(out, include_header=False, quote_style="never", compression="zstd")
    except TypeError:
        pytest.skip("this Polars writes no zstd")
    return out.getvalue()


PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".zst": zstd}


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str | bytes], str]:
    monkeypatch.chdir(tmp_path)

    def write_one(name: str, content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        Path(name).write_bytes(PACK[Path(name).suffix if Path(name).suffix in PACK else ""](data))
        return name

    return write_one


@pytest.fixture(scope="session")
def pack() -> dict[str, Callable[[bytes], bytes]]:
    return PACK


@pytest.fixture(scope="session")
def data() -> Path:
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    if not folder.is_dir():
        if os.environ.get("RANKSCOPE_REQUIRE_DATA") == "1":
            pytest.fail(f"RANKSCOPE_REQUIRE_DATA=1, but there is no folder {folder}")
        pytest.skip("the real data is not here (../shared/data)")
    return folder
