"""Look metrics up by any name they go by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankscope.declared import class_like, parameters, required_parameters
from rankscope.errors import InputError
from rankscope.metrics import NICKNAMES, Metric, families, parse, parse_many
from rankscope.metrics.description import rewards
from rankscope.verbs.catalogue.online import OnlineCatalogue, online_catalogue
from rankscope.verbs.catalogue.result import Catalogue, all_metrics, usual


def catalogue(name: str | Sequence[str] | None = None) -> Catalogue | OnlineCatalogue:
    """Say what a metric means: formula, what to watch out for, parameters, a worked example, its source; without a name all metrics.

    ``name`` is a metric, an alias, any spelling such as ``ndcg_cut_10``, a set such as ``official``, or a family such as
    ``diversity``; or several of these. Online metrics such as ``CTR`` are told, too, and ``online`` lists them. Raises InputError
    for a name that no metric has.

    >>> import rankscope as rs
    >>> rs.catalogue("ndcg_cut_10").metrics[0].__name__
    'nDCG'
    >>> [cls.__name__ for cls in rs.catalogue(["gain", "RR"]).metrics]
    ['CG', 'DCG', 'IdealDCG', 'nDCG', 'RR']
    """
    if name is None:
        return Catalogue(tuple(all_metrics()))
    if not isinstance(name, str):
        found = [catalogue(one) for one in name]
        if len(found) == 1:
            return found[0]
        return _together(name, found)
    if name in families() and name not in Metric.catalogue:
        return Catalogue(tuple(families()[name]), name)
    members = find_set(name)
    if members:
        return Catalogue(tuple(dict.fromkeys(type(metric) for _, metric in members)), name, tuple(members))
    try:
        return Catalogue((find_metric(name),), name)
    except InputError:
        online = online_catalogue(name)
        if online is None:
            raise
        return online


def _together(names: Sequence[str], found: Sequence[Catalogue | OnlineCatalogue]) -> Catalogue | OnlineCatalogue:
    """Several as one; InputError where some are of judgments and others of logs, which have not the same traits."""
    ours = [one for one in found if isinstance(one, Catalogue)]
    online = [one for one in found if not isinstance(one, Catalogue)]
    if ours and online:
        raise InputError(f"{online[0].name} is a metric of logs, and {ours[0].name} of judgments: ask for either alone")
    if ours:
        return Catalogue(tuple(dict.fromkeys(cls for one in ours for cls in one.metrics)), " ".join(names))
    return type(online[0])(tuple(dict.fromkeys(cls for one in online for cls in one.metrics)), " ".join(names))


def find_metric(name: str) -> type[Metric]:
    """The metric of a name, an alias or any spelling such as ``ndcg_cut_10``; or an error that offers the nearest."""
    try:
        return Metric.catalogue.get(name) or class_like(Metric, name, name)  # type: ignore[no-any-return]
    except InputError:
        try:
            return type(parse_many(name)[0][1])
        except InputError as error:
            raise error from None


def find_usual(spelling: str) -> Metric:
    """The metric that a spelling means; one that needs parameters has those it is mostly used with.

    >>> find_usual("P"), find_usual("RBP(p=0.5)")
    (P@10, RBP(p=0.5))
    """
    try:
        return parse(spelling).ready()
    except InputError:
        cls = find_metric(spelling)
        if spelling.casefold() in {name.casefold() for name in (cls.__name__, *cls.aliases)}:
            return usual(cls).ready()
        raise


def find_set(name: str) -> list[tuple[str, Metric]]:
    """The metrics of a set such as ``official``, each with the name that the set has for it; none for other names."""
    return parse_many(name) if name in NICKNAMES else []


def spellings(cutoffs: Sequence[int]) -> Iterator[tuple[str, str]]:
    """What to offer to someone who types, each with what it rewards: the names of metrics, or with ``cutoffs`` what can be computed.

    What a metric needs beside a cutoff it has as in its first example: ``IPrec@0.5``.
    """
    for cls in all_metrics():
        about, needed = rewards(cls), required_parameters(cls)
        if not cutoffs:
            yield cls.__name__, about
            continue
        example = usual(cls)
        others = {name: getattr(example, name) for name in needed if name != "cutoff"}
        if "cutoff" not in needed:
            yield str(cls(**others)), about
        if "cutoff" in parameters(cls):
            yield from ((str(cls(**others, cutoff=k)), about) for k in cutoffs)
    if cutoffs:
        yield from ((name, "trec_eval's set of this name") for name in NICKNAMES)
