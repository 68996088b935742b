"""The command line: a table of commands, and the way from what was typed to a verb and from its result to a stream.

stdout carries data, stderr messages; ``process`` says what the exit codes mean.
"""

from __future__ import annotations

from rankscope.cli.process import main as main
from rankscope.cli.process import run as run
