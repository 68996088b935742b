"""Which column of a long table is the query, the document, the score: by their usual names, however these are spelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from rankscope import words
from rankscope.errors import InputError
from rankscope.words import plain_name

ALIASES: dict[str, tuple[str, ...]] = {
    "query_id": (
        "query_id", "qid", "q_id", "query-id", "query", "topic", "topic_id", "user_id", "user", "session_id", "customer_id",
    ),
    "doc_id": (
        "doc_id", "docid", "docno", "corpus-id", "corpus_id", "document_id", "chunk_id", "passage_id", "item_id", "product_id",
        "article_id", "movie_id", "item",
    ),
    "score": ("score",),
    "rank": ("rank",),
    "grade": ("grade", "relevance", "rel", "label", "rating"),
    "iteration": ("iteration", "iter", "subtopic"),
    "tag": ("run", "tag"),
}  # fmt: skip
NAMES = frozenset(alias for aliases in ALIASES.values() for alias in aliases)
RUN_ROLES = ("query_id", "doc_id", "score", "rank", "tag")
QRELS_ROLES = ("query_id", "doc_id", "grade", "iteration")
ID_ROLES = ("query_id", "doc_id", "iteration")
RUN_TABLE = "a run table has the columns query_id, doc_id and score (or rank)"
QRELS_TABLE = "a qrels table has the columns query_id, doc_id and grade"
ORDER = "the order is QRELS RUN..."
# what may stand beside a user and an item where each row says that the one took the other
BESIDE = frozenset({
    "timestamp", "time", "datetime", "date", "ts", "tdat", "unixtimestamp", "eventtime", "createdat", "title", "name", "text",
    "genre", "genres", "category", "url", "iteration", "iter", "q0",
})  # fmt: skip


@cache
def role_names(role: str) -> tuple[str, ...]:
    """The plain names of a role, the likeliest first."""
    return tuple(dict.fromkeys(map(plain_name, ALIASES[role])))


def known_names(names: Sequence[str]) -> int:
    """How many of these names are those of columns of a long table."""
    return len({plain_name(name) for name in names} & {plain for role in ALIASES for plain in role_names(role)})


def known_header(names: Sequence[str]) -> bool:
    """Whether names are those of a long table: at least a query and a document."""
    plain = {plain_name(name) for name in names}
    return all(plain.intersection(role_names(role)) for role in ("query_id", "doc_id"))


def given_roles(columns: Any, what: str, names: Sequence[str], label: str) -> dict[str, str]:
    """The roles that were given to columns by name, of those that this table has. Raises InputError for a role there is not."""
    if not isinstance(columns, Mapping):
        raise InputError(
            f"columns={columns!r}: give the role of each column that has another name, like {{'user': 'query_id'}}"
        )
    out: dict[str, str] = {}
    for name, said in columns.items():
        role = next((role for role in ALIASES if plain_name(str(said)) in role_names(role)), None)
        if role is None:
            hint = words.hint(str(said), ALIASES, otherwise=f"; there are {', '.join(ALIASES)}")
            raise InputError(f"columns: {name!r} is said to be {said!r}, which no column can be{hint}")
        if str(name) not in names or role not in (RUN_ROLES if what == "run" else QRELS_ROLES):
            continue
        if role in out:
            raise InputError(f"{label}: columns {out[role]} and {name} are both said to be the {role}; name one")
        out[role] = str(name)
    return out


def roles_of(
    names: Sequence[str], what: str, label: str, notes: list[str], columns: Any = None, *, graded: bool = False
) -> dict[str, str]:
    """Which column plays which role; ``notes`` gain what was assumed.

    ``columns`` gives roles to columns by name. Judgments that name no grade are rows of what users took, unless they must be
    ``graded``: then the roles have no grade. Raises InputError where a role is missing, or the document may be one of several columns.
    """
    by_plain = {plain_name(name): name for name in reversed(names)}
    roles: dict[str, str] = given_roles(columns, what, names, label) if columns else {}
    taken = set(roles.values())
    for role in RUN_ROLES if what == "run" else QRELS_ROLES:
        fits = [by_plain[plain] for plain in role_names(role) if plain in by_plain and by_plain[plain] not in taken]
        if role in roles or not fits:
            continue
        roles[role] = fits[0]
        ids = [name for name in fits if plain_name(name) != "item"]
        if role == "doc_id" and len(ids) > 1:
            several = f"columns {words.listing(ids, last='and')} could each be the document"
            raise InputError(
                f"{label}: {several}: name one of them doc_id and leave the other out (in Python columns={{{ids[-1]!r}: 'doc_id'}})"
            )
        if len(fits) > 1:
            notes.append(f"columns {words.listing(fits)} could all be the {role}: {fits[0]} is used")
    if what == "qrels" and "grade" not in roles and "score" in by_plain and by_plain["score"] not in taken:
        roles["grade"] = by_plain["score"]
        notes.append(f"no grade column: {by_plain['score']} is taken as the grade")
    if what == "qrels" and not graded and _are_interactions(roles, names):
        notes.append("no grade column: every row is taken as relevant, with grade 1")
        return roles
    _complain(roles, by_plain, names, what, label)
    if what == "run" and "score" not in roles:
        notes.append(f"no score column: the score is -{roles['rank']}")
    return roles


def _are_interactions(roles: Mapping[str, str], names: Sequence[str]) -> bool:
    """Whether rows say no more than that a query and a document go together, and perhaps when."""
    rest = {plain_name(name) for name in names if name not in roles.values()}
    return roles.keys() >= {"query_id", "doc_id"} and "grade" not in roles and rest <= BESIDE


def _complain(roles: dict[str, str], by_plain: dict[str, str], names: Sequence[str], what: str, label: str) -> None:
    value = "score" if what == "run" else "grade"
    missing = [role for role in ("query_id", "doc_id", value) if role not in roles]
    if what == "run" and "rank" in roles:
        missing = [role for role in missing if role != "score"]
    if not missing:
        return
    hint = ""
    if what == "run" and missing == ["score"] and any(alias in by_plain for alias in role_names("grade")):
        hint = f"; a grade belongs to qrels: {ORDER}"
    elif what == "qrels" and missing == ["grade"] and "rank" in by_plain:
        hint = f"; a rank belongs to a run: {ORDER}"
    elif what == "qrels" and missing == ["grade"]:
        rest = [name for name in names if name not in roles.values() and plain_name(name) not in BESIDE]
        hint = f"; where every row is relevant, leave {words.listing(rest, 3)} out"
    wanted = f"no column for {words.listing(missing)} among {words.listing(names) or 'none'}"
    if not hint and any(words.is_number(name) for name in names):
        hint = "; is the header line missing?"
    raise InputError(f"{label}: {wanted}; {RUN_TABLE if what == 'run' else QRELS_TABLE}{hint}")
