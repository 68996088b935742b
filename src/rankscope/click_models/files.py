"""Fitted click models as JSON files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankscope.behaviour.users import NOUN, REMEDY, SCHEMA, chances
from rankscope.click_models.base import FittedModel
from rankscope.click_models.models import find_click_model
from rankscope.errors import InputError
from rankscope.lists.examination import check_schema, read_document
from rankscope.lists.pages import PairIds
from rankscope.store import write_file


def save_model(model: FittedModel, path: str | Path) -> Path:
    """Write a fitted model as JSON, one query and item per attraction."""
    document = {
        "schema": SCHEMA, "model": model.name, "browsing": str(model.model.browsing), "places": model.places, "pages": model.pages, "converged": model.converged,
        "log_likelihood": list(model.trace), "table": model.table.tolist(), "prior": list(model.prior),
        "query": list(model.pairs.query), "item": list(model.pairs.item), "attraction": model.attraction.tolist(),
        "satisfaction": None if model.satisfaction is None else model.satisfaction.tolist(),
    }  # fmt: skip
    write_file(path, [json.dumps(document, ensure_ascii=False), "\n"])
    return Path(path)


def read_model(path: str | Path) -> FittedModel:
    """Read a fitted model. Raises InputError with the reason if the file is not one, or is of another version."""
    document = read_document(path, NOUN, REMEDY)
    check_schema(document, str(path), SCHEMA, NOUN, REMEDY)
    try:
        return _model(document)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: {error!r} is wrong or missing in this click model: {REMEDY}") from None


def _model(document: Mapping[str, Any]) -> FittedModel:
    model = find_click_model(document["model"])
    places, pairs = int(document["places"]), PairIds(list(document["query"]), list(document["item"]))
    sizes = {"item": len(pairs), "place": places, "all": 1}
    attraction = chances(document["attraction"], sizes[model.attracts])
    table = chances(document["table"], len(model.browsing.table(places)))
    satisfaction = None if document["satisfaction"] is None else chances(document["satisfaction"])
    rate, satisfied = document["prior"]
    return FittedModel(
        model, places, table, attraction, satisfaction, (float(rate), float(satisfied)), pairs, tuple(document["log_likelihood"]),
        bool(document["converged"]), int(document["pages"]),
    )  # fmt: skip
