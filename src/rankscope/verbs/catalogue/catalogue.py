"""Look metrics up by any name they go by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rankscope.declared import class_like, parameters, required_parameters
from rankscope.errors import InputError
from rankscope.metrics import NICKNAMES, Metric, families, parse, parse_many
from rankscope.metrics.description import rewards
from rankscope.verbs.catalogue.result import Catalogue, OnlineCatalogue, all_metrics, find_online, usual


def catalogue(name: str | Sequence[str] | None = None) -> Catalogue | OnlineCatalogue:
    """Explain metrics: formula, pitfalls, parameters, a worked example and the source; by default list all metrics.

    ``name`` is a metric, an alias, any spelling like ``ndcg_cut_10``, a set like ``official``, or a family like
    ``diversity``, or several of these. Online metrics like ``CTR`` work, and ``online`` lists them. Raises InputError
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
        catalogues = [catalogue(str(one)) for one in (name if isinstance(name, Iterable) else [name])]
        if not catalogues:
            raise InputError("the name is empty: name a metric, or leave it out for all")
        return catalogues[0] if len(catalogues) == 1 else _together(name, catalogues)
    if name in families() and name not in Metric.catalogue:
        return Catalogue(tuple(families()[name]), name)
    members = find_set(name)
    if members:
        return Catalogue(tuple(dict.fromkeys(type(metric) for _, metric in members)), name, tuple(members))
    try:
        return Catalogue((find_metric(name),), name)
    except InputError:
        if online := find_online(name):
            return OnlineCatalogue(tuple(online), name)
        raise


def _together(names: Sequence[str], catalogues: Sequence[Catalogue | OnlineCatalogue]) -> Catalogue | OnlineCatalogue:
    """Join several catalogues. Raises InputError for a mix of offline and online metrics, which have different traits."""
    ours, online = ([one for one in catalogues if isinstance(one, kind)] for kind in (Catalogue, OnlineCatalogue))
    if ours and online:
        raise InputError(f"{online[0].name} is for logs, and {ours[0].name} for judgments: ask for one at a time")
    return type(catalogues[0])(tuple(dict.fromkeys(cls for one in catalogues for cls in one.metrics)), " ".join(names))


def find_metric(name: str) -> type[Metric]:
    """Return the metric of a name, an alias or any spelling like ``ndcg_cut_10``. An error suggests the nearest."""
    try:
        return Metric.catalogue.get(name) or class_like(Metric, name, name)  # type: ignore[no-any-return]
    except InputError:
        pass
    return type(parse_many(name)[0][1])


def find_usual(spelling: str) -> Metric:
    """The metric that a spelling means. One that needs parameters has those it is mostly used with."""
    try:
        return parse(spelling).ready()
    except InputError:
        cls = find_metric(spelling)
        if spelling.casefold() in {name.casefold() for name in (cls.__name__, *cls.aliases)}:
            return usual(cls).ready()
        raise


def find_set(name: str) -> list[tuple[str, Metric]]:
    """Return the metrics of a set like ``official``, each with its name in the set. Empty for other names."""
    return parse_many(name) if name in NICKNAMES else []


def spellings(cutoffs: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield names of metrics for completion with meanings, or with ``cutoffs`` computable spellings with the parameters of their first example."""
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
            most = parameters(cls)["cutoff"][1].high
            yield from ((str(cls(**others, cutoff=k)), about) for k in cutoffs if k <= most)
    if cutoffs:
        yield from ((name, "trec_eval's set of this name") for name in NICKNAMES)
