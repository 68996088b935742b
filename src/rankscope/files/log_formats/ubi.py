"""OpenSearch UBI (User Behavior Insights): queries with their hits, and events on these hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from rankscope import words
from rankscope.errors import InputError
from rankscope.files.log_formats.inputs import LogFormat, LogInput, LogPart, LogTable, places, tally
from rankscope.files.log_formats.rows import with_times
from rankscope.files.sheets import Sheet
from rankscope.impressions import first_known

EXPECTS = "queries with query_id and query_response_hit_ids, events with query_id, action_name and event_attributes.object.object_id"
HITS = ("query_response_hit_ids", "query_response_object_ids", "query_response_objects_ids")
TIMES, TIME = ("timestamp", "@timestamp"), pl.Datetime("us", "UTC")
TEXTS = {  # places of a value, the likeliest first
    "query_id": ("query_id",), "user_query": ("user_query",), "application": ("application",), "user_id": ("user_id",),
    "client_id": ("client_id",), "session_id": ("session_id", "event_attributes.session_id"), "action": ("action_name",),
    "object_id": ("event_attributes.object.object_id", "event_attributes.object_id", "object_id"),
    "internal_id": ("event_attributes.object.internal_id",),
    "ordinal": ("event_attributes.position.ordinal", "event_attributes.position.ordinal.index", "event_attributes.position.index"),
}  # fmt: skip
IMPRESSION = "impression"
BEFORE = "query_attributes."
MEANT = {  # names of usual actions in a log; other actions keep their names
    "click": "click", "click_through": "click", "item_click": "click", "product_click": "click",
    "purchase": "conversion", "product_purchase": "conversion",
}  # fmt: skip
OWN = {
    "client_id", "user_id", "session_id", "impression_id", "query_id", "item_id", "position", "shown", "examined", "dwell_s",
    "timestamp", "application",
}  # fmt: skip
MOST = 30  # actions that become columns, those with the most events
PAIR = ["impression_id", "item_id"]


def read_ubi(log_input: LogInput) -> LogTable:
    """Return UBI's queries and events as rows: one per hit of a query, with the events on it.

    ``query_id`` of UBI is the list (``impression_id``), ``user_query`` the query, ``client_id`` the unit. Hits have positions from 1, in
    their order. An event belongs to the hit with its ``object_id`` (or its ``internal_id``). Clicks are 1 or 0, purchases are counted as
    conversions, and every other action on an item is counted in its own column. Events of the action ``impression`` set ``examined``,
    and are the shown items of a query without hits. An event on an item that is not a hit is a row with ``shown`` 0. ``dwell_s`` is the
    time from a click to the next event of its session. Scalars of ``query_attributes`` are attributes of the list.

    Source: the UBI specification 1.3.
    """
    parts = [part for part in log_input.parts if UBI.fits(part)]
    queries, events, notes = _tables(parts)
    lists = _lists(queries)
    done = _done(events)
    shown, added = _shown(lists, done)
    if not shown.height:
        raise InputError(
            f"{log_input.label}: no query with hits, and no event of shown items; UBI has {EXPECTS}, or events of the action impression"
        )
    known = pl.concat([lists.select("impression_id"), shown.select("impression_id")]).unique()
    done = _matched(done.join(known, on="impression_id", how="semi", maintain_order="left"), shown)
    rows = _rows(shown, done, _dwell(events, lists), observed=bool(events.height))
    rows, more = _about(rows, lists, events)
    notes = [*log_input.left_out(parts, "queries or events"), *notes, *more, *_remarks(events, done, added)]
    counts = words.counted(shown["impression_id"].n_unique(), "list"), words.counted(events.height, "event")
    where = places(log_input.label, rows, {"impression_id": "list", "item_id": "item"})
    return LogTable(rows, log_input.source("UBI", parts, place_of=where), f"OpenSearch UBI: {', '.join(counts)}", notes)


# --- what was given -------------------------------------------------------------------------------------------------


def _tables(parts: Sequence[LogPart]) -> tuple[pl.DataFrame, pl.DataFrame, list[str]]:
    queries: list[pl.DataFrame] = []
    events: list[pl.DataFrame] = []
    notes = dict[str, None]()
    for part in parts:
        frame, remarks = _table(part.sheet())
        notes |= dict.fromkeys(remarks)
        is_event = frame["action"].is_not_null()
        events.append(frame.filter(is_event))
        queries.append(frame.filter(~is_event & frame["query_id"].is_not_null()))
    empty = pl.DataFrame(schema={**dict.fromkeys(TEXTS, pl.String), "hits": pl.List(pl.String), "timestamp": TIME})
    acts = pl.concat([empty, *events], how="diagonal").select(empty.columns)
    return pl.concat([empty, *queries], how="diagonal"), acts, list(notes)


def _table(sheet: Sheet) -> tuple[pl.DataFrame, list[str]]:
    frame, notes = sheet.frame, list[str]()
    time = [name for name in TIMES if name in frame.columns]
    if time:
        frame, notes = with_times(sheet, time[0])
    columns = [_first(frame, places).alias(name) for name, places in TEXTS.items()]
    columns.append(_hits(frame).alias("hits"))
    columns.append((pl.col(time[0]) if time else pl.lit(None, TIME)).alias("timestamp"))
    attributes = [name for name, dtype in frame.schema.items() if name.startswith(BEFORE) and not dtype.is_nested()]
    columns += [pl.col(name).cast(pl.String).alias(name) for name in attributes]
    return frame.select(columns), notes


def _first(frame: pl.DataFrame, places: Sequence[str]) -> pl.Expr:
    there = [name for name in places if name in frame.columns and not frame.schema[name].is_nested()]
    value = pl.coalesce([pl.col(name).cast(pl.String).str.strip_chars() for name in there] or [pl.lit(None, pl.String)])
    return pl.when(value != "").then(value)


def _hits(frame: pl.DataFrame) -> pl.Expr:
    name = next((name for name in HITS if name in frame.columns), None)
    if name is None:
        return pl.lit(None, pl.List(pl.String))
    if isinstance(frame.schema[name], pl.List):
        return pl.col(name).cast(pl.List(pl.String))
    text = pl.col(name).cast(pl.String).str.replace_all(r"""[\[\]"'\s]""", "")
    return pl.when(text != "").then(text.str.split(","))


