"""Which column of a long table is the query, the document, the score: by their usual names, however these are spelled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    "iteration": ("iteration", "iter", "subtopic", "stratum"),
    "tag": ("run", "tag"),
}  # fmt: skip
PLAIN_NAMES = {
    role: tuple(dict.fromkeys(map(plain_name, aliases))) for role, aliases in ALIASES.items()
}  # the likeliest first
NAMES = frozenset(alias for aliases in ALIASES.values() for alias in aliases)
RUN_ROLES = ("query_id", "doc_id", "score", "rank", "tag")
QRELS_ROLES = ("query_id", "doc_id", "grade", "iteration")
ID_ROLES = ("query_id", "doc_id", "iteration")
RUN_TABLE = "a run table has the columns query_id, doc_id and score (or rank)"
QRELS_TABLE = "a qrels table has the columns query_id, doc_id and grade"
ORDER = "the order is QRELS RUN..."
# names of columns that interactions of users and items may have
BESIDE = frozenset({
    "timestamp", "time", "datetime", "date", "ts", "tdat", "unixtimestamp", "eventtime", "createdat", "title", "name", "text",
    "genre", "genres", "category", "url", "iteration", "iter", "q0",
})  # fmt: skip


def known_names(names: Iterable[str]) -> int:
    """Count the names that columns of a long table have."""
    return len({plain_name(name) for name in names} & {plain for role in ALIASES for plain in PLAIN_NAMES[role]})


def known_header(names: Iterable[str]) -> bool:
    """True if the names are of a long table: at least a query and a document."""
    plain = {plain_name(name) for name in names}
    return all(plain.intersection(PLAIN_NAMES[role]) for role in ("query_id", "doc_id"))


def column_roles(columns: Any, example: str) -> list[tuple[str, str]]:
    """Return columns and their roles from a mapping or a text of the command line: ``user=query_id,sku=doc_id``."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(columns, str):
        pairs = [(part.rpartition("=")[0], part.rpartition("=")[2]) for part in columns.split(",")]
    elif isinstance(columns, Mapping):
        pairs = list(columns.items())
    if not isinstance(columns, Mapping | str) or any(not str(part).strip() for pair in pairs for part in pair):
        remedy = "give the role of each column that has another name"
        raise InputError(f"columns={columns!r}: {remedy}, like --columns '{example}'")
    return [(str(name).strip(), str(role).strip()) for name, role in pairs]


class ColumnRoles(dict[str, str]):
    """Roles of columns by name; ``met`` has those of these columns that an input had.

    >>> ColumnRoles.of("user=query_id, sku=docno")
    {'user': 'query_id', 'sku': 'doc_id'}
    """

    def __init__(self, roles: Mapping[str, str]) -> None:
        super().__init__(roles)
        self.met: set[str] = set()
        self.names: dict[str, None] = {}  # of all columns that were read

    @classmethod
    def of(cls, columns: Any) -> ColumnRoles:
        """Return the roles in a mapping or a text of the command line. Raises InputError for an unknown role."""
        if isinstance(columns, cls):
            return columns
        out: dict[str, str] = {}
        for name, role_name in column_roles(columns, "user=query_id"):
            role = next((role for role in ALIASES if plain_name(role_name) in PLAIN_NAMES[role]), None)
            if role is None:
                hint = words.hint(role_name, ALIASES, otherwise=f"; there are {', '.join(ALIASES)}")
                raise InputError(f"columns: {name!r} has the unknown role {role_name!r}{hint}")
            if name in out:
                raise InputError(f"columns: {name!r} is given twice, as {out[name]} and as {role}; keep one")
            out[name] = role
        return cls(out)

    def among(self, names: Sequence[str], what: str, label: str) -> dict[str, str]:
        """Return the column of each role in a table with these names."""
        self.names |= dict.fromkeys(names)
        out: dict[str, str] = {}
        for name, role in self.items():
            if name not in names or role not in (RUN_ROLES if what == "run" else QRELS_ROLES):
                continue
            if role in out:
                raise InputError(f"{label}: columns {out[role]} and {name} both have the role {role}; name one")
            out[role] = name
        self.met |= set(out.values())
        return out

    def refuse_absent(self) -> None:
        """Raise InputError for a column that no input had, when all are read."""
        for name, role in self.items():
            if name not in self.met:
                there = words.hint(name, self.names, most=12) if self.names else "; the input has no named columns"
                raise InputError(f"columns: the inputs lack a column {name!r} that could be the {role}{there}")


