"""Warnings about logs of shown items and actions, and about experiments on them (RS6xx)."""

from __future__ import annotations

from rankscope.diagnostics.rule import Rule

EXPERIMENT = "rankscope experiment"

# fmt: off
PositionsFromZero = Rule("RS601", "PositionsFromZero", "Positions start at 0, or below", of="log", severity="information",
    why="Position 1 is then the second place of the list, and every curve over positions is one place off from other curves.",
    remedy="write positions from 1 (if the lowest is 0, 1 is added to all)",
    text="{log}: positions start at {lowest} ({column}): 1 is added to all")
PositionsBelowZero = PositionsFromZero.variant(text="{log}: positions start at {lowest} ({column}): a place in a list is 1 or more")

GapsInPositions = Rule("RS602", "GapsInPositions", "The positions of a list are not 1, 2, 3 and so on", of="log", severity="information",
    why="Rows of the list are missing, or parts were merged into it: no rate counts the items in the gaps, and list metrics see a shorter list.",
    remedy="log every row of a list that was shown, with its position, or document which rows were cut",
    text="{log}: in {count} of {total:list} the positions are not {first}, {second}, {third} and so on")

ClickOutsideShown = Rule("RS603", "ClickOutsideShown", "An item was clicked but not shown", of="log",
    why="Users click only items they see. If logs of views and clicks were joined, views were lost, or ids differ.",
    remedy="find out which column is right: a click needs an item that was shown. These rows are left out",
    text="{log}: {count:row was|rows were} clicked and not shown ({column})[; counted as shown: {effect}]")

RepeatedItem = Rule("RS604", "RepeatedItem", "An item occurs in a list more than once, or a row in the log", of="log",
    why="Each row counts, so a list that was logged twice has double weight, and so have its clicks. Without a column of lists and one of items, "
        "only rows that are equal in all columns are found, if there are times with seconds.",
    remedy="keep one row for each item of a list: the counts of repeated rows are added up twice",
    text="{log}: {count:row repeats|rows repeat} an item of the same list, in {lists:list}[; each once: {effect}]")
RepeatedRow = RepeatedItem.variant(remedy="keep one of equal rows: each is counted",
    text="{log}: {count:row is|rows are} equal to another in all columns, times included[; each once: {effect}]")

SeveralVariants = Rule("RS605", "SeveralVariants", "A unit has rows in several variants", of="log",
    why="A user who saw both variants belongs to neither: the effect of one counts for the other, and the difference shrinks or turns.",
    remedy="find out how a unit was given two variants. An experiment leaves these units out and counts them",
    text="{log}: {count} of {total:{unit}} {count:=has} rows in several variants")
MixedUnitsLeftOut = SeveralVariants.variant(text="{count:{unit}} of {total} ({share:%1}) {count:=was} in several variants, and {count:=is} left out")

OneVariant = Rule("RS606", "OneVariant", "All rows belong to one variant", of="log",
    why="A comparison needs two variants: the rows of the other variants were not logged, or were filtered out.",
    remedy="read the rows of all variants: one variant can be described, not compared",
    text="{log}: all rows are of one variant, {variant}")

TimesGoBack = Rule("RS607", "TimesGoBack", "Times go back from row to row within a session or a unit", of="log", severity="information",
    why="Clocks of several machines differ, or rows arrived late: session lengths and times to success then measure clocks, not users.",
    remedy="write times by one clock, in UTC: metrics use times, not the order of rows",
    text="{log}: times go back from row to row in {count} of {total:{unit}}")

NoPropensity = Rule("RS608", "NoPropensity", "The probability that an item was shown is not above 0 and at most 1", of="log",
    why="Estimates for other policies divide by it: 0 would mean that the shown item could not be shown, and a number above 1 is a weight, not a probability.",
    remedy="log the probability with which each item was shown: estimates need it above 0 and at most 1",
    text="{log}: {count:row has|rows have} a {column} that is not above 0 and at most 1")

PrefixRises = Rule("RS609", "PrefixRises", "The probability of a list down to a position rises with the position", of="log",
    why="A longer prefix can only be less probable: the column holds another number, such as the probability of each item.",
    remedy="log the probability of the list down to each position: it can only fall with the position",
    text="{log}: {column} rises with the position in {count} of {total:list}")

SlateVaries = Rule("RS610", "SlateVaries", "The probability of a whole list is not one number within it, or is above the probability of its beginning", of="log",
    why="A list has one probability. If its rows disagree, the weight of the list depends on which row is read.",
    remedy="log one probability for the whole list, in each of its rows",
    text="{log}: {column} is not one number in each list, at most {prefix}, in {count} of {total:list}")

NoZeros = Rule("RS611", "NoZeros", "A column of outcomes has values and empty cells but no 0", of="log",
    why="Empty means not observed, 0 that nothing happened. If no cell is 0, only users who clicked count, and the click-through rate is 100%.",
    remedy="write 0 if the row was observed and nothing happened, and leave unobserved rows empty",
    text="{log}: {column} is empty in {count:row} and 0 in none: an empty cell means not observed, so only the {valued:row} with a value "
        "{valued:=counts}[; with 0 in the empty cells: {effect}]")

NegativeAmount = Rule("RS612", "NegativeAmount", "Revenue or dwell time is negative", of="log",
    why="Refunds among sales pull means down although no customer bought less, and a negative time is an error of a clock.",
    remedy="keep refunds apart, or document that revenue is net. A time cannot be below 0",
    text="{log}: {count:row has|rows have} a negative {amount} ({column})")

