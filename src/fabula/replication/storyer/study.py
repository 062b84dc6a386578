"""A study file with `kind = "storyer"`: which of StoR3's analyses are run, how, and their run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fabula.core.errors import SettingError, UnknownName, UserError, closest
from fabula.core.plain import from_plain, read_toml
from fabula.core.protocols import watch
from fabula.replication.storyer.ablation import analyse_losses, analyse_parts
from fabula.replication.storyer.comment_classifiers import (
    ClassifierSettings,
    classify_aspects,
    classify_polarity,
)
from fabula.replication.storyer.comments import CommentSettings, analyse_comments
from fabula.replication.storyer.distributions import DistributionSettings, analyse_domains
from fabula.replication.storyer.material import Material
from fabula.replication.storyer.report import Findings, StudyFinding
from fabula.replication.storyer.unseen_ratings import (
    AspectSettings,
    PreferenceSettings,
    analyse_aspects,
    analyse_preference,
)
from fabula.replication.storyer.variants import Training

# Every analysis by the name that a study file calls it, with its title.
ANALYSES: Mapping[str, tuple[str, Callable[[Material, Any], Findings]]] = {
    "ablation": ("Ablation: what each part of StoryER is worth", analyse_parts),
    "losses": ("Losses: ranking against telling good from bad", analyse_losses),
    "confidence": ("Aspects: which are spoken of, and how they are rated", analyse_aspects),
    "correlations": ("Preference beside ratings of aspects and criteria", analyse_preference),
    "distributions": ("Score distributions by domain", analyse_domains),
    "comments": ("Comments on aspects: likelihood and overlap with raters' own", analyse_comments),
    "aspect_classifier": ("The aspect classifier of comments", classify_aspects),
    "sentiment": ("The rating classifier of comments, by polarity", classify_polarity),
}


@dataclass(frozen=True)
class StoryerStudy:
    """What a study file declares; the settings of an analysis stand under its name."""

    title: str
    kind: str = "storyer"
    about: tuple[str, ...] = ()
    analyses: tuple[str, ...] = tuple(ANALYSES)
    seed: int = 1
    resamples: int = 1000
    ablation: Training = field(default_factory=Training)
    losses: Training = field(default_factory=Training)
    confidence: AspectSettings = field(default_factory=AspectSettings)
    correlations: PreferenceSettings = field(default_factory=PreferenceSettings)
    distributions: DistributionSettings = field(default_factory=DistributionSettings)
    comments: CommentSettings = field(default_factory=CommentSettings)
    aspect_classifier: ClassifierSettings = field(default_factory=ClassifierSettings)
    sentiment: ClassifierSettings = field(default_factory=ClassifierSettings)

    def __post_init__(self) -> None:
        if self.resamples < 1 or self.seed < 0:
            raise SettingError("resamples must be 1 or more, seed 0 or more", "mend it")


def read_storyer_study(path: Path) -> StoryerStudy:
    """Read a study file; a name that means nothing is an error."""
    plain = read_toml(path)
    for name, value in plain.items():
        if isinstance(value, dict) and name not in ANALYSES:
            raise UnknownName(f"{path}: no analysis is called {name!r}", closest(name, ANALYSES))
    remedy = "mend it, see studies/storyer.toml"
    study = from_plain(StoryerStudy, plain, str(path), remedy=remedy)
    return choose_analyses(study, study.analyses)


def choose_analyses(study: StoryerStudy, names: Sequence[str]) -> StoryerStudy:
    """Give the study with these analyses alone, in this order."""
    for name in names:
        if name not in ANALYSES:
            raise UnknownName(f"no analysis is called {name!r}", closest(name, ANALYSES))
    if not names:
        raise SettingError("the study has no analysis", f"name some of {', '.join(ANALYSES)}")
    return replace(study, analyses=tuple(dict.fromkeys(names)))


def run_analyses(study: StoryerStudy, material: Material) -> Iterator[StudyFinding]:
    """Run the analyses of a study in order; one that lacks something says what it needs."""
    for name in study.analyses:
        started = time.perf_counter()
        material.report(f"{name}: begins")
        watch.get().tell(name)
        finding = run_analysis(name, getattr(study, name), material)
        took = f"{time.perf_counter() - started:.1f} s"
        material.report(f"{name}: {finding.needs or 'done'} ({took})")
        yield finding


def run_analysis(name: str, settings: Any, material: Material) -> StudyFinding:
    """Run one analysis; what it lacks (data, weights, a package) it says, and the others run."""
    title, analyse = ANALYSES[name]
    try:
        words, tables = analyse(material, settings)
    except UserError as error:
        return StudyFinding(name, title, needs=str(error))
    return StudyFinding(name, title, words, tables)
