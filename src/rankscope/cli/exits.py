"""The exit codes of the command line, beside those that errors and results have.

0 done or passed; 1 a gate failed, or check found something; 2 usage or unreadable input; 3 the data refuse an answer; 4 a gate cannot
tell; 70 a bug; 130 interrupted; 141 the reader of our output went away. None comes with a traceback.
"""

from __future__ import annotations

USAGE, INTERNAL, INTERRUPTED, BROKEN_PIPE = 2, 70, 130, 141
