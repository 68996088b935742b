"""What a page carries compressed is unpacked to the byte, however it was packed, and damage is told."""

from __future__ import annotations

import base64
import random
import zlib
from importlib.resources import files
from typing import Any

import pytest

# level and strategy of zlib: stored blocks, blocks with the usual codes, with codes of their own, without copies, with runs alone
WAYS = {"stored": (0, zlib.Z_DEFAULT_STRATEGY), "usual": (9, zlib.Z_FIXED), "own": (9, zlib.Z_DEFAULT_STRATEGY),
        "fast": (1, zlib.Z_DEFAULT_STRATEGY), "no-copies": (9, zlib.Z_HUFFMAN_ONLY), "runs": (6, zlib.Z_RLE)}  # fmt: skip


def contents() -> dict[str, bytes]:
    """Bytes of every kind: none, few, equal ones, noise, text of few signs, and copies from far back."""
    rng = random.Random(7)
    noise = rng.randbytes(40_000)
    return {
        "none": b"", "one": b"a", "equal": b"a" * 70_000, "noise": noise, "all": bytes(range(256)) * 3,
        "words": " ".join(rng.choice(["let", "const", "\u00e9t\u00e9", "=>", "{}"]) for _ in range(30_000)).encode(),
        "far": noise[:32_000] + noise[:32_000] + noise[:9],
    }  # fmt: skip


def packed(content: bytes, way: str) -> bytes:
    level, strategy = WAYS[way]
    packer = zlib.compressobj(level, zlib.DEFLATED, 15, 9, strategy)
    return packer.compress(content) + packer.flush()


@pytest.fixture
def page(opened: Any) -> Any:
    static = files("rankscope.show.html").joinpath("static")
    scripts = "".join(f"<script>{static.joinpath(n).read_text(encoding='utf-8')}</script>" for n in ("core.js", "unpack.js"))
    return opened(f"<!doctype html><html><body>{scripts}</body></html>")


UNPACK = """([text, size]) => {
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  try {
    return Array.from(rankscope.unpacked(packed, size), (byte) => byte.toString(16).padStart(2, "0")).join("");
  } catch (problem) {
    return problem.message;
  }
}"""


def unpacked(page: Any, content: bytes, size: int) -> str:
    return str(page.evaluate(UNPACK, [base64.b64encode(content).decode(), size]))


@pytest.mark.parametrize("way", WAYS)
def test_it_comes_out_as_it_went_in(page: Any, way: str) -> None:
    for name, content in contents().items():
        assert unpacked(page, packed(content, way), len(content)) == content.hex(), name


def test_what_is_cut_or_of_another_size_is_told(page: Any) -> None:
    content = contents()["words"]
    whole = packed(content, "own")
    for part in (whole[: len(whole) // 2], whole[:2], b""):
        assert unpacked(page, part, len(content)) == "the file is damaged"
    for size in (len(content) - 1, len(content) + 1, 0):
        assert unpacked(page, whole, size) == "the file is damaged"
