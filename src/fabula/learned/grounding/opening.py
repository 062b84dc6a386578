"""Grounders by their specs: a word of ours, a folder that a training left, or a CLIP."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.core.errors import SettingError
from fabula.core.model import Detector, ImageClassifier, JointEncoder, WordVectors
from fabula.learned.grounding.matchers import JointMatcher, LabelMatcher
from fabula.learned.grounding.region_grounder import REGIONS, Matcher, Parts, RegionGrounder
from fabula.learned.grounding.towers import FILE, WEIGHTS_FILE, open_towers
from fabula.models import load_model, model_spec, need, path_of

if TYPE_CHECKING:
    from fabula.learned.grounding.grounder import Grounder

DETECTOR = "ssd_mobilenet"
CLASSIFIER = "mobilenet_v2"
WORDS = "glove_50d"
LABELS = "labels"
EMBEDDED = "embedded"
ASSET = "grounder"
FAKE = ("fake", "fake()")


def open_grounder(spec: str, *, detector: str = DETECTOR, regions: int = REGIONS) -> Grounder:
    """Give the grounder of a spec, one a process; nothing is loaded before it is needed.

    `embedded` is the asset of that name of ours; `labels` matches the labels of detector and
    classifier with nouns through word vectors; `fake` needs no weights and finds colours in its
    own regions; anything else is a folder that `fabula train rovist_vg` left, or a CLIP of a hub
    or a folder. `detector` is a model's spec (`boxes('FILE')` reads regions from a file), and
    `regions` says how many of its boxes count.
    """
    if not spec.strip() or not spec.isprintable():
        raise SettingError(
            f"{spec!r} names no grounder", "say embedded, labels, a folder, or a CLIP"
        )
    if regions < 1:
        raise SettingError(f"regions={regions}: no box would count", "take at least 1")
    spec = spec.strip()
    return _open(spec, model_spec(detector), regions, _stamp(Path(spec).expanduser()))


@lru_cache(maxsize=16)
def _open(spec: str, detector: str, regions: int, _stamps: tuple[int, ...]) -> RegionGrounder:
    if spec in FAKE and detector == model_spec(DETECTOR):
        detector = "fake()"

    def load() -> Parts:
        return Parts(need(load_model(detector), Detector), _load_matcher(spec))

    return RegionGrounder(load, regions)


def _stamp(folder: Path) -> tuple[int, ...]:
    """Times of a training's files: a folder that was trained into again is opened again."""
    files = [folder / name for name in (FILE, WEIGHTS_FILE)]
    return tuple(file.stat().st_mtime_ns for file in files if file.is_file())


def _load_matcher(spec: str) -> Matcher:
    if spec == EMBEDDED:
        return open_towers(path_of(ASSET))
    if (folder := Path(spec).expanduser() / FILE).is_file():
        return open_towers(folder.parent)
    if spec == LABELS:
        classifier = need(load_model(CLASSIFIER), ImageClassifier)
        return LabelMatcher(classifier, need(load_model(WORDS), WordVectors))
    return JointMatcher(need(load_model(spec), JointEncoder))
