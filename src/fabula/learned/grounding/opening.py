"""Grounders by their specs: a word of ours, a folder that a training left, or a CLIP."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from fabula.core.errors import SettingError
from fabula.core.model import Detector, ImageClassifier, JointEncoder, WordVectors
from fabula.learned.grounding.matchers import JointMatcher, LabelMatcher
from fabula.learned.grounding.region_grounder import REGIONS, Matcher, Parts, RegionGrounder
from fabula.models import load_model, model_spec, need

if TYPE_CHECKING:
    from fabula.learned.grounding.grounder import Grounder

DETECTOR = "ssd_mobilenet"
CLASSIFIER = "mobilenet_v2"
WORDS = "glove_50d"
LABELS = "labels"
FAKE = ("fake", "fake()")


def open_grounder(spec: str, *, detector: str = DETECTOR, regions: int = REGIONS) -> Grounder:
    """Give the grounder of a spec, one a process; nothing is loaded before it is needed.

    `labels` matches the labels of detector and classifier with nouns through word vectors, `fake`
    needs no weights and finds colours in its own regions; anything else is a CLIP of a hub, or a
    folder. `detector` is a model's spec (`boxes('FILE')` reads regions from a file), `regions` how
    many of its boxes count.
    """
    if not spec.strip() or not spec.isprintable():
        raise SettingError(f"{spec!r} names no grounder", "say labels, a folder, or a CLIP")
    if regions < 1:
        raise SettingError(f"regions={regions}: no box would count", "take at least 1")
    return _open(spec.strip(), model_spec(detector), regions)


@lru_cache(maxsize=16)
def _open(spec: str, detector: str, regions: int) -> RegionGrounder:
    if spec in FAKE and detector == model_spec(DETECTOR):
        detector = "fake()"

    def load() -> Parts:
        return Parts(need(load_model(detector), Detector), _load_matcher(spec))

    return RegionGrounder(load, regions)


def _load_matcher(spec: str) -> Matcher:
    if spec == LABELS:
        classifier = need(load_model(CLASSIFIER), ImageClassifier)
        return LabelMatcher(classifier, need(load_model(WORDS), WordVectors))
    return JointMatcher(need(load_model(spec), JointEncoder))
