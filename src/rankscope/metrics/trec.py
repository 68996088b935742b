"""trec_eval's metric names: templates to read (``ndcg_cut.5,10``) and to print (``ndcg_cut_10``). Names of ranx."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rankscope.declared import plain
from rankscope.errors import InputError

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
# names in other tools for recall divided by the smaller of k and the relevant documents
NAMES_OF_CAPPED_RECALL = (
    "R_cap", "CappedRecall", "capped_recall", "TruncatedRecall", "CalibratedRecall", "CalibratedRecallK",
)  # fmt: skip
TENTHS = tuple(i / 10 for i in range(11))
FIFTHS = tuple(i / 5 for i in range(1, 11))  # 0.2 to 2.0

# after a name: cutoffs after @, values after a dot (as typed) or after _ (as printed)
_CUTOFFS = re.compile(r"@([\d,]+)")
_VALUES = re.compile(r"(?:\.(?P<dotted>.+)|_(?P<printed>(?:p=)?[\d.,=-]+))?")


@dataclass(frozen=True)
class TrecName:
    """One of trec_eval's measures, as parameters of a metric.

    The name implies ``parameters``. The numbers after the dot set the parameter ``sets``: one metric per number (``defaults``
    without numbers), or one metric for all numbers if ``together``. ``writes`` formats the number in a printed name. With
    ``plain_too`` the name without numbers is a metric.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sets: str = ""
    defaults: tuple[Any, ...] = ()
    reads: Callable[[str], Any] = int
    writes: Callable[[Any], str] = str
    together: bool = False
    plain_too: bool = False

    def read(self, cls: Any, values: str | None, text: str) -> list[Any]:
        """The metrics of this name. ``values`` is the text after the dot."""
        if values is None:
            if self.sets and self.defaults and not self.plain_too:
                return [cls(**self.parameters, **{self.sets: value}) for value in self.defaults]
            return [cls(**self.parameters)]
        if not self.sets:
            raise InputError(f"metric {text!r}: trec_eval's {self.name} takes no values after the dot")
        try:
            settings = [self.reads(value) for value in values.split(",")]
        except ValueError:
            like = {pair: "1=3.5,2=9", int: "5,10"}.get(self.reads, "0.5")
            raise InputError(
                f"metric {text!r}: cannot read {values!r} as numbers, write it like {self.name}.{like}"
            ) from None
        try:
            if self.together:
                settings = [dict(settings) if isinstance(settings[0], tuple) else tuple(settings)]
            return [cls(**self.parameters, **{self.sets: value}) for value in settings]
        except InputError as error:
            raise InputError(f"metric {text!r}: {error}") from None

    def implies(self, metric: Any, *free: str) -> bool:
        """True if a metric has the parameters of the name, except the ``free`` ones."""
        usual = {f.name: self.parameters.get(f.name, f.default) for f in fields(metric) if f.name not in free}
        return all(getattr(metric, name) == value for name, value in usual.items())

    def spell(self, metric: Any) -> str | None:
        """The printed name of a metric, or None if this measure is another metric."""
        if not self.implies(metric, self.sets):
            return None
        if not self.sets:
            return self.name
        value = getattr(metric, self.sets)
        if self.plain_too and value == next(f.default for f in fields(metric) if f.name == self.sets):
            return self.name
        if self.together:
            return None if isinstance(value, str) else f"{self.name}_{','.join(map(spell_value, value))}"
        return None if value is None else f"{self.name}_{self.writes(value)}"


@dataclass(frozen=True)
class RbpName(TrecName):
    """A measure with the persistence among its gains: ``rbp.p=0.5,1=1,2=3``."""

    def read(self, cls: Any, values: str | None, text: str) -> list[Any]:
        """The metric with this p and these gains."""
        parameters = dict(self.parameters)
        table: dict[float, float] = {}
        for part in values.split(",") if values else ():
            name, _, number = part.partition("=")
            try:
                if name == "p":
                    parameters["p"] = float(number)
                else:
                    table[float(name)] = float(number)
            except ValueError:
                raise InputError(
                    f"metric {text!r}: cannot read {part!r}, write it like {self.name}.p=0.5 or {self.name}.p=0.5,1=1,2=3"
                ) from None
        try:
            return [cls(**parameters, **({self.sets: table} if table else {}))]
        except InputError as error:
            raise InputError(f"metric {text!r}: {error}") from None

    def spell(self, metric: Any) -> str | None:
        """The printed name, with p first if it is not the default."""
        if not self.implies(metric, "p", self.sets):
            return None
        parts = [] if metric.p == self.parameters["p"] else [f"p={plain(metric.p)}"]
        parts += map(spell_value, getattr(metric, self.sets) or ())
        return f"{self.name}_{','.join(parts)}" if parts else self.name


def pair(text: str) -> tuple[float, float]:
    """Read ``1=3.5``."""
    grade, gain = text.split("=")
    return float(grade), float(gain)


