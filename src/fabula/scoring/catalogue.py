"""The catalogue of metrics, and the sets that stand for several of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import cast

from fabula.core.catalogue import MetricCatalogue, pick_subclass
from fabula.core.errors import UnknownName, UserError, closest
from fabula.core.metric import Metric
from fabula.core.settings import parse_spec, split_specs

METRICS = MetricCatalogue(
    "metric",
    ("fabula.metrics", "fabula.learned", "fabula.judges"),
    lambda module: cast(type[Metric], pick_subclass(module, Metric)),
)

SETS = {
    "baselines": "the trivial baselines",
    "strings": "every string metric and the baselines",
    "checks": "every craft check: habits of prose that writers look for",
    "learned": "every metric that loads weights of its own training, but those that look at "
    "pictures",
    "hanna": "HANNA's published columns, as the release gives them",
    "all": "every metric with its default settings, but judges, those whose model is a hub's and "
    "those that look at pictures",
}

_FAMILIES = {
    "baselines": ("baseline",),
    "strings": ("string", "baseline"),
    "checks": ("check",),
    "learned": ("learned",),
}


def spec(text: str) -> str:
    """Canonical spelling of a metric: `spec("rouge( n = 2 )")` is `'rouge(n=2)'`."""
    return METRICS.build(text).spec


def choose_metrics(wanted: str | Metric | Iterable[str | Metric]) -> list[Metric]:
    """Make metrics of specs, sets, lists with commas and ready metrics; each once, in order."""
    if isinstance(wanted, str | Metric):
        wanted = [wanted]
    chosen: dict[str, Metric] = {}
    for entry in wanted if isinstance(wanted, Iterable) else [wanted]:
        if not isinstance(entry, str | Metric):
            raise UserError(f"{entry!r} is no metric", "name one, such as 'rouge(n=2)'")
        for metric in [entry] if isinstance(entry, Metric) else _build_all(entry):
            chosen.setdefault(metric.spec, metric)
    if not chosen:
        raise UserError("no metric is chosen", f"name some: {', '.join([*SETS, 'rouge(n=2)'])}")
    return list(chosen.values())


def label_scorers(keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Call scorers and aspects what people call them; those that would share a name by their specs.

    A person, or a metric that is not installed here, keeps its own name.
    """
    labels = {key: _label(*key) for key in keys}
    counts = Counter(labels.values())
    return {
        key: label if counts[label] == 1 else " ".join(filter(None, key))
        for key, label in labels.items()
    }


def _label(scorer: str, aspect: str) -> str:
    try:
        return METRICS.build(scorer).label(aspect)
    except UserError:
        return f"{scorer} {aspect}".strip()


def columns_of_release(name: str) -> dict[str, tuple[str, str]]:
    """Columns of a data set that metrics regenerate, in its order: column → (spec, aspect)."""
    from fabula.datasets import DATASETS

    releases = [known for known in SETS if known in DATASETS]
    if name not in releases:
        raise UnknownName(f"no release is called {name!r}", closest(name, releases))
    columns = {
        column: (METRICS.build(spelled).spec, aspect)
        for metric in METRICS.load_all().values()
        for column, (spelled, aspect) in metric.card.published.get(name, {}).items()
    }
    order = [column for column in DATASETS.get(name).CARD.columns if column in columns]
    return {column: columns[column] for column in dict.fromkeys([*order, *columns])}


def _build_all(text: str) -> list[Metric]:
    return [metric for part in split_specs(text) for metric in _build_named(part)]


def _build_named(text: str) -> list[Metric]:
    if text in SETS:
        return [METRICS.build(spelled) for spelled in _list_specs(text)]
    try:
        return [METRICS.build(text)]
    except UnknownName:
        name = parse_spec(text)[0]
        known = [*METRICS.names(), *SETS]
        raise UnknownName(f"no metric or set is called {name!r}", closest(name, known)) from None


def _list_specs(name: str) -> list[str]:
    from fabula.datasets import DATASETS

    if name in DATASETS:
        return [spelled for spelled, _ in columns_of_release(name).values()]
    families = _FAMILIES.get(name)
    return [
        spelled
        for metric, cls in METRICS.load_all().items()
        # Pictures are few people's: who has some names the metric.
        # A judge is a model that costs money, or one that is too small to judge.
        if not _asks_a_hub(cls) and "images" not in cls.card.needs and cls.card.family != "judge"
        if not families or cls.card.family in families
        for spelled in cls.card.typical or (metric,)
    ]


def _asks_a_hub(metric: type[Metric]) -> bool:
    """Whether its usual model would be fetched: nobody who says `all` asks for gigabytes."""
    return str(getattr(metric, "model", "")).startswith("huggingface(")
