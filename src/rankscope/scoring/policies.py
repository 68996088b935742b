"""What a user can choose about scoring: each policy once, with its values, their words, and what it does to values.

Everything about a policy comes from here: the check of a value, the option of the command line and its help, the setting of a
project, ``conventions`` in JSON, the small print, the paragraph for a paper, and whether a stored baseline may be compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

from rankscope import words
from rankscope.errors import LARGEST_INT, InputError

# the command line makes its options of this module: what is heavy is loaded where values are computed
if TYPE_CHECKING:
    from rankscope.dialects.base import Convention
    from rankscope.engines.values import Values
    from rankscope.lists import Judged
    from rankscope.metrics import Metric

MIXED = "as in the dialect"  # stated if a dialect has another convention for each metric
OVER_ORDERS = frozenset({"expected", "best", "worst"})  # of all orders of equal scores; drawn where these are too many
POLICIES: dict[str, Policy] = {}


class Policy:
    """One thing a user can choose about scoring.

    ``name`` is its keyword and option, ``default`` what holds unless chosen, ``values`` what it can be, each with its meaning as it
    reads after ``title``, or it is a whole number of ``least`` or more, or in settings and on the command line a name (``metavar``
    FILE: that of a file). ``sentences`` say a value in the past tense, for a paper. Small print has the same. ``help`` is the help of
    the option, ``metavar`` its placeholder if values are no list of words. ``changes_values`` tells whether it can change the
    value of a query, or which queries have one: then a stored baseline with another value cannot be compared. ``acts_on`` are the
    counts of ``Health`` that tell whether there was something for it to do, if that has to be looked up.
    A class statement declares a policy. One that changes values says how in ``apply``. Its default changes none.
    """

    name: ClassVar[str]
    default: ClassVar[Any] = None
    values: ClassVar[Mapping[Any, str]] = {}
    least: ClassVar[int | None] = None
    most: ClassVar[float] = LARGEST_INT
    expects: ClassVar[str] = ""  # what a value is, in words
    sentences: ClassVar[Mapping[Any, str]] = {}
    title: ClassVar[str] = ""
    help: ClassVar[str] = ""
    metavar: ClassVar[str | None] = None
    changes_values: ClassVar[bool] = True
    acts_on: ClassVar[Sequence[str]] = ()
    several: ClassVar[bool] = False  # whether the option may be repeated
    with_words: ClassVar[bool] = False  # whether conventions hold the words beside the value
    by_metric: ClassVar[bool] = False  # whether a dialect may set it for each metric

    def __init_subclass__(cls) -> None:
        if "name" not in vars(cls):  # what several have in common
            return
        whole = f"a whole number of at least {cls.least}"
        cls.expects = cls.expects or (f"one of {words.choices(cls.values)}" if cls.least is None else whole)
        POLICIES[cls.name] = cls()
        words.OPTION_VALUES[cls.name] = tuple(map(str, cls.values))

    def accepts(self, value: Any) -> bool:
        """True if this can be a value. Settings in a file accept no other."""
        if self.least is not None:
            return hasattr(value, "__index__") and not isinstance(value, bool) and self.least <= value <= self.most
        if self.values:
            return any(value == known and type(value) is type(known) for known in self.values)
        return isinstance(value, str) and bool(value.strip())

    def check(self, value: Any) -> Any:
        """The value in its own type. Raises InputError for an invalid value."""
        if value is None and self.default is None:
            return None
        if not self.accepts(value):
            above = self.least is not None and isinstance(value, int) and value > LARGEST_INT
            limit = f", and at most {LARGEST_INT:,}" if above else ""
            raise InputError(f"{self.name}={value!r}: {self.name} is {self.expects}{limit}")
        return value if self.least is None else int(value)

    def conflict(self, value: Any, policies: Policies) -> str:
        """The reason that this value conflicts with other policies, empty if it does not."""
        return ""

    def refuses(self, value: Any, metric: Metric) -> str:
        """The reason that a metric cannot be computed with this value, empty if it can."""
        return ""

    def apply(self, value: Any, values: Values, metric: Metric, judged: Judged, convention: Convention) -> Values:
        """The values of the queries under this policy."""
        return values

    def had_work(self, health: Iterable[object]) -> bool:
        """True if there was something for this policy to do in data of this ``Health``, a run each."""
        return not self.acts_on or any(getattr(h, name) for h in health for name in self.acts_on)

    def statement(self, value: Any, conventions: Sequence[Convention]) -> Any:
        """The value in JSON, None if it cannot change a number."""
        return value

    def words(self, stated: Any) -> str:
        """The meaning of a stated value."""
        return "none" if stated is None else self.values.get(stated, str(stated))

    def sentence(self, stated: Any) -> str:
        """The value in a sentence for a paper, empty if there is nothing to report."""
        return self.sentences.get(stated, "")

    def brief(self, stated: Any) -> str:
        """The value in the small print, empty if there is nothing to report."""
        sentence = self.sentence(stated).removesuffix(".")
        return sentence[:1].lower() + sentence[1:]


class Ties(Policy):
    """The order of documents with equal scores."""

    name, default, title = "ties", "trec", "equal scores"
    with_words = by_metric = True
    values = {
        "trec": "score, then document id, both descending",
        "docid": "score descending, then document id ascending",
        "input": "score descending, then order of the file",
        "rank": "the rank column",
        "expected": "the mean over all orders of equal scores",
        "best": "equal scores in the order that is best for the metric",
        "worst": "equal scores in the order that is worst for the metric",
    }
    sentences = {
        name: f"Equal scores{' were ordered by' if name in {'trec', 'docid', 'input'} else ':'} {text}."
        for name, text in values.items()
    }
    help = "How ties are ordered: document id descending (trec_eval), id ascending, file order or rank column, or over all orders: mean, best or worst."

    def refuses(self, value: Any, metric: Metric) -> str:
        if value in OVER_ORDERS and "items" in metric.needs:
            return f"ties={value!r}: {metric} looks at the items shown, in one order; choose trec, docid, input or rank"
        ordered = metric.positions or getattr(metric, "cutoff", None) is not None
        if value not in {"best", "worst"} or metric.better != "neither" or not ordered:
            return ""  # any other order goes without knowing what is better
        return (
            f"ties={value!r}: {metric} has no better direction, so no order of equal scores is "
            f"{value} for it; leave it out, or use ties='expected'"
        )

    def brief(self, stated: Any) -> str:
        return f"ties: {self.values.get(stated, stated)}"  # told always


class Queries(Policy):
    """Which queries are averaged."""

    name, default, title = "queries", "judged", "queries"
    with_words = by_metric = True
    values = {
        "judged": "all judged queries (one missing from a run scores as empty)",
        "run": "all queries of the run (one without judgments scores as if nothing were relevant)",
        "both": "queries judged and in every run",
        "either": "all queries that are judged or in the run",
        "list": "the queries listed (one missing from a run scores as empty)",
    }
    sentences = {name: f"Queries: {text}." for name, text in values.items()}
    expects = "one of 'judged', 'run', 'both', 'either', or a list of query ids"
    help = "Queries to average: all judged, all of the run, judged and in every run, either, or listed in FILE, one id per line."
    metavar = "judged|run|both|either|@FILE"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, str):
            return value in self.values and value != "list"
        if isinstance(value, list):
            return all(isinstance(one, str | int) for one in value)
        return isinstance(value, Iterable) and not isinstance(value, Mapping)

    def check(self, value: Any) -> Any:
        if isinstance(super().check(value), str):
            return value
        only = frozenset(str(query) for query in value)
        if not only:
            raise InputError("queries is an empty list: give the ids of the queries to score")
        return only

    def statement(self, value: Any, conventions: Sequence[Convention]) -> Any:
        return value if isinstance(value, str) else "list"

    def brief(self, stated: Any) -> str:
        return ""  # the number of queries stands above the small print, with their population


class Depth(Policy):
    """The depth at which every ranking is cut before anything else."""

    name, title, least, metavar = "depth", "depth", 1, "N"
    help = "Cut every ranking at N documents first."

    def words(self, stated: Any) -> str:
        return "whole rankings" if stated is None else f"the first {stated:,} documents of each ranking"

    def sentence(self, stated: Any) -> str:
        return "" if stated is None else f"Rankings were cut after {stated:,} documents."


class Duplicates(Policy):
    """The treatment of a document that is ranked twice for a query."""

    name, default, title = "duplicates", "error", "repeated documents"
    values = {"error": "refused", "first": "the first row counts", "best": "the best row counts"}
    sentences = {
        "first": "If a document is repeated, the first row counts.",
        "best": "If a document is repeated, the best row counts.",
    }
    help = "How to treat a document ranked twice for a query: reject it, or keep its first or best rank."
    acts_on = ("duplicates", "qrels_duplicates")

    def conflict(self, value: Any, policies: Policies) -> str:
        if value != "best" or policies.ties != "rank":
            return ""
        return "duplicates='best' goes by score and ties='rank' does not: choose duplicates='first'"


class SelfMatch(Policy):
    """The treatment of a document that has the id of its query."""

    name, default, title = "self_match", "keep", "self-matches"
    values = {"keep": "kept", "drop": "left out: documents that are their own query"}
    sentences = {"drop": "Documents that are their own query were left out."}
    help = "How to treat a document with the id of its query."
    acts_on = ("self_matches",)


class _Read(Policy):
    """A value that ``read`` reads once from a file, a text or an object. None stays None."""

    def check(self, value: Any) -> Any:
        return None if value is None else self.read(value)

    def read(self, value: Any) -> Any:
        """The value in its own type. Raises InputError for an invalid value."""
        raise TypeError(f"{type(self).__name__} needs a method that reads it")


class FoldTable(_Read):
    """The document of each chunk, by a table."""

    name, title, metavar = "fold", "chunks", "FILE"
    expects = "a file of chunks and their documents, like 'chunks.csv'"
    help = "For rankings of chunks: a file with one chunk and its document per line. Or use --fold-by."

    def read(self, value: Any) -> Any:
        from rankscope.scoring.fold import fold_of

        return fold_of(value)

    def statement(self, value: Any, conventions: Sequence[Convention]) -> Any:
        return None if value is None else value.label

    def words(self, stated: Any) -> str:
        where = "given in memory" if stated == "chunks" else f"in {stated}"
        return f"are of the documents {where}" if stated else "none"

    def sentence(self, stated: Any) -> str:
        by = "" if stated == "chunks" else f" by {stated}"
        return f"Chunks were folded into their documents{by}." if stated else ""


class FoldPattern(FoldTable):
    """The document of each chunk, by a pattern of ids."""

    name, title, metavar = "fold_by", "chunks by their ids", "PATTERN"
    expects = "a regular expression, like '#.*'"
    help = "For rankings of chunks: a regular expression to cut off their ids, '#.*', or with the document as its group, '^(.+)_[0-9]+$'."

    def read(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value if hasattr(value, "document") else Policy.check(self, value)
        from rankscope.scoring.fold import fold_by

        return fold_by(value)

    def conflict(self, value: Any, policies: Policies) -> str:
        return "" if policies.fold is None else "fold and fold_by both set the document of a chunk: choose one"

    def words(self, stated: Any) -> str:
        return f"are of the documents that {stated!r} leaves of their ids" if stated else "none"

    def sentence(self, stated: Any) -> str:
        return "" if stated is None else f"Chunks were folded into their documents by the pattern {stated!r}."


class FoldScore(Policy):
    """The score of a document with ranked chunks."""

    name, title = "fold_score", "documents of chunks"
    values = {
        "max": "score as the best chunk", "sum": "score as all their chunks together",
        "first": "are in the order of their first chunks in the file",
    }  # fmt: skip
    sentences = {
        "max": "A document scores as its best chunk.", "sum": "A document scores as its chunks together.",
        "first": "Documents are in the order of their first chunks in the file.",
    }  # fmt: skip
    help = "Score of a document with several chunks: their best, their sum, or the first in the file. Default: max."

    def conflict(self, value: Any, policies: Policies) -> str:
        if policies.fold is None and policies.fold_by is None:
            return f"{self.name}={value!r} is about chunks: set their documents with fold or fold_by"
        if policies.ties == "rank" and policies.fold_score in {"max", "sum"}:
            return f"fold_score={value!r} goes by score and ties='rank' does not: choose fold_score='first'"
        if policies.fold_score == "sum" and policies.fold_cutoffs in {"chunks", "both"}:
            return f"fold_score='sum' makes a ranking of documents, so cutoffs count documents: leave out fold_cutoffs={policies.fold_cutoffs!r}"
        return ""


class FoldCutoffs(FoldScore):
    """The things that a cutoff counts if chunks are ranked."""

    name, title = "fold_cutoffs", "cutoffs of chunks"
    expects = "one of 'documents', 'chunks' or 'both'"
    _counts = "count chunks: later chunks of a document keep their ranks and earn nothing"
    values = {"documents": "count documents: later chunks of a document are left out", "chunks": _counts}
    values["both"] = "count documents in one row of a run and chunks, which keep their ranks, in the other"
    sentences = {
        "documents": "Cutoffs count documents.",
        "chunks": f"Cutoffs {_counts}.",
        "both": f"Cutoffs {values['both']}.",
    }
    help = "Unit of cutoffs: documents, so that chunks below move up, or chunks as ranked, or both with a row for each (evaluate). Default: documents."


class RelevanceLevel(Policy):
    """The lowest grade that is relevant, of metrics that do not name theirs."""

    name, title, metavar = "relevance_level", "relevant grades", "GRADE"
    expects = "the lowest grade that is relevant, a number like 2"
    help = "Lowest relevant grade, for metrics without their own. Default: 1."

    def accepts(self, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)

    def refuses(self, value: Any, metric: Metric) -> str:
        if value == 1 or "propensity" not in metric.defaults:
            return ""
        return f"relevance_level={value:g}: {metric} is of implicit feedback, and counts every grade above 0; leave lower grades out of the judgments"

    def words(self, stated: Any) -> str:
        return "set by each metric" if stated is None else f"from {words.amount(stated)} on"

    def sentence(self, stated: Any) -> str:
        return "" if stated is None else f"Documents of grade {words.amount(stated)} or more count as relevant."

    def brief(self, stated: Any) -> str:
        return ""  # the small print has the levels of the metrics


class NoRelevant(Policy):
    """The value of a query without a relevant document."""

    name, default, title = "no_relevant", "metric", "queries without relevant documents"
    by_metric = True
    values = {"metric": "set by each metric", 0: "score 0", 1: "score 1", "skip": "left out"}
    sentences = {
        0: "Queries without a relevant document score 0.",
        1: "Queries without a relevant document score 1.",
        "skip": "Queries without a relevant document were left out.",
    }
    help = "Value of a query without a relevant document: the metric's own, 0, 1, or left out."

    def apply(self, value: Any, values: Values, metric: Metric, judged: Judged, convention: Convention) -> Values:
        if value == "metric":
            return values
        in_list = convention.looks_at == "list"
        instead = float("nan") if value == "skip" else float(value)
        from rankscope.engines.values import override_values

        return override_values(
            values, metric, judged, lambda lists: metric.without_relevant(lists, True) if in_list else metric.cannot_score(lists),
            instead, "list" if in_list else "hopeless",
        )  # fmt: skip


class NothingFound(Policy):
    """The treatment of a query without a relevant document in its ranking."""

    name, default, title = "nothing_found", "metric", "queries with nothing relevant found"
    by_metric = True
    values = {
        "metric": "set by each metric",
        "skip": "left out if nothing relevant is in the top k",
        "skip_list": "left out if nothing relevant is in the whole list",
    }
    sentences = {
        "skip": "Queries with nothing relevant in the top k were left out.",
        "skip_list": "Queries with nothing relevant in the whole list were left out.",
    }
    help = (
        "A query with nothing relevant in the top k: scored, or left out (skip_list: with nothing in the whole list)."
    )

    def apply(self, value: Any, values: Values, metric: Metric, judged: Judged, convention: Convention) -> Values:
        if value == "metric":
            return values
        in_list = value == "skip_list"
        from rankscope.engines.values import override_values

        return override_values(
            values, metric, judged, lambda lists: metric.without_relevant(lists, in_list), float("nan"), "list" if in_list else "top",
        )  # fmt: skip


class _OfFile(_Read):
    """A policy from a table, named by its file or given in memory."""

    def statement(self, value: Any, conventions: Sequence[Convention]) -> Any:
        return value.label

    def words(self, stated: Any) -> str:
        return "given in memory" if stated == self.name else f"of {stated}" if stated else "none"


class Weighting(_OfFile):
    """The weight of each query in the mean."""

    name, title, metavar, changes_values = "weights", "weights", "FILE", False
    expects = "a file of weights of queries, like 'weights.csv'"
    help = "Weigh queries in the mean: a file with one query and its weight per line. With a column user_id or session_id each user or session weighs the same."

    def read(self, value: Any) -> Any:
        from rankscope.scoring.weights import weights_of

        return weights_of(value)

    def sentence(self, stated: Any) -> str:
        by = "" if stated == "weights" else f" by {stated}"
        return "" if stated is None else f"Queries were weighted{by}."


class Averaging(Policy):
    """The way the values of queries become one number."""

    name, default, title = "mean", "macro", "means"
    by_metric = True
    values = {
        "macro": "of the queries' values, weighted if there are weights",
        "micro": "all that the queries earn, out of all that they are worth",
    }
    sentences = {"micro": "Means are micro means: all that the queries earn, out of all that they are worth."}
    help = "The mean of the query values (macro), or total earned / total possible (micro)."

    def refuses(self, value: Any, metric: Metric) -> str:
        if value != "micro" or metric.aggregate in {"mean", "sum"}:
            return ""
        return f"mean='micro': {metric} has a mean of its own ({metric.aggregate}); leave it out, or use mean='macro'"

    def apply(self, value: Any, values: Values, metric: Metric, judged: Judged, convention: Convention) -> Values:
        if value != "micro" or metric.aggregate != "mean":
            return values
        from rankscope.engines.values import cached_per_query

        return replace(values, weight=cached_per_query(judged, metric, "worth", metric.worth))


class DialectChoice(Policy):
    """The tool whose conventions apply."""

    name, title, metavar = "dialect", "dialect", "TOOL"
    expects = "the name of a tool, like 'lightgbm'"
    help = "Compute as another tool does: lightgbm, recbole, mlflow ... (rankscope reconcile shows them side by side)."

    def check(self, value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, str):
            raise InputError(f"dialect={value!r}: a dialect is the name of one tool, like 'lightgbm'")
        from rankscope.dialects import DIALECTS

        if (name := value.casefold()) not in DIALECTS:
            raise InputError(f"dialect {value!r}: no dialect is called that{words.hint(value, DIALECTS, most=99)}")
        return name

    def conflict(self, value: Any, policies: Policies) -> str:
        own = [p.name for p in BY_METRIC if getattr(policies, p.name) != p.default]
        message = f"dialect={value!r} has conventions of its own: leave {own[0]} out, or the dialect" if own else ""
        return message if value is not None else ""

    def sentence(self, stated: Any) -> str:
        if stated is None:
            return ""
        from rankscope.dialects import DIALECTS

        dialect = DIALECTS[stated]
        tool = " ".join(filter(None, (dialect.tool, dialect.version)))
        return f"All values are computed by the conventions of {tool}{_caution(dialect.caution)}."

    def brief(self, stated: Any) -> str:
        from rankscope.dialects import DIALECTS

        return f"dialect: {stated}{_caution(DIALECTS[stated].caution)}"


def _caution(text: str) -> str:
    return f" ({text})" if text else ""


class ColumnNames(_Read):
    """Other names of columns: roles by name, ``{"user": "query_id", "sku": "doc_id"}``."""

    name, title, metavar, changes_values, several = "columns", "columns", "NAME=ROLE,...", False, True
    expects = "the roles of columns of other names, like {'user': 'query_id'}"
    help = "Roles of columns with other names, like user=query_id,sku=doc_id. Roles are query_id, doc_id, score, rank, tag, grade and iteration."

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str | dict) and bool(value)

    def read(self, value: Any) -> Any:
        from rankscope.files.roles import ColumnRoles

        return ColumnRoles.of(value)

    def statement(self, value: Any, conventions: Sequence[Convention]) -> Any:
        return ",".join(f"{name}={role}" for name, role in value.items())


class NamedGrades(ColumnNames):
    """The grades of words: ``"Perfect=4,Good=2,Bad=0"``, or a dict."""

    name, title, metavar = "grades", "grades that are words", "NAME=GRADE,..."
    expects = "the value of grades that are words, like 'Perfect=4,Good=2,Bad=0'"
    help = "Values of grades that are words: Perfect=4,Good=2,Bad=0."

    def read(self, value: Any) -> Any:
        from rankscope.files.catalogue import grades_by_name

        return grades_by_name(value)


class ItemFeatures(_OfFile):
    """Features of items, for metrics of every item shown."""

    name, title, metavar = "items", "items", "FILE"
    expects = "a file of items and their features, like 'items.csv'"
    help = "For metrics of items (ILD, Coverage, Gini ...): a file with one item per row and its features (labels as a|b, or numbers)."

    def read(self, value: Any) -> Any:
        from rankscope.files.items import items_of

        return items_of(value)

    def brief(self, stated: Any) -> str:
        return "" if stated is None else f"{self.title} of {stated}"


class History(ItemFeatures):
    """The items that users had before, in the training data of a recommender."""

    name, title = "history", "histories"
    expects = "a file of users and their items, like 'train.csv'"
    help = (
        "For metrics of items (Novelty, Popularity, Miscalibration ...): the training data, a file of users and items."
    )

    def check(self, value: Any) -> Any:
        """The interactions, which are read with the items."""
        from rankscope.files.side_tables import Interactions

        if value is None or isinstance(value, Interactions):
            return value
        if isinstance(value, str | dict) or hasattr(value, "__arrow_c_stream__") or hasattr(value, "__fspath__"):
            return Interactions(value)
        raise InputError(f"history is {self.expects}, a frame, or {{user: [item, ...]}}")


class Lengths(ItemFeatures):
    """The tokens of documents, for cutoffs in tokens."""

    name, title = "lengths", "lengths"
    expects = "a file of documents and their tokens, like 'lengths.csv'"
    help = "For cutoffs in tokens (R@2048tok): a file with one document and its number of tokens per line."

    def read(self, value: Any) -> Any:
        from rankscope.files.items import lengths_of

        return lengths_of(value)


class SampledCandidates(Policy):
    """Which candidates a list was chosen from, if not all."""

    name, title = "candidates", "candidates"
    values = {"sampled": "the relevant items and a uniform sample of the others"}
    sentences = {"sampled": "Lists hold the relevant items and a uniform sample of the others."}
    help = "For lists with a random sample of the candidates: print only metrics whose name shows it, like Sampled(metric='nDCG@10', items=10000)."

    def refuses(self, value: Any, metric: Metric) -> str:
        if value is None or metric.of_sample or metric.relevance == "none":
            return ""
        return (
            f"candidates={value!r}: {metric} of sampled candidates is another number than {metric}; write Sampled(metric={str(metric)!r}, items=N) "
            "with the number of all candidates"
        )


class Seed(Policy):
    """The seed of random numbers, for equal scores with too many orders to try."""

    name, default, title, least, metavar = "seed", 0, "seed", 0, "N"
    most = math.inf
    help = "Seed for orders of ties that are too many to count."

    def statement(self, value: Any, conventions: Sequence[Convention]) -> Any:
        return value if any(c.ties in OVER_ORDERS for c in conventions) else None  # otherwise no draws


class Ignored(Policy):
    """Which warnings are left out."""

    name, title, metavar, changes_values, several = "ignore", "ignored warnings", "CODES", False, True
    expects = "codes of warnings, like 'RS203' or ['RS203', 'RS204']"
    help = "Skip these warnings: RS203, or RS2 for a family (rankscope check --list). May be repeated."

    def accepts(self, value: Any) -> bool:
        several = isinstance(value, list | tuple | set | frozenset) and all(isinstance(one, str) for one in value)
        return several or super().accepts(value)

    def check(self, value: Any) -> frozenset[str] | None:
        from rankscope.diagnostics.codes import codes_of

        return frozenset(codes_of(value)) if super().check(value) else None

    def statement(self, value: Any, conventions: Sequence[Convention]) -> Any:
        return ",".join(sorted(value))

    def brief(self, stated: Any) -> str:
        return f"warnings ignored: {stated.replace(',', ', ')}"


class Policies(SimpleNamespace):
    """The value of every policy, checked. A policy that is not named has its default."""

    def __init__(self, **chosen: Any) -> None:
        refuse_unknown(chosen, "evaluate")
        checked = {name: POLICIES[name].check(value) for name, value in chosen.items()}
        super().__init__(**{name: policy.default for name, policy in POLICIES.items()} | checked)
        for name, value in checked.items():
            if value != POLICIES[name].default and (reason := POLICIES[name].conflict(value, self)):
                raise InputError(reason)
        if self.fold is not None or self.fold_by is not None:
            self._settle_fold()

    fold_score: str | None
    fold_cutoffs: str | None
    folding: Callable[[Any], Any] | None = None  # makes a run of documents of one of chunks
    items: Any
    history: Any
    lengths: Any

    @property
    def knows_items(self) -> bool:
        """True if anything is known of items."""
        return any(known is not None for known in (self.items, self.history, self.lengths))

    @property
    def item_table(self) -> Any:
        """All that is known of items: features, lengths and histories, read once. None without any."""
        if not self.knows_items:
            return None
        if "table" not in (kept := vars(self).setdefault("_items", {})):
            from rankscope.files.items import with_history, with_lengths

            table = self.items if self.lengths is None else with_lengths(self.items, self.lengths)
            kept["table"] = table if self.history is None else with_history(table, self.history)
        return kept["table"]

    def _settle_fold(self) -> None:
        from rankscope.scoring.fold import fold_run

        self.fold_score = self.fold_score or ("first" if self.ties == "rank" else "max")
        self.fold_cutoffs = self.fold_cutoffs or "documents"
        how = {"score": self.fold_score, "cutoffs": self.fold_cutoffs}
        self.folding = partial(fold_run, fold=self.fold or self.fold_by, **how)

    def having(self, **changes: Any) -> Policies:
        """The same with other values of some policies."""
        refuse_unknown(changes, "evaluate")
        out = copy(self)
        vars(out).update((name, POLICIES[name].check(value)) for name, value in changes.items())
        vars(out).pop("_items", None)
        if out.folding is not None:
            out._settle_fold()
        return out


BY_METRIC = tuple(policy for policy in POLICIES.values() if policy.by_metric)  # what a dialect may set for each metric


def refuse_unknown(options: Iterable[str], verb: str, own: Iterable[str] = ()) -> None:
    """One line for an option that neither the verb nor ``evaluate`` has, with the nearest known option."""
    for name in options:
        if name not in (known := [*own, *POLICIES]):
            hint = words.hint(name, known, otherwise="; it takes the options of evaluate")
            raise InputError(f"{verb} has no option {name!r}{hint}")
