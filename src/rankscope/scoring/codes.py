"""The codes of all warnings, and what is meant by a list of them; ``check`` has a rule for each."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rankscope import words
from rankscope.errors import InputError

CODES = {  # each with the name of its rule
    "RS101": "MissingQueries",
    "RS102": "ExtraQueries",
    "RS103": "NothingRelevant",
    "RS104": "Repeated",
    "RS105": "SelfMatch",
    "RS106": "EmptyRankings",
    "RS107": "MalformedLines",
    "RS108": "NotANumber",
    "RS109": "Refused",
    "RS110": "NoSharedQuery",
    "RS111": "NoSharedDocument",
    "RS112": "OffScale",
    "RS113": "QueryIdsAlike",
    "RS114": "DocIdsAlike",
    "RS115": "TwinRuns",
    "RS116": "SwappedInputs",
    "RS201": "RankColumn",
    "RS202": "ShortRun",
    "RS203": "TiesAtCutoff",
    "RS204": "Unjudged",
    "RS205": "ConstantScores",
    "RS206": "NearDuplicates",
    "RS301": "BinaryOnGraded",
    "RS302": "LowestGrade",
    "RS303": "TopGrade",
    "RS304": "GainDecides",
    "RS305": "OtherScale",
    "RS306": "RatingScale",
    "RS311": "SeveralCutoffs",
    "RS312": "SeveralConventions",
    "RS313": "OutOfReturned",
    "RS314": "NotNormalised",
    "RS315": "Constant",
    "RS321": "DeepCutoff",
    "RS322": "ListsEnd",
    "RS323": "Ceiling",
    "RS331": "PooledAgainstGrouped",
    "RS332": "OneClass",
    "RS401": "MetricsDisagree",
    "RS402": "CutoffDecides",
    "RS403": "FewQueriesDecide",
    "RS404": "SliceReversed",
    "RS405": "TooFewDiffer",
    "RS406": "OutOfReach",
    "RS407": "NotPaired",
    "RS408": "NoPlan",
    "RS409": "TooFewQueries",
    "RS410": "JointWithGaps",
    "RS411": "FewClusters",
    "RS412": "TooEarly",
    "RS501": "TestInTrain",
    "RS502": "SeenRecommended",
    "RS503": "TimeOrder",
    "RS504": "Cold",
    "RS601": "PositionsFromZero",
    "RS602": "GapsInPositions",
    "RS603": "ClickOutsideShown",
    "RS604": "RepeatedItem",
    "RS605": "SeveralVariants",
    "RS606": "OneVariant",
    "RS607": "TimesGoBack",
    "RS608": "NoPropensity",
    "RS609": "PrefixRises",
    "RS610": "SlateVaries",
    "RS611": "NoZeros",
    "RS612": "NegativeAmount",
    "RS613": "DayWithoutTraffic",
    "RS614": "EmptyId",
    "RS615": "CovariateAfterStart",
    "RS616": "SharedList",
    "RS640": "SkewedUnits",
    "RS641": "FewBeyondQuantile",
    "RS642": "WithoutVariant",
    "RS643": "NoUnits",
    "RS644": "CutLeavesNothing",
    "RS645": "EmptyCountsAsZero",
}


def codes_of(names: str | Iterable[str]) -> list[str]:
    """The codes that are meant: codes or names of rules, whatever their case, between commas or blanks; the start of codes is a family.

    Raises InputError with the nearest for what is none.

    >>> codes_of("rs203,MissingQueries"), codes_of(["RS50"])
    (['RS203', 'RS101'], ['RS501', 'RS502', 'RS503', 'RS504'])
    """
    out: list[str] = []
    for name in (
        part for text in ([names] if isinstance(names, str) else names) for part in text.replace(",", " ").split()
    ):
        family = re.fullmatch(r"rs\d*", name, re.IGNORECASE) is not None
        out += [code for code in CODES if family and code.startswith(name.upper())] or [code_of(name)]
    return list(dict.fromkeys(out))


def code_of(name: str) -> str:
    """The code of a rule by its code or name. Raises InputError with the nearest where there is none such.

    >>> code_of("missingqueries")
    'RS101'
    """
    name = name.strip()
    for code, rule in CODES.items():
        if name.casefold() in {code.casefold(), rule.casefold()}:
            return code
    number = re.fullmatch(r"(?:RS)?[-_ ]?(\d*)", name, re.IGNORECASE)  # numbers are near to nothing but their family
    if number is None:
        near = words.hint(name, CODES.values(), "", offer=lambda rule: f"{rule} ({code_of(rule)})")
    elif f"RS{number[1]}" in CODES:
        near = f", did you mean RS{number[1]}?"
    else:
        family = [code for code in CODES if number[1] and code[2] == number[1][0]]
        near = f", did you mean one of {', '.join(family)}?" if family else ""
    raise InputError(f"no rule is called {name}{near} (rankscope check --list lists all)")