# --- lists and what was done with them ------------------------------------------------------------------------------


def _lists(queries: pl.DataFrame) -> pl.DataFrame:
    """Return one row per query id; hits of a repeated id follow the earlier hits."""
    attributes = [name for name in queries.columns if name.startswith(BEFORE)]
    first = ["user_query", "application", "client_id", "user_id", "session_id", *attributes]
    lists = queries.sort("timestamp", maintain_order=True).group_by("query_id", maintain_order=True).agg(
        pl.col("hits").explode().drop_nulls().unique(maintain_order=True), pl.col("timestamp").min(), *[first_known(pl.col(name)) for name in first]
    )  # fmt: skip
    return lists.rename({"query_id": "impression_id"})


def _done(events: pl.DataFrame) -> pl.DataFrame:
    has_item = pl.col("object_id").is_not_null() | pl.col("internal_id").is_not_null()
    kind = pl.col("action").replace(MEANT)
    return events.with_row_index("event").filter(has_item & pl.col("query_id").is_not_null()).select(
        "event", pl.col("query_id").alias("impression_id"), "object_id", "internal_id",
        pl.col("ordinal").cast(pl.Float64, strict=False).cast(pl.Int64, strict=False), "timestamp", kind.alias("kind"),
    )  # fmt: skip


def _shown(lists: pl.DataFrame, done: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    hits = pl.DataFrame(schema={"impression_id": pl.String, "item_id": pl.String, "position": pl.Int64})
    if lists.height:
        position = pl.int_ranges(1, pl.col("hits").list.len() + 1).alias("position")
        some = lists.filter(pl.col("hits").list.len() > 0)
        hits = some.select("impression_id", pl.col("hits").alias("item_id"), position).explode("item_id", "position")
    seen = _matched(done.filter(pl.col("kind") == IMPRESSION), hits)
    seen = seen.filter(~pl.col("is_shown")).sort("timestamp", "event").unique(PAIR, keep="first", maintain_order=True)
    more = seen.select(*PAIR, pl.col("ordinal").alias("position"))
    return pl.concat([hits, more], how="vertical_relaxed"), more.height


def _matched(done: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    """Add the item of each event: by the object's id, or by the engine's id if the list has it."""
    near = shown.select(*PAIR).join(done.select("impression_id").unique(), on="impression_id", how="semi")
    pairs = near.unique().with_columns(pl.lit(value=True).alias("there"))
    for name in ("object_id", "internal_id"):
        named = pairs.rename({"item_id": name, "there": f"by_{name}"})
        done = done.join(named, on=["impression_id", name], how="left", maintain_order="left")
    done = done.with_columns(pl.col("by_object_id", "by_internal_id").fill_null(value=False))
    by_object, by_internal = pl.col("by_object_id"), pl.col("by_internal_id")
    either = pl.coalesce("object_id", "internal_id")
    item = pl.when(~by_object & by_internal).then(pl.col("internal_id")).otherwise(either).alias("item_id")
    rows = done.with_columns(item, (by_object | by_internal).alias("is_shown"))
    return rows.drop("by_object_id", "by_internal_id")


def _dwell(events: pl.DataFrame, lists: pl.DataFrame) -> pl.DataFrame | None:
    """Return the seconds from each event to the next of its session; None if no session is named."""
    acts = events.with_row_index("event").select("event", "session_id", "timestamp")
    if acts["session_id"].null_count() == acts.height or acts["timestamp"].null_count() == acts.height:
        return None
    sessions = events.filter(pl.col("session_id").is_not_null()).unique("query_id", keep="first", maintain_order=True)
    if lists.height:
        searches = lists.select(pl.col("impression_id").alias("query_id"), "timestamp").join(
            sessions.select("query_id", "session_id"), on="query_id"
        )
        acts = pl.concat([acts, searches.select("session_id", "timestamp")], how="diagonal")
    acts = acts.filter(pl.col("session_id").is_not_null() & pl.col("timestamp").is_not_null()).sort(
        "timestamp", "event", nulls_last=False
    )
    until = (pl.col("timestamp").shift(-1).over("session_id") - pl.col("timestamp")).dt.total_microseconds() / 1e6
    return acts.with_columns(until.alias("seconds")).filter(pl.col("event").is_not_null()).select("event", "seconds")


def _rows(shown: pl.DataFrame, done: pl.DataFrame, dwell: pl.DataFrame | None, *, observed: bool) -> pl.DataFrame:
    acts = done.filter(pl.col("kind") != IMPRESSION)
    kinds = sorted(kind for kind, _ in tally(acts["kind"])[:MOST])
    clicked = pl.col("kind") == "click"
    sums = [clicked.any().cast(pl.Int64).alias("click")]
    named = {kind: f"action_{kind}" if kind in OWN else kind for kind in kinds if kind != "click"}
    sums += [(pl.col("kind") == kind).sum().cast(pl.Int64).alias(name) for kind, name in named.items()]
    counted = [name.meta.output_name() for name in sums]
    if dwell is not None:
        acts = acts.join(dwell, on="event", how="left", maintain_order="left")
        seconds = pl.col("seconds").filter(clicked).drop_nulls()
        sums.append(pl.when(seconds.len() > 0).then(seconds.sum()).alias("dwell_s"))
    counts = acts.group_by(PAIR, maintain_order=True).agg(*sums, pl.col("timestamp").min().alias("done_at"))
    rows = shown.with_columns(pl.lit(1).alias("shown")).join(counts, on=PAIR, how="left", maintain_order="left")
    stray = counts.join(shown, on=PAIR, how="anti", maintain_order="left").with_columns(pl.lit(0).alias("shown"))
    rows = pl.concat([rows, stray], how="diagonal")
    if observed:
        rows = rows.with_columns(pl.col(counted).fill_null(0))
    seen = done.filter(pl.col("kind") == IMPRESSION).unique(PAIR).select(*PAIR, pl.lit(1).alias("examined"))
    if seen.height:
        rows = rows.join(seen, on=PAIR, how="left", maintain_order="left").with_columns(pl.col("examined").fill_null(0))
    return rows


def _about(rows: pl.DataFrame, lists: pl.DataFrame, events: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    who = ("client_id", "user_id", "session_id", "user_query", "application")
    first = [first_known(pl.col(name)).alias(f"event_{name}") for name in who]
    ordered = events.filter(pl.col("query_id").is_not_null()).sort("timestamp", maintain_order=True)
    facts = ordered.group_by("query_id", maintain_order=True).agg(pl.col("timestamp").min().alias("first_at"), *first)
    attributes = {name: name.removeprefix(BEFORE) for name in lists.columns if name.startswith(BEFORE)}
    taken = {*OWN, *MEANT.values(), *rows.columns}
    known = lists.drop("hits", *[name for name, own in attributes.items() if own in taken])
    known = known.rename(attributes, strict=False)
    rows = rows.join(facts.rename({"query_id": "impression_id"}), on="impression_id", how="left", maintain_order="left")
    rows = rows.join(known, on="impression_id", how="left", maintain_order="left").with_columns(
        *[pl.coalesce(name, f"event_{name}").alias(name) for name in who],
        pl.coalesce("timestamp", "first_at", "done_at").alias("timestamp"),
    )
    rows = rows.drop("first_at", "done_at", *[f"event_{name}" for name in who]).rename({"user_query": "query_id"})
    return _settled(rows)


def _settled(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    notes = []
    has_client = rows["client_id"].null_count() < rows.height
    rows = rows.drop("user_id" if has_client else "client_id")
    lists = rows.filter(pl.col("shown") == 1).unique("impression_id")
    without = lists["session_id"].null_count()
    if 0 < without < lists.height:
        rows = rows.drop("session_id")
        some = f"{words.count(without)} of {words.counted(lists.height, 'list')}"
        notes.append(f"the session of {some} is not known: sessions are left out")
    rows = rows.select(name for name in rows.columns if rows[name].null_count() < rows.height)
    first = [name for name in ("client_id", "user_id", "session_id", *PAIR, "position") if name in rows.columns]
    rows = rows.select(*first, *[name for name in rows.columns if name not in first])
    order = [name for name in ("timestamp", "impression_id", "position") if name in rows.columns]
    return rows.sort(order, nulls_last=True, maintain_order=True), notes


def _remarks(events: pl.DataFrame, done: pl.DataFrame, added: int) -> Iterator[str]:
    if not events.height:
        yield "events are missing: clicks are unknown"
        return
    clicks = done.filter(pl.col("kind") == "click")
    stray = clicks.filter(~pl.col("is_shown")).height
    if stray:
        yield f"{words.count(stray)} of {words.counted(clicks.height, 'click')}: the item is not among the hits of the query. It becomes an extra row, with shown 0"
    again = clicks.height - clicks.unique(PAIR).height
    if again:
        yield f"{words.counted(again, 'click')} came again on the same item of a list: each item is clicked or not"
    if added:
        yield f"{words.counted(added, 'item')} {words.agree(added, 'is')} known only from impressions, not from hits, with the position in the impressions"
    missed = events.with_row_index("event").join(done, on="event", how="anti")
    if others := missed.height:
        names = [f"{name} {words.count(count)}" for name, count in tally(missed["action"])]
        yield f"{words.counted(others, 'event')} {words.agree(others, 'is')} of no item of a list that is there, and in no row: {words.listing(names)}"
    kinds = [kind for kind, _ in tally(done.filter(pl.col("kind") != IMPRESSION)["kind"])]
    if len(kinds) > MOST:
        rest = len(kinds) - MOST
        yield f"{words.counted(rest, 'action')} with the fewest events {words.agree(rest, 'has')} no column: {words.listing(kinds[MOST:])}"


UBI = LogFormat(
    "ubi", "OpenSearch UBI: queries with their hits, and events", EXPECTS,
    read_ubi, [("query_id", name) for name in (*HITS, "action_name")],
    names=("opensearch",), keys=("queries", "events", "ubi_queries", "ubi_events"),
)  # fmt: skip
