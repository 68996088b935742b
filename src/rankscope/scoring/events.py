"""Logged events as arrays for estimators, and target policies from columns, runs, spellings and functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from rankscope import words
from rankscope.behaviour.policies import EpsilonShuffle, Fixed, LoggingPolicy
from rankscope.blocks import Caution
from rankscope.declared import parse_all
from rankscope.diagnostics.estimates import EstimatedPropensities
from rankscope.diagnostics.logs import NoPropensity
from rankscope.errors import DataError, InputError
from rankscope.estimators.events import (
    COLUMN_OF,
    MOST_CELLS,
    Codes,
    Level,
    LoggedEvents,
    TargetPolicy,
    by_parts,
    number_cells,
    slices,
)
from rankscope.estimators.rewards import classifier
from rankscope.estimators.targets import Dense, OfPolicy, Recorded
from rankscope.files.catalogue import run_of
from rankscope.impressions import COLUMNS, Log
from rankscope.lists import Array
from rankscope.lists.examination import Examination
from rankscope.logs.bins import STEP, Keys, Numbering, keys_of
from rankscope.logs.rollup import unit_of
from rankscope.parallel import map_parts
from rankscope.tables import Run

REWARDS = ("reward", "click", "conversion", "revenue")
LOGGED = "logged"
CodesOf = Callable[[slice], Codes]
SPELLED = re.compile(r"\s*(?P<policy>[A-Za-z]\w*(?:\([^()]*\))?)\s+(?P<run>\S.*)")
TARGETS = "uniform, a column of the log, a run, or a policy with a run, like 'PlackettLuce(temperature=0.5) new.run'"
LEVELS: Mapping[Level, tuple[str, ...]] = {
    "item": ("", "_item_position", "_item"), "prefix": ("_prefix", "_cascade"), "slate": ("_slate",),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class EventLog:
    """The events of a log with their context: the ``rows`` that count, the ``order`` of the events in them, ids of queries, cautions and notes."""

    log: Log
    rows: pl.LazyFrame
    order: Codes | None
    events: LoggedEvents
    queries: Mapping[str, int]
    noun: str
    reward: str
    cautions: tuple[Caution, ...] = ()
    notes: tuple[str, ...] = ()

    def read(self, *columns: str) -> pl.DataFrame:
        """Read columns of the log, or all, with a row per event."""
        frame = self.log.collect(self.rows.select(columns or pl.all()))
        return frame if self.order is None else frame[self.order]


def read_events(
    log: Log, *, reward: str | None = None, logging: Any = None, examination: Any = None, features: bool = False, categories: tuple[str, ...] = (),
) -> EventLog:  # fmt: skip
    """Return the rows of a log that were shown and have a reward, as arrays in the order of lists and positions.

    ``reward`` names a column, by default the first of reward, click, conversion and revenue. ``logging`` is the policy that ran, if the log does
    not have its probabilities: a policy on a run, or ``"frequencies"`` or ``"classifier"`` to estimate them. With ``features`` the
    numeric columns of the log are kept for reward models. ``categories`` are columns that estimators group items by.

    Raises DataError if the log lacks a column, or propensities are missing, 0 or above 1.
    """
    log.require(("item_id",), "an estimate")
    if log.elsewhere is not None:
        raise DataError(f"{log.label}: estimates need the rows here: bring them, as frame.toArrow() does, or a sample")
    name = _reward_of(log, reward)
    numeric = features or logging == "classifier"
    more = [one for one in log.attributes if numeric or one.startswith("p_item_pos_")]
    rows, frame = _rows(log, name, [*more, *map(log.column, categories)])
    left = log.rows - len(frame)
    if not len(frame):
        raise DataError(f"{log.label}: no row was shown and has a {name}")
    frame, numbers, names, order = _in_order(log, frame)
    nothing, of_unit = np.broadcast_to(np.int64(0), len(frame)), numbers.get("_unit")
    of_unit = np.arange(len(frame)) if of_unit is None else of_unit
    places, item, context, logger = (
        numbers.get(one, nothing) for one in ("_place", "item_id", "query_id", "logger_id")
    )
    queries, loggers = names.get("query_id", [""]), names.get("logger_id", [])
    mixtures = [f"p_item_pos_{one}" for one in loggers]
    events = LoggedEvents(
        frame["_reward"].to_numpy(), of_unit, int(of_unit.max()) + 1, numbers.get("impression_id"), places, item, names["item_id"], context, logger,
        _propensities(log, frame, logging), features=_features(log, frame) if numeric else None,
        categories={one: _numbered(frame[log.column(one)].cast(pl.String).fill_null(""))[1](slice(None)) for one in categories},
        mixtures=np.stack([_probability(log, frame, one) for one in mixtures], axis=1) if mixtures and set(mixtures) <= set(frame.columns) else None,
        examination=None if examination is None else _curve(examination), label=log.label, loggers=loggers,
    )  # fmt: skip
    noun = {"unit_id": log.unit_noun, "session_id": "session", "impression_id": "list", "": "row"}[unit_of(log)]
    notes = [f"{words.counted(left, 'row')} left out: not shown, or without a {name}"] if left else []
    made = EventLog(
        log, rows, order, events, {query: number for number, query in enumerate(queries)}, noun, name, (), tuple(notes)
    )
    return made if logging is None else _with_logging(made, logging)


def _reward_of(log: Log, named: str | None) -> str:
    if named is not None:
        return log.column(named, "as reward")
    reward = next((name for name in REWARDS if log.has(name)), None)
    if reward is None:
        log.require(("click",), "an estimate")
    return str(reward)


ROLES = ("unit_id", "session_id", "impression_id", "item_id", "query_id", "logger_id", "position", *COLUMN_OF.values())


def _rows(log: Log, reward: str, more: Sequence[str]) -> tuple[pl.LazyFrame, pl.DataFrame]:
    """Return the rows that count, and their columns of events and more as they are in the log: whole numbers as ids are faster than text."""
    kept = log.number(reward).is_not_null()
    kept = kept & (pl.col("shown").fill_null(1.0) > 0) if log.has("shown") else kept

    def counted(frame: pl.LazyFrame) -> pl.LazyFrame:
        return frame.with_columns(log.number(reward).alias("_reward")).filter(kept)

    unit, kinds = unit_of(log), log.pieces[0].collect_schema()
    names = [name for name in ROLES if log.has(name) and (name != "session_id" or name == unit)]
    whole = [name for name in names if COLUMNS[name].kind == "id" and kinds[name].is_integer()]
    rows = counted(log.frame)
    frame = log.collect(rows.select(*dict.fromkeys([*(one for one in names if one not in whole), *more, "_reward"])))
    return rows, frame.hstack(log.collect(counted(pl.concat(log.pieces)).select(whole))) if whole else frame


def _in_order(
    log: Log, frame: pl.DataFrame
) -> tuple[pl.DataFrame, dict[str, Codes], dict[str, list[str]], Codes | None]:
    """Return the rows sorted by list and position with numbers for ids, ``_unit`` and ``_place``, the ids by number, and any other order of rows."""
    names, numbers, unit, ids = dict[str, list[str]](), dict[str, Codes](), unit_of(log), pl.Series()
    columns = [frame[name] for name in ROLES if name in frame.columns and COLUMNS[name].kind == "id"]
    for column in [*columns, *([frame["position"]] if log.has("position") else [])]:
        _check_complete(log, column)
    for column, (different, codes, known) in zip(columns, map_parts(_number_column, columns), strict=True):
        if column.name == unit:
            ids, codes_of_units = different, codes
        if known is not None:
            names[column.name], numbers[column.name] = known
    order = None
    if log.has("position"):  # its number counts even if a list lacks rows
        places = frame["position"] - frame["position"].min()
        numbers["_place"] = places.cast(pl.Int64).to_numpy()
    if (lists := numbers.get("impression_id")) is not None:
        if "_place" not in numbers:
            rows = pl.DataFrame({"list": lists}).select(pl.int_range(pl.len()).over("list").cast(pl.Int64))
            numbers["_place"] = rows.to_series().to_numpy()
        keys = lists * (numbers["_place"].max() + 1) + numbers["_place"]
        if (keys[1:] < keys[:-1]).any():
            order = np.argsort(keys, kind="stable")
            numbers |= {"_unit": codes_of_units(slice(None))} if unit else {}
            frame = frame.drop("position", *(column.name for column in columns), strict=False)
            frame = frame.with_columns(pl.Series(name, codes) for name, codes in numbers.items()).rechunk()[order]
            numbers = {name: frame[name].to_numpy() for name in numbers}
            codes_of_units = numbers.get("_unit", keys).__getitem__
    if unit:
        as_given = order is None and ids.dtype == pl.String
        numbers["_unit"] = codes_of_units(slice(None)) if as_given else _as_text(ids, codes_of_units, len(frame))
    return frame, numbers, names, order


def _number_column(column: pl.Series) -> tuple[pl.Series, CodesOf, tuple[list[str], Codes] | None]:
    """Return the different values and the number of each row's value; for columns other than units also their sorted texts and numbers by them."""
    different, codes = _numbered(column)
    if column.name in {"unit_id", "session_id"}:
        return different, codes, None
    names, place = _by_text(different)
    return different, codes, (names, by_parts(len(column), lambda rows: place[codes(rows)], np.int64))