def spell_value(value: Any) -> str:
    """One of several values in a printed name: ``1=3.5``, ``.25``."""
    if isinstance(value, tuple):
        return "=".join(map(plain, value))
    return plain(value).replace("0.", ".", 1) if 0 < value < 1 else plain(value)


def two_places(value: float) -> str:
    """0.1 as trec_eval prints it in a name: 0.10."""
    return f"{value:.2f}"


def root(text: str) -> float:
    """Convert trec_eval's x of set_F, which is beta squared, to beta."""
    return math.sqrt(float(text))


def square(value: float) -> str:
    """Convert beta to trec_eval's x."""
    return plain(round(value * value, 12))


def parse_trec(text: str, catalogue: Mapping[str, Any]) -> list[Any] | None:
    """Read one of trec_eval's names. Return None if there is no such measure."""
    for cls in dict.fromkeys(catalogue.values()):
        # shorthands are other tools' names for a metric with a parameter set
        shorthands = cls.__dict__.get("shorthands", ())
        for spec in shorthands:
            size = len(spec.name)
            if spec.sets and text[:size].lower() == spec.name.lower() and (cut := _CUTOFFS.fullmatch(text, size)):
                return spec.read(cls, cut[1], text)  # type: ignore[no-any-return]
        for spec in (*cls.__dict__.get("trec", ()), *(s for s in shorthands if not s.sets)):
            if text.startswith(spec.name) and (match := _VALUES.fullmatch(text, len(spec.name))):
                return spec.read(cls, match["dotted"] or match["printed"], text)  # type: ignore[no-any-return]
    return None


# trec_eval's nicknames, without facts that are not numbers (runid, relstring)
OFFICIAL = (
    "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank",
    "iprec_at_recall", "P",
)  # fmt: skip
ALL_TREC = (
    *OFFICIAL, "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel",
    "Rndcg", "ndcg_cut", "map_cut", "relative_P", "success", "set_P", "set_relative_P", "set_recall", "set_map", "set_F",
    "num_nonrel_judged_ret", "rbp", "rbp_resid", "unj",
)  # fmt: skip
PREFS = (
    "num_q", "prefs_num_prefs_poss", "prefs_num_prefs_ful", "prefs_num_prefs_ful_ret", "prefs_simp", "prefs_pair",
    "prefs_avgjg",
)  # fmt: skip
ALL_PREFS = (
    *PREFS, "prefs_avgjg_Rnonrel", "prefs_simp_ret", "prefs_pair_ret", "prefs_avgjg_ret", "prefs_avgjg_Rnonrel_ret",
    "prefs_simp_imp", "prefs_pair_imp", "prefs_avgjg_imp",
)  # fmt: skip
SETS: dict[str, tuple[str, ...]] = {
    "official": OFFICIAL, "all_trec": ALL_TREC, "set": ("set_P", "set_relative_P", "set_recall", "set_map", "set_F"),
    "prefs": PREFS, "all_prefs": ALL_PREFS, "qrels_jg": ("num_q", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg"),
}  # fmt: skip


# names without a cutoff mean whole rankings; trec_eval also has recall
WHOLE = {
    "precision": "SetP", "f1": "SetF", "dcg_burges": "DCG(gain='exponential')", "ndcg_burges": "nDCG(gain='exponential')",
}  # fmt: skip
_LEVEL = re.compile(r"(?P<name>.+)-l(?P<level>\d{1,6})")
_RBP = re.compile(r"rbp\.(\d{1,9})")

Read = Callable[[str], list[tuple[str, Any]]]


def parse_ranx(text: str, read: Read) -> list[Any]:
    """Read a name that only ranx has. ``read`` returns the metrics of any other name.

    A name may end with the lowest relevant grade (``-l2``). The digits after the dot of ``rbp`` are its persistence.
    """
    if match := _LEVEL.fullmatch(text):
        name = {**WHOLE, "recall": "SetR"}.get(match["name"], match["name"])
        return [_at_level(metric, int(match["level"]), text) for _, metric in read(name)]
    match = _RBP.fullmatch(text)
    return [metric for _, metric in read(f"RBP(p=0.{match[1]})" if match else WHOLE[text])]


def _at_level(metric: Any, level: int, text: str) -> Any:
    name = type(metric).__name__
    if "level" in metric.defaults:
        if metric.level != metric.defaults["level"]:
            raise InputError(f"metric {text!r}: the level is given twice")
        return metric.having(level=float(level))
    if metric.defaults.get("gain") != "linear":
        raise InputError(f"metric {text!r}: {name} has no lowest relevant grade, leave out -l{level}")
    if level <= 1:
        return metric
    if metric.gain != "linear":
        gains = {grade: 2**grade - 1 if grade >= level else 0 for grade in range(1, level + 3)}
        cut = "" if metric.cutoff is None else f"@{metric.cutoff}"
        raise InputError(
            f"metric {text!r}: give the gain of each grade, 0 below {level}: {name}(gain={plain(gains)}){cut}"
        )
    return metric.having(gain=dict.fromkeys(range(1, level), 0))