DayWithoutTraffic = Rule("RS613", "DayWithoutTraffic", "A day within the log has no row", of="log",
    why="A day without any user is not chance: logging failed. Return rates and days of an experiment that contain such a day are too low.",
    remedy="find out whether no user came or nothing was logged, and leave days with gaps out of comparisons",
    text="{log}: {count} of the {total:day} from {first} to {last} {count:=has} no row ({days:ids})")

EmptyId = Rule("RS614", "EmptyId", "Rows have no id of the user, the session, the list or the item, or no time", of="log",
    why="A row without a user cannot be added to any user: without it users look less active, and rows without an id are often bots or new users.",
    remedy="fill the column: rows without an id, or a time, are left out of answers that need one",
    text="{log}: {column} is empty in {count} of {total:row}")

CovariateAfterStart = Rule("RS615", "CovariateAfterStart", "A covariate seems to be measured after the start", of="log",
    why="Adjusting for a number that the treatment has changed removes a part of its effect. A number from before the start cannot change or differ between variants.",
    remedy="use only covariates measured before the start: a number that the treatment may have changed hides its effect",
    text="{log}: {name} changes within {count:{unit}}: it was not measured once, before the start")
CovariateDiffers = CovariateAfterStart.variant(
    text="{log}: {name} differs between variants {first} and {other} by more than chance does ({first_mean} and {other_mean}): it was "
        "measured after the start, or chance did not split the {unit:plural}")

SharedList = Rule("RS616", "SharedList", "Lists of several units have one id", of="log",
    why="Lists of several users count as one: it has a click as soon as one user clicked.",
    remedy="give each list an id of its own, as lists with one id count as one",
    text="{log}: {count} of {total:list} {count:=has} rows of several {unit:plural}")

RepeatedUnits = Rule("RS617", "RepeatedUnits", "Some units of a table with one row per unit have several", of="log",
    why="If a join repeated rows, their numbers are added up, and these units count two or three times.",
    remedy="keep one row per unit, or name a column of times if rows are events",
    text="{log}: {count} of {total:{unit}} {count:=has} several rows, which are added up, and the others have one")

SkewedUnits = Rule("RS640", "SkewedUnits", "A small variant has too few units for the skewness of their values", of="log", other_verb=EXPERIMENT,
    why="Large values are rare, so a small variant often misses them and looks worse. At an even split both variants miss them equally often, and t is right.",
    remedy="wait for more, cut the largest values (--winsorise 0.99), or split evenly",
    text="{metric} is so skewed that t at this split needs about {needed} {unit:plural} of {variant}, and there are {count}"
        "[; {test} decides]")

FewBeyondQuantile = Rule("RS641", "FewBeyondQuantile", "A variant has too few rows beyond a quantile to estimate its error", of="log", other_verb=EXPERIMENT,
    why="The error of a quantile depends on the rows beyond it: if a handful of users hold these, the next user moves it.",
    remedy="wait for more rows, or look at a quantile nearer the median",
    text="{metric}: so few rows of {variant} lie beyond it that its interval needs about {needed} rows, and there are {count}")

WithoutVariant = Rule("RS642", "WithoutVariant", "Units have no variant, and are left out of an experiment", of="log", other_verb=EXPERIMENT,
    why="They were not in the experiment, or their assignment was lost: if one variant lost more units than the other, the rest differs.",
    remedy="before the analysis, remove users who were not in the experiment",
    text="{count:{unit}} of {total} {count:=has} no variant, and {count:=is} left out")

PartlyWithoutVariant = WithoutVariant.variant(
    remedy="write the variant in all rows of an experiment, not in rows from before it",
    text="{count:{unit}} of {total} {count:=has} rows with a variant and rows without one, of which the first count")

NoUnits = Rule("RS643", "NoUnits", "No column names the user who was given a variant, so sessions, lists or rows count as independent", of="log", other_verb=EXPERIMENT,
    why="Rows of one user are correlated. A test that treats them as independent finds false differences in a quarter of experiments and more.",
    remedy="name the column of the user who was given a variant: --columns 'NAME=unit_id'",
    text="{remark}")

CutLeavesNothing = Rule("RS644", "CutLeavesNothing", "A metric is not cut, because a cut at the quantile would make all units equal", of="log", other_verb=EXPERIMENT,
    why="If fewer units act than are cut, the quantile is the value of units without action: after the cut every unit would be equal, and so "
        "would the variants, regardless of their users.",
    remedy="cut higher, so that some users still differ, or do not winsorise metrics of rare actions",
    text="{metric} is not cut: {above:%1} of {unit:plural} are above its lowest value, and a cut at the {quantile:%1} quantile would make "
        "them all equal")

OnlyEvents = Rule("RS646", "OnlyEvents", "A table of events has no units without an event", of="log", severity="information", other_verb=EXPERIMENT,
    why="Units without an event count as 0 only if they are there. If a variant makes more units act, a mean over active units hides it, "
        "and events from before the assignment count as its results.",
    remedy="if rows are events, give two tables: --assignments and --events",
    text="{log}: if its {rows:row} are events, {unit:plural} without one are missing from the {total:{unit}}, and events from before the "
        "assignment count")
OnlyEventsAfter = OnlyEvents.variant(text="{log}: if its {rows:row} are events, {unit:plural} without one are missing from the {total:{unit}}")

EmptyCells = Rule("RS645", "EmptyCells", "A column that a metric adds up is empty for some units", of="log", other_verb=EXPERIMENT,
    why="An empty cell means not observed, or that nothing happened, which is 0. The mean differs, and if variants have empty cells unequally, so does the difference.",
    remedy="write 0 if nothing happened",
    text="{metric} leaves out {count:{unit}} of {total}, for whom {column} is empty", hint="if empty means 0, write {zeros}")
EmptyCountsAsZero = EmptyCells.variant(hint="", text="{column} is empty in {count} of {total:row}, which {metric} counts as 0")