def _as_text(ids: pl.Series, codes: CodesOf, count: int) -> Codes:
    """Return the numbers that rows get from ids as text: folds and resamples go by them, and are the same if ids are numbers."""
    texts = ids.cast(pl.String)
    keys, spots = keys_of(texts)
    numbering, place = Numbering(20), np.full(len(texts), -1)
    for rows in slices(count):
        part = codes(rows)
        part = part[place[part] < 0]
        place[part] = numbering.number(keys[part], spots[part])[0]
        if numbering.full:  # too many ids for its tables
            place = texts.rank("dense").to_numpy().astype(np.int64) - 1
        if numbering.full or numbering.count == len(texts):
            break
    return by_parts(count, lambda rows: place[codes(rows)], np.int64)


def _by_text(ids: pl.Series) -> tuple[list[str], Codes]:
    texts = ids.cast(pl.String)
    order = texts.arg_sort().to_numpy()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return texts.gather(order).to_list(), place


def _check_complete(log: Log, column: pl.Series) -> None:
    if lost := column.null_count():
        rows = f"{words.counted(lost, 'row has', 'rows have')} no {log.roles.get(column.name, column.name)}"
        raise DataError(f"{log.label}: {rows}: give each row one, or leave these rows out")


def _numbered(column: pl.Series) -> tuple[pl.Series, CodesOf]:
    """Return the different values, and a function from rows to the numbers of their values."""
    low, high = (int(end()) for end in (column.min, column.max)) if column.dtype.is_integer() else (0, MOST_CELLS)  # type: ignore[arg-type]
    if high - low < MOST_CELLS and high < 1 << 62:

        def cell(rows: slice) -> Codes:
            return column[rows].to_numpy().astype(np.int64, copy=False) - low

        there = np.zeros(high - low + 1, dtype=bool)
        for rows in slices(len(column)):
            there[cell(rows)] = True
        place = np.cumsum(there) - 1
        return pl.Series(np.flatnonzero(there) + low), lambda rows: place[cell(rows)]
    column = column.rechunk()
    numbered = _number(*keys_of(column))
    if numbered is None:  # too many values for its tables
        cells, codes = np.unique(column.cast(pl.String).to_numpy(), return_inverse=True)
        return pl.Series(cells), codes.__getitem__
    return column.gather(numbered[0]), numbered[1].__getitem__


