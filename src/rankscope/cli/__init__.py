"""The command line: a table of commands, and the path from typed options to a verb and from its result to a stream (data to stdout, messages to stderr)."""

from __future__ import annotations

from rankscope.cli.process import main as main
from rankscope.cli.process import run as run
