"""Regions of pictures with the words for what they show: tables to train a grounder from.

A row names a picture file, perhaps a box in it, and a noun or phrase. The layout of the regions
that RoViST made of Flickr30k Entities is read as it is: `image_id`, `bbox` and `noun_phrase`, the
crops being files `<image_id>_<bbox>.jpg`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.core.model import Box
from fabula.datasets.tables.rows import read_rows
from fabula.datasets.tables.text_file import TextFile
from fabula.models import PictureReader, crop
from fabula.text.words import words

if TYPE_CHECKING:
    from fabula.core.model import Array

# Words of phrases that name nothing that can be seen.
STOP_WORDS = frozenset(
    "a an the this that these those some any each every another other both all no of in on at by "
    "with from for to into onto over under near and or as is are was be being its his her their "
    "our your my it he she they we you i one's own very".split()
)
FILES = ("crop", "file", "path", "image_file", "picture")
PHRASES = ("noun", "noun_phrase", "phrase", "label")
SOURCES = ("image_id", "image", "source_image")
WHOLE = "whole_img"
_COLUMNS = "a file (crop, file or image), a noun or phrase, and a box if it is a part of the file"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class LabelledRegion:
    """A part of a picture file, all of it without a box, and the words for what it shows.

    `source` is the picture it was cut from, `part` where a table says it belongs: train, valid or
    test.
    """

    file: Path
    phrase: str
    source: str
    box: Box | None = None
    part: str = ""

    def cut(self, reader: PictureReader) -> Array:
        """Give the pixels."""
        picture = reader.read(self.file)
        return crop(picture, self.box) if self.box else picture.pixels


@dataclass(frozen=True)
class RegionTable:
    """Regions to learn from and regions held out, with what is known of them."""

    train: tuple[LabelledRegion, ...]
    held_out: tuple[LabelledRegion, ...]
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def about(self) -> dict[str, Any]:
        """Counts, and a digest of files, boxes and phrases in their order."""
        digest = hashlib.sha256()
        for region in (*self.train, *self.held_out):
            digest.update(f"{region.file.name}\0{region.box}\0{region.phrase}\n".encode())
        return {**self.counts, "sha256": digest.hexdigest()}


def read_regions(
    table: Path, images: Path | None = None, *, held_out: float = 0.15, seed: int = 0
) -> RegionTable:
    """Read a table; files are looked for in `images`, else beside the table.

    Stop words are taken from phrases, doubled rows and such without a word left are dropped. Where
    the table tells parts (a column `split`), those of `valid` are held out and those of `test` are
    left alone; else a share of the source pictures is held out.
    """
    counts: Counter[str] = Counter()
    regions: dict[LabelledRegion, None] = {}
    for where, row in read_rows(TextFile(table, table.name)):
        region = _read_region(row, where, images or table.parent)
        if not region.phrase:
            counts["without a word"] += 1
        elif region in regions:
            counts["doubled"] += 1
        elif region.part == "test":
            counts["of the test part"] += 1
        else:
            regions[region] = None
    if not regions:
        raise InputError(f"{table} holds no region to learn from", f"give rows with {_COLUMNS}")
    train, kept_back = _part(list(regions), held_out, seed)
    told = {**counts, "to learn from": len(train), "held out": len(kept_back)}
    return RegionTable(tuple(train), tuple(kept_back), told)


def strip_phrase(phrase: str) -> str:
    """Give a phrase's words in small letters, without stop words."""
    return " ".join(word for word in words(phrase) if word not in STOP_WORDS)


def _part(
    regions: Sequence[LabelledRegion], held_out: float, seed: int
) -> tuple[list[LabelledRegion], list[LabelledRegion]]:
    """Part regions by source picture: as the table says, else by chance."""
    if any(region.part for region in regions):
        chosen = {region.source for region in regions if region.part == "valid"}
    else:
        sources = sorted({region.source for region in regions})
        order = np.random.default_rng([seed, len(sources)]).permutation(len(sources))
        chosen = {sources[place] for place in order[: round(held_out * len(sources))]}
    train = [region for region in regions if region.source not in chosen]
    return train, [region for region in regions if region.source in chosen]


def _read_region(row: Mapping[str, Any], where: str, images: Path) -> LabelledRegion:
    phrase = _first(row, PHRASES)
    if phrase is None:
        raise InputError(f"{where}: there is no noun or phrase", f"give {_COLUMNS}")
    name = _first(row, FILES)
    if name is None and Path(str(row.get("image") or "")).suffix:
        name = str(row["image"])
    source = str(_first(row, SOURCES) or name or "")
    if name is not None:
        file, box = images / name, _read_box(row, where)
    else:
        file, box = _find_crop(row, where, images)
    if not file.is_file():
        raise InputError(f"{where}: there is no picture {file}", "say where they are: --images")
    part = str(row.get("split") or "").strip().lower()
    if part not in ("", "train", "valid", "test"):
        raise InputError(f"{where}: split is {part!r}", "say train, valid or test")
    source = f"{row.get('source') or ''}/{source}"
    return LabelledRegion(file, strip_phrase(phrase), source, box, part)


def _first(row: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((str(row[name]) for name in names if row.get(name) not in (None, "")), None)


def _read_box(row: Mapping[str, Any], where: str) -> Box | None:
    """Left, top, width and height of a row: four columns, or one that holds all of them."""
    told = [row.get(name) for name in "xywh"]
    if all(value in (None, "") for value in told):
        told = [row.get("box")]
    if all(value in (None, "") for value in told):
        return None
    numbers = [float(number) for number in _NUMBER.findall(str(told))]
    if len(numbers) != 4 or min(numbers[2:]) <= 0:
        raise InputError(f"{where}: {told} is no box", "give left, top, width and height in pixels")
    left, top, width, height = numbers
    return left, top, width, height


def _find_crop(row: Mapping[str, Any], where: str, images: Path) -> tuple[Path, Box | None]:
    """File of a row of Flickr30k Entities' kind: the crop, else the box in the picture itself."""
    identity, bbox = (str(row.get(name) or "").strip() for name in ("image_id", "bbox"))
    if not identity or not bbox:
        raise InputError(f"{where}: there is no picture", f"give {_COLUMNS}; or image_id and bbox")
    cut = images / f"{identity}_{bbox.lstrip('_')}.jpg"
    whole = images / f"{identity}.jpg"
    if cut.is_file() or not whole.is_file():
        return cut, None
    if bbox.strip("_") == WHOLE:
        return whole, None
    corners = [float(number) for number in _NUMBER.findall(bbox.replace("_", " "))]
    if len(corners) != 4 or corners[2] <= corners[0] or corners[3] <= corners[1]:
        raise InputError(f"{where}: bbox is {bbox!r}", "give left, top, right and bottom")
    left, top, right, bottom = corners
    return whole, (left, top, right - left, bottom - top)
