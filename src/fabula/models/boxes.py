"""Regions of pictures out of a file: what a detector of the user's, or a person, has found."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal

from fabula.core.errors import InputError
from fabula.core.model import Box, Picture, Region
from fabula.core.settings import check_settings
from fabula.models.reading.pictures import choose_best

Form = Literal["corners", "sizes"]
COLUMNS = "image_id, x, y, w, h (label, confidence), or image_id, bbox"
MOST_BYTES = 500_000_000
# What a crop of the whole picture is called instead of its corners.
WHOLE = {"whole_img", "_whole_img", "whole"}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LABELS = ("label", "noun_phrase", "phrase", "noun", "class")
_CONFIDENCES = ("confidence", "score")


@dataclass(frozen=True)
class _Settings:
    bbox: Form


@dataclass(frozen=True)
class BoxTable:
    """A detector that has looked already: regions by picture, as they stand in a file."""

    name: str
    signature: str
    regions: Mapping[str, Sequence[Region]] = field(repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels that stand in the file, sorted."""
        found = {region.label for regions in self.regions.values() for region in regions}
        return tuple(sorted(found - {""}))

    def detect(self, pictures: Sequence[Picture], *, most: int = 10) -> list[list[Region]]:
        """Give the surest regions of every picture, or the first where no confidence is told.

        A picture that the file does not name is an error: names that do not match would look like
        pictures that show nothing.
        """
        return [choose_best(self._find(picture), picture, most) for picture in pictures]

    def _find(self, picture: Picture) -> list[Region]:
        path = PurePath(picture.name)
        for name in (picture.name, path.name, path.stem):
            if name in self.regions:
                whole = (0.0, 0.0, float(picture.width), float(picture.height))
                return [
                    region if math.isfinite(region.box[2]) else _replace_box(region, whole)
                    for region in self.regions[name]
                ]
        raise InputError(
            f"{self.name} names no picture {path.stem}",
            "image_id is its file name, with or without the ending; of a picture without regions"
            " give a row of its image_id alone",
        )


def load(path: str, *, bbox: Form = "corners") -> BoxTable:
    """Read regions from a table with a line a region: image_id, x, y, w, h, label, confidence.

    Label and confidence may be left out. Instead of x, y, w and h there may be a column `bbox` of
    four numbers: left, top, right and bottom (`corners`), or x, y, w and h (`sizes`).
    """
    check_settings(_Settings(bbox), "boxes")
    place = Path(path).expanduser()
    data = _read_bytes(place)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{place} is not UTF-8 (byte {error.start})", "save it as UTF-8") from None
    regions = _read_rows(text, place, bbox)
    digest = hashlib.sha256(data).hexdigest()[:12]
    return BoxTable(place.name, f"boxes,{place.name}@{digest},{bbox}", regions)


def _read_bytes(place: Path) -> bytes:
    remedy = f"give a table with the columns {COLUMNS}"
    try:
        if place.exists() and not place.is_file():
            raise InputError(f"{place} is no regular file", remedy)
        if place.stat().st_size > MOST_BYTES:
            raise InputError(f"{place} has more than {MOST_BYTES / 1e6:,.0f} MB", "split it")
        return place.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{place} cannot be read ({reason})", remedy) from None


def _read_rows(text: str, place: Path, form: Form) -> dict[str, list[Region]]:
    header = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=header.count)
    # A quote that is never closed would make one field of the rest, which csv refuses.
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    regions: dict[str, list[Region]] = {}
    try:
        names = {name.strip().lower(): name for name in rows.fieldnames or () if name}
        _check_columns(names, place)
        for row in rows:
            plain = {key: (row[name] or "").strip() for key, name in names.items()}
            where = f"{place}, line {rows.line_num}"
            if not plain["image_id"]:
                raise InputError(f"{where}: there is no image_id", "name the picture in each row")
            kept = regions.setdefault(plain["image_id"], [])
            if (region := _read_region(plain, form, where)) is not None:
                kept.append(region)
    except csv.Error as error:
        raise InputError(
            f"{place}, line {rows.line_num}: {error}", "write it as CSV again"
        ) from None
    return regions


def _check_columns(names: Mapping[str, str], place: Path) -> None:
    absent = [name for name in ("image_id", "x", "y", "w", "h") if name not in names]
    if "image_id" in absent or (absent and "bbox" not in names):
        raise InputError(f"{place} has no column {absent[0]}", f"name the columns {COLUMNS}")


def _read_region(row: Mapping[str, str], form: Form, where: str) -> Region | None:
    """Region of a row; None for one that names a picture alone."""
    box = _read_bbox(row, form, where) if "bbox" in row else _read_sizes(row, where)
    if box is None:
        return None
    label = next((row[name] for name in _LABELS if row.get(name)), "")
    told = next((row[name] for name in _CONFIDENCES if row.get(name)), "")
    return Region(box, label, _number(told, "confidence", where) if told else math.nan)


def _read_sizes(row: Mapping[str, str], where: str) -> Box | None:
    given = [row[name] for name in "xywh"]
    if not any(given):
        return None
    x, y, w, h = (_number(value, name, where) for name, value in zip("xywh", given, strict=True))
    return _check_box((x, y, w, h), where)


def _read_bbox(row: Mapping[str, str], form: Form, where: str) -> Box | None:
    told = row["bbox"]
    if not told:
        return None
    if told.strip("[]() ").lower() in WHOLE:
        return (0.0, 0.0, math.inf, math.inf)
    numbers = [float(number) for number in _NUMBER.findall(told.replace("_", " "))]
    if len(numbers) != 4:
        raise InputError(
            f"{where}: bbox {told!r} is not four numbers", "write left,top,right,bottom"
        )
    left, top, third, fourth = numbers
    if form == "corners":
        third, fourth = third - left, fourth - top
    return _check_box((left, top, third, fourth), where)


def _check_box(box: Box, where: str) -> Box:
    if box[2] <= 0 or box[3] <= 0:
        remedy = "give a width and a height above 0 (bbox='sizes' reads x, y, w, h)"
        raise InputError(f"{where}: a box {box[2]:g} wide and {box[3]:g} high", remedy)
    return box


def _number(value: str, name: str, where: str) -> float:
    if not _NUMBER.fullmatch(value) or not math.isfinite(number := float(value)):
        raise InputError(f"{where}: {name} is {value!r}", "give a number")
    return number


def _replace_box(region: Region, box: Box) -> Region:
    return Region(box, region.label, region.confidence)
