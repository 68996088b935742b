"""``python -m rankscope``."""

from __future__ import annotations

from rankscope.cli import run

if __name__ == "__main__":
    run()
