"""A search page that shows interleaved lists, as an ASGI application without a framework.

    uvicorn examples.interleaving_asgi:app

GET /search?q=QUERY&user=USER returns one list as JSON. POST /click with {"impression_id": ..., "position": ...} records a click. Rows go
to ``log``: ``rankscope interleaving`` reads them as JSON lines. A list depends only on the seed and its id, so it can be made again.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any
from urllib.parse import parse_qs

import rankscope as rs

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Ranker = Callable[[str], list[str]]


class InterleavedSearch:
    """Shows lists mixed of the rankings of two or more rankers, and keeps the log of what was shown and clicked."""

    def __init__(
        self, rankers: Mapping[str, Ranker], k: int = 10, seed: int = 0, method: rs.Mixing | None = None
    ) -> None:
        self.rankers, self.k, self.seed = rankers, k, seed
        self.method = rs.TeamDraft() if method is None else method
        self.log: dict[str, list[dict[str, Any]]] = {}
        self.numbers = count(1)

    def show(self, query: str, user: str) -> dict[str, Any]:
        """Mix one list and log its items."""
        names, impression = list(self.rankers), f"list-{next(self.numbers)}"
        mixed = self.method.mix([ranker(query) for ranker in self.rankers.values()], self.k, self.seed, impression)
        self.log[impression] = [
            {
                "user_id": user, "impression_id": impression, "query_id": query, "item_id": item, "position": place + 1, "click": 0,
                "team": names[team], **{f"rank_{name}": ranks[place] for name, ranks in zip(names, mixed.ranks, strict=True)},
                "merge_method": str(self.method), "merge_seed": self.seed,
            }
            for place, (item, team) in enumerate(zip(mixed.items, mixed.teams, strict=True))
        ]  # fmt: skip
        return {"impression_id": impression, "items": list(mixed.items)}

    def click(self, impression: str, position: int) -> dict[str, Any]:
        """Record a click."""
        self.log[impression][position - 1]["click"] = 1
        return {"recorded": True}

    def lines(self) -> str:
        """Return the log as JSON lines, one row per shown item."""
        return "".join(json.dumps(row) + "\n" for rows in self.log.values() for row in rows)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        found: dict[str, Any] | None = None
        if (scope["method"], scope["path"]) == ("GET", "/search"):
            asked = parse_qs(scope["query_string"].decode())
            found = self.show(asked["q"][0], asked["user"][0])
        elif (scope["method"], scope["path"]) == ("POST", "/click"):
            clicked = json.loads((await receive())["body"])
            found = self.click(clicked["impression_id"], clicked["position"])
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 404 if found is None else 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(found).encode()})


def _by_length(query: str) -> list[str]:
    return sorted((f"{query}-{number}" for number in range(20)), key=len)


def _by_name(query: str) -> list[str]:
    return sorted(f"{query}-{number}" for number in range(20))


app = InterleavedSearch({"length": _by_length, "name": _by_name})
