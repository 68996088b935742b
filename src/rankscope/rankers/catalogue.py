"""Fusions, normalisations, searches, diversifiers and learners by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankscope.errors import InputError
from rankscope.rankers import trained  # noqa: F401 - declares its fusions
from rankscope.rankers.diversifiers import Diversifier
from rankscope.rankers.fusions import Fusion
from rankscope.rankers.learners import Learner
from rankscope.rankers.normalisations import MinMax, Normalisation
from rankscope.rankers.searches import Search

KINDS: Mapping[str, Any] = {kind.kind: kind for kind in (Fusion, Normalisation, Search, Diversifier, Learner)}


def find_fusion(method: Any) -> Fusion:
    """Return a fusion from an object, a class or a spelling like ``RRF(k=60)``. Raises InputError with the nearest name.

    >>> find_fusion("rrf(k=10)")
    RRF(k=10)
    """
    return Fusion.read(method)


def find_normalisation(normalise: Any, fusion: Fusion) -> Normalisation | None:
    """Return the normalisation before a fusion: by default min-max for a fusion of scores. A fusion of ranks has no normalisation.

    Raises InputError for an unknown name, and if a fusion of ranks would ignore the normalisation.
    """
    if normalise is None:
        return MinMax() if fusion.of_scores else None
    if isinstance(normalise, str) and normalise.casefold() == "none":
        return None
    normalisation = Normalisation.read(normalise)
    if not fusion.of_scores:
        raise InputError(f"normalise={normalise}: {fusion} uses ranks only: leave the normalisation out")
    return normalisation