def roles_of(
    names: Sequence[str],
    what: str,
    label: str,
    notes: list[str],
    columns: ColumnRoles | None = None,
    *,
    graded: bool = False,
) -> dict[str, str]:
    """Return the column of each role; assumptions are added to ``notes``.

    ``columns`` gives roles to columns by name. Judgments without a grade are interactions of users, and their roles have no
    grade, unless they must be ``graded``. Raises InputError for a missing role, and if several columns may be the document.
    """
    by_plain = {plain_name(name): name for name in reversed(names)}
    roles: dict[str, str] = columns.among(names, what, label) if columns else {}
    taken = set(roles.values())
    for role in RUN_ROLES if what == "run" else QRELS_ROLES:
        fits = [by_plain[plain] for plain in PLAIN_NAMES[role] if plain in by_plain and by_plain[plain] not in taken]
        if role in roles or not fits:
            continue
        roles[role] = fits[0]
        ids = [name for name in fits if plain_name(name) != "item"]
        if role == "doc_id" and len(ids) > 1:
            several = f"columns {words.listing(ids, last='and')} could each be the document"
            raise InputError(f"{label}: {several}: name it, like --columns '{ids[-1]}=doc_id'")
        if len(fits) > 1:
            notes.append(f"columns {words.listing(fits)} could all be the {role}: {fits[0]} is used")
    if what == "qrels" and "grade" not in roles and "score" in by_plain and by_plain["score"] not in taken:
        roles["grade"] = by_plain["score"]
        notes.append(f"no grade column: {by_plain['score']} is taken as the grade")
    rest = {plain_name(name) for name in names if name not in roles.values()}
    ungraded = what == "qrels" and not graded and "grade" not in roles
    if ungraded and roles.keys() >= {"query_id", "doc_id"} and rest <= BESIDE:
        notes.append("no grade column: every row is taken as relevant, with grade 1")
        return roles
    _complain(roles, by_plain, names, what, label)
    if what == "run" and "score" not in roles:
        notes.append(f"no score column: the score is -{roles['rank']}")
    return roles


def _complain(roles: dict[str, str], by_plain: dict[str, str], names: Sequence[str], what: str, label: str) -> None:
    value = "score" if what == "run" else "grade"
    missing = [role for role in ("query_id", "doc_id", value) if role not in roles]
    if what == "run" and "rank" in roles:
        missing = [role for role in missing if role != "score"]
    if not missing:
        return
    hint = ""
    if what == "run" and missing == ["score"] and any(alias in by_plain for alias in PLAIN_NAMES["grade"]):
        hint = f"; a grade belongs to qrels: {ORDER}"
    elif what == "qrels" and missing == ["grade"] and "rank" in by_plain:
        hint = f"; a rank belongs to a run: {ORDER}"
    elif what == "qrels" and missing == ["grade"]:
        rest = [name for name in names if name not in roles.values() and plain_name(name) not in BESIDE]
        hint = f"; if every row is relevant, leave {words.listing(rest, 3)} out"
    wanted = f"no column for {words.listing(missing)} among {words.listing(names) or 'none'}"
    if not hint and any(words.is_number(name) for name in names):
        hint = "; is the header line missing?"
    elif not hint and (rest := [name for name in names if name not in roles.values()]):
        hint = f"; name it, like --columns '{rest[0]}={missing[0]}'"
    raise InputError(f"{label}: {wanted}; {RUN_TABLE if what == 'run' else QRELS_TABLE}{hint}")