def _number(keys: Keys, spots: Keys) -> tuple[Codes, Codes] | None:
    """Return the places of the distinct keys and the number of each row's key, None if there are too many."""
    numbering, codes, firsts = Numbering(20), np.empty(len(keys), dtype=np.int64), []
    for start in range(0, len(keys), STEP):
        part = slice(start, start + STEP)
        codes[part], new = numbering.number(keys[part], spots[part])
        firsts.append(new + start)
    return None if numbering.full else (np.concatenate(firsts), codes)


def _propensities(log: Log, frame: pl.DataFrame, logging: Any) -> dict[Level, Array]:
    if logging is not None:
        return {}
    return {level: _probability(log, frame, name) for level, name in COLUMN_OF.items() if log.has(name)}


def _probability(log: Log, frame: pl.DataFrame, column: str) -> Array:
    """Return a column of probabilities. Raises DataError with the share of rows that have none, 0, or a number above 1."""
    values, name = frame[column].cast(pl.Float64, strict=False), log.roles.get(column, column)
    if count := len(values) - int(values.is_between(0, 1, closed="right").sum()):
        problem = NoPropensity.message(log=log.label, count=count, column=name)
        if values.null_count() == count:
            problem = f"{log.label}: {words.counted(count, 'row has', 'rows have')} no {name}"
        raise DataError(
            f"{problem}, {words.share(count / len(frame), 1)} of all ({NoPropensity.code}): {NoPropensity.remedy}"
        )
    return values.to_numpy()


