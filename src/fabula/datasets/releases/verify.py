"""Is this the release we know? Checksums, counts and scales, each as a line."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.datasets import DATASETS, load_dataset
from fabula.datasets.releases.reading import find_file

Verdict = Literal["ok", "wrong", "absent", "unpinned"]
OTHER = "not the release we know"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what was found, what was expected, and whether it is well.

    A file that is `absent` may have another in its stead; an `unpinned` one has no checksum.
    """

    what: str
    found: str
    expected: str
    verdict: Verdict


def verify_dataset(name: str, path: Path | None) -> list[Check]:
    """Look at every file of a data set that lies there, and at what they hold."""
    files = list(compare_files(DATASETS.get(name).CARD, path)) if name in DATASETS else []
    try:
        dataset = load_dataset(name, path, partial=True)
    except InputError as error:
        if not any(check.verdict != "absent" for check in files):
            raise
        return [*files, Check("content", str(error), "", "wrong")]
    return [*files, *compare_counts(dataset), *compare_scales(dataset)]


def compare_files(card: DatasetCard, path: Path | None) -> Iterator[Check]:
    """Compare the files that are there with the checksums of the card."""
    for name in card.files:
        file = find_file(path, name)
        expected = card.checksums.get(name, "")
        if file is None:
            yield Check(name, "", expected[:12], "absent")
            continue
        digest = digest_file(file.path)
        verdict: Verdict = "ok" if digest == expected else "wrong" if expected else "unpinned"
        said = f"{digest[:12]} ({OTHER})" if verdict == "wrong" else digest[:12]
        yield Check(file.label, said, expected[:12], verdict)


def compare_counts(dataset: Dataset) -> Iterator[Check]:
    """Compare what a data set holds with what its card says; without a word there, just count."""
    for name, count in dataset.counts.items():
        expected = dataset.card.counts.get(name)
        if expected is None:
            if count:
                yield Check(name, f"{count:,}", "", "ok")
            continue
        yield Check(name, f"{count:,}", f"{expected:,}", "ok" if count == expected else "wrong")


def compare_scales(dataset: Dataset) -> Iterator[Check]:
    """See that ratings keep to the scale of their aspect."""
    values: dict[str, list[float]] = {}
    for score in dataset.ratings:
        if score.ok:
            values.setdefault(score.aspect, []).append(score.value)
    for aspect, ratings in values.items():
        scale = dataset.card.scale(aspect)
        if scale is None:
            continue
        low, high = min(ratings), max(ratings)
        inside = scale[0] <= low and high <= scale[1]
        what = f"ratings of {aspect}" if aspect else "ratings"
        said = f"{low:g} to {high:g}"
        yield Check(what, said, f"{scale[0]:g} to {scale[1]:g}", "ok" if inside else "wrong")


def digest_file(path: Path) -> str:
    """SHA-256 of a file's bytes, without gzip."""
    digest = hashlib.sha256()
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
