"""A study file with `kind = "storyer"`: which of StoR3's analyses are run, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from fabula.replication.analyses import Analyses, AnalysesStudy
from fabula.replication.storyer.ablation import analyse_losses, analyse_parts
from fabula.replication.storyer.comment_classifiers import (
    ClassifierSettings,
    classify_aspects,
    classify_polarity,
)
from fabula.replication.storyer.comments import CommentSettings, analyse_comments
from fabula.replication.storyer.distributions import DistributionSettings, analyse_domains
from fabula.replication.storyer.unseen_ratings import (
    AspectSettings,
    PreferenceSettings,
    analyse_aspects,
    analyse_preference,
)
from fabula.replication.storyer.variants import Training

# Every analysis by the name that a study file calls it, with its title.
ANALYSES: Analyses = {
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
class StoryerStudy(AnalysesStudy):
    """What a study file declares; the settings of an analysis stand under its name."""

    KNOWN: ClassVar[Analyses] = ANALYSES

    kind: str = "storyer"
    analyses: tuple[str, ...] = tuple(ANALYSES)
    ablation: Training = field(default_factory=Training)
    losses: Training = field(default_factory=Training)
    confidence: AspectSettings = field(default_factory=AspectSettings)
    correlations: PreferenceSettings = field(default_factory=PreferenceSettings)
    distributions: DistributionSettings = field(default_factory=DistributionSettings)
    comments: CommentSettings = field(default_factory=CommentSettings)
    aspect_classifier: ClassifierSettings = field(default_factory=ClassifierSettings)
    sentiment: ClassifierSettings = field(default_factory=ClassifierSettings)