def _with_logging(made: EventLog, logging: Any) -> EventLog:
    """Return the events with the propensities of the policy that ran: exact for a policy on a run, or estimated from the log."""
    events = made.events
    if logging in ("frequencies", "classifier"):
        propensities = _frequencies(events) if logging == "frequencies" else _classified(events)
        source = "a classifier of items by position and numeric columns"
        if logging == "frequencies":
            source = "the frequencies of items by position" + (" and query" if len(made.queries) > 1 else "")
        caution = EstimatedPropensities.caution(log=made.log.label, source=source)
        return replace(made, events=replace(events, propensities={"item": propensities}), cautions=(caution,))
    policy = target_of(made, logging, "the policy that ran")
    if not isinstance(policy, OfPolicy):
        raise InputError(
            f"--logging {logging}: give a policy with a run, like 'PlackettLuce(temperature=0.5) old.run', frequencies or classifier"
        )
    levels: dict[Level, Array] = {"item": policy.chance(events, "item")}
    if len(events.starts) < events.count:
        levels |= {"prefix": policy.chance(events, "prefix"), "slate": policy.chance(events, "slate")}
    if lost := int((levels["item"] <= 0).sum()):
        share = words.share(lost / events.count, 1)
        raise DataError(
            f"{made.log.label}: {words.counted(lost, 'row')} ({share}) could not have been shown by {policy.name}: name the policy that ran"
        )
    return replace(made, events=replace(events, propensities=levels, logging=policy))


def _frequencies(events: LoggedEvents) -> Array:
    place = (events.logger * events.contexts + events.context) * events.places + events.position
    cell = place * len(events.items) + events.item
    parts = [number_cells(each, int(each.max(initial=0)) + 1)[1] for each in (place, cell)]
    whole, count = (np.bincount(part)[part] for part in parts)
    return np.asarray(count / whole)


def _classified(events: LoggedEvents) -> Array:
    table = np.hstack([np.eye(events.places)[events.position], *([] if events.features is None else [events.features])])
    model = classifier().fit(table, events.item)
    column = np.searchsorted(model.classes_, events.item)
    return np.asarray(model.predict_proba(table)[np.arange(events.count), column])


def _features(log: Log, frame: pl.DataFrame) -> Array | None:
    """Return the numeric columns of the log that are attributes, each with mean 0 and deviation 1; None if there are none."""
    columns = []
    for name in log.attributes:
        if not (frame[name].dtype == pl.String or frame[name].dtype.is_numeric()):
            continue
        values = frame[name].cast(pl.Float64, strict=False)
        if values.null_count() or name.startswith("p_item_pos_"):
            continue
        numbers = values.to_numpy()
        if spread := float(numbers.std()):
            columns.append((numbers - numbers.mean()) / spread)
    return np.stack(columns, axis=1) if columns else None


