"""Command-specific steps beyond read, compute and write: one function per command, called with the parsed command."""

from rankscope.cli.handlers.judged import check as check
from rankscope.cli.handlers.judged import compare as compare
from rankscope.cli.handlers.judged import evaluate as evaluate
from rankscope.cli.handlers.judged import explain as explain
from rankscope.cli.handlers.judged import gate as gate
from rankscope.cli.handlers.judged import merge as merge
from rankscope.cli.handlers.judged import power as power
from rankscope.cli.handlers.judged import report as report
from rankscope.cli.handlers.judged import reproduce as reproduce
from rankscope.cli.handlers.judged import unjudged as unjudged
from rankscope.cli.handlers.logs import clicks as clicks
from rankscope.cli.handlers.logs import launches as launches
from rankscope.cli.handlers.logs import position_bias as position_bias
from rankscope.cli.handlers.logs import simulate as simulate
from rankscope.cli.handlers.pages import completion as completion
from rankscope.cli.handlers.pages import demo as demo
from rankscope.cli.handlers.pages import metrics as metrics
from rankscope.cli.handlers.pages import playground as playground
from rankscope.cli.handlers.rankings import agree as agree
from rankscope.cli.handlers.rankings import contexts as contexts
from rankscope.cli.handlers.rankings import diversify as diversify
from rankscope.cli.handlers.rankings import fuse as fuse
from rankscope.cli.handlers.rankings import interleave as interleave
from rankscope.cli.handlers.rankings import learn as learn
from rankscope.cli.handlers.rankings import rerank as rerank
from rankscope.cli.handlers.rankings import tune as tune
