"""The command line: a table of commands, and the path from typed options to a verb and from its result to a stream.

stdout carries data, stderr messages; ``process`` lists the exit codes.
"""

from __future__ import annotations

from rankscope.cli.process import main as main
from rankscope.cli.process import run as run