def _curve(value: Any) -> Examination:
    if isinstance(value, str) and not Path(value).exists():
        numbers = [words.as_number(part.strip()) for part in value.split(",")]
        if None in numbers:
            raise InputError(
                f"--examination {value}: give the probability of each position, like 1,0.6,0.4, or a file of position-bias"
            )
        value = numbers
    return Examination.of(value)


def targets_of(made: EventLog, source: Any) -> dict[str, TargetPolicy]:
    """Return the target policies by name: of one, a list, or a dict of targets. Raises InputError for two of one name."""
    if isinstance(source, Mapping) and not _is_run(source):
        return {str(name): target_of(made, one, str(name)) for name, one in source.items()}
    out: dict[str, TargetPolicy] = {}
    for one in source if isinstance(source, list | tuple) and not _is_pair(source) else [source]:
        name, value = _named(one)
        target = target_of(made, value, name)
        if target.name in out or target.name == LOGGED:
            raise InputError(f"two policies are called {target.name}: name them, like --target new={value}")
        out[target.name] = target
    return out


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], LoggingPolicy)


def _is_run(rankings: Mapping[Any, Any]) -> bool:
    """True for a dict of rankings: scores of documents, or documents in order, by query."""

    def ranks(value: Any) -> bool:
        if isinstance(value, Mapping):
            return all(isinstance(score, int | float) for score in value.values())
        return isinstance(value, list) and all(isinstance(doc, str) for doc in value)

    return bool(rankings) and all(map(ranks, rankings.values()))


def _named(source: Any) -> tuple[str, Any]:
    if not isinstance(source, str):
        return "", source
    name, equals, value = source.partition("=")
    named = equals and name.replace("_", "").replace("-", "").isalnum() and not Path(source).exists()
    return (name, value) if named else ("", source)


def target_of(made: EventLog, source: Any, name: str = "") -> TargetPolicy:
    """Return a target policy: of a spelling, a run, a pair of policy and run, or a function of the frame of events (probabilities, or rows x items)."""
    if callable(source) and not isinstance(source, type):
        return _of_function(made, source, name or getattr(source, "__name__", "target"))
    if isinstance(source, str):
        target = _spelled(made, source.strip(), name)
        if target is not None:
            return target
        raise InputError(
            f"--target {source}: no column or file has this name: a target is {TARGETS}{words.hint(source, [*made.log.attributes, 'uniform'], '')}"
        )
    policy, run = source if _is_pair(source) else (Fixed(), source)
    return _of_run(made, policy, run, name)


def _spelled(made: EventLog, text: str, name: str) -> TargetPolicy | None:
    if text == "uniform":
        return _uniform(made, name or text)
    if text in made.log.attributes or text in made.log.roles.values():
        return _of_columns(made, text, name or text)
    if Path(text).exists():
        return _of_run(made, Fixed(), text, name)
    match = SPELLED.fullmatch(text)
    if match and match["policy"].partition("(")[0] in LoggingPolicy.catalogue:
        return _of_run(made, parse_all(LoggingPolicy, match["policy"])[0], match["run"], name)
    if text.partition("(")[0] in LoggingPolicy.catalogue:
        raise InputError(f"--target {text}: a policy orders the items of a run: write '{text} new.run'")
    return None


def _uniform(made: EventLog, name: str) -> TargetPolicy:
    """Return all items of the log with equal probability; with queries the items that the log shows for the query."""
    events = made.events
    if len(made.queries) == 1:
        items = np.arange(len(events.items))[None, :]
        return OfPolicy(name, EpsilonShuffle(epsilon=1.0), np.zeros(items.shape), items)
    pairs, _ = number_cells(events.context * len(events.items) + events.item, events.contexts * len(events.items))
    context, item = np.divmod(pairs, len(events.items))
    return _of_pairs(name, EpsilonShuffle(epsilon=1.0), context, item, np.zeros(len(item)), len(made.queries))


def _of_columns(made: EventLog, column: str, name: str) -> TargetPolicy:
    columns: dict[Level, Array] = {}
    there = {role: own for own, role in made.log.roles.items()} | {own: own for own in made.log.attributes}
    for level, endings in LEVELS.items():
        chance_column = next((there[column + ending] for ending in endings if column + ending in there), None)
        if chance_column is not None:
            values = made.read(chance_column)[chance_column].cast(pl.Float64, strict=False)
            if lost := len(values) - int(values.is_between(0, 1).sum()):
                share = words.share(lost / len(values), 1)
                raise DataError(
                    f"{made.log.label}: column {chance_column} has no probability from 0 to 1 in {words.counted(lost, 'row')}, {share} of all: give the target's probability of each shown item"
                )
            columns[level] = values.to_numpy()
    return Recorded(name, columns)


def _of_function(made: EventLog, function: Callable[..., Any], name: str) -> TargetPolicy:
    chances = np.asarray(function(made.read()), dtype=np.float64)
    rows, items = made.events.count, len(made.events.items)
    if chances.shape not in {(rows,), (rows, items)}:
        raise InputError(
            f"{name}: a function returns {rows} probabilities, or {rows} x {items}, and this one returned the shape {chances.shape}"
        )
    if not ((chances >= 0) & (chances <= 1 + 1e-9)).all():
        raise InputError(
            f"{name}: a function returns probabilities from 0 to 1, and this one returned {words.amount(float(chances.min()))} to {words.amount(float(chances.max()))}"
        )
    return Recorded(name, {"item": chances}) if chances.ndim == 1 else Dense(name, chances)


def _of_run(made: EventLog, policy: LoggingPolicy, source: Any, name: str) -> TargetPolicy:
    run = source if isinstance(source, Run) else run_of(source, name or None)
    label = name or (run.name if isinstance(policy, Fixed) else f"{policy} {run.name}")
    frame = run.frame.select("query_id", "doc_id", "score").sort(
        ["query_id", "score", "doc_id"], descending=[False, True, True]
    )
    if len(made.queries) == 1:
        queries = frame["query_id"].unique()
        only = next(iter(made.queries))
        if only not in set(queries) and len(queries) > 1:
            raise InputError(
                f"{label}: the log names no query, and the run has {len(queries)}: give a run of one query, or a log with query_id"
            )
        frame = frame.filter(pl.col("query_id") == only) if only in set(queries) else frame
        context = np.zeros(len(frame), dtype=np.int64)
    else:
        frame = frame.filter(pl.col("query_id").is_in(list(made.queries)))
        missing = len(made.queries) - frame["query_id"].n_unique()
        if missing:
            rows = int(
                np.isin(
                    made.events.context, [made.queries[q] for q in made.queries.keys() - set(frame["query_id"])]
                ).sum()
            )
            share = words.share(rows / made.events.count, 1)
            raise DataError(
                f"{label}: the run lacks {words.counted(missing, 'query', 'queries')} of the log ({share} of its rows): leave these rows out, or rank their items"
            )
        context = np.array([made.queries[query] for query in frame["query_id"]], dtype=np.int64)
    if not len(frame):
        raise DataError(f"{label}: the run ranks no item")
    known = {item: number for number, item in enumerate(made.events.items)}
    for doc in frame["doc_id"].unique(maintain_order=True):
        known.setdefault(doc, len(known))
    item = np.array([known[doc] for doc in frame["doc_id"]], dtype=np.int64)
    return _of_pairs(label, policy, context, item, frame["score"].to_numpy(), len(made.queries))


def _of_pairs(name: str, policy: LoggingPolicy, context: Codes, item: Codes, score: Array, contexts: int) -> OfPolicy:
    """Return a policy on pairs of context and item, in the order of their scores within a context."""
    order = np.argsort(context, kind="stable")
    context, item, score = context[order], item[order], score[order]
    sizes = np.bincount(context, minlength=contexts)
    place = np.arange(len(context)) - (np.cumsum(sizes) - sizes)[context]
    scores = np.full((contexts, int(sizes.max(initial=1))), -np.inf)
    items = np.full(scores.shape, -1, dtype=np.int64)
    scores[context, place], items[context, place] = score, item
    return OfPolicy(name, policy, scores, items)
