"""Pictures out of files that anybody may have made: nothing large is decoded before it is measured.

A picture comes upright and in RGB, whatever the file holds; what cannot be one is refused in a line
that names the file. Boxes go by the pixels of the file, seen upright.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import re
import stat
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import InputError, PackageMissing
from fabula.core.model import Box, Picture, Region
from fabula.models.reading.state_cache import LruCache

if TYPE_CHECKING:
    from fabula.core.model import Array

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
MOST_BYTES = 64_000_000
MOST_PIXELS = 64_000_000
# Longer sides are kept with so many pixels: detectors look at fewer, and so do encoders of crops.
LONGEST_SIDE = 2048
# Pixels of decoded pictures that are kept, in bytes: twenty of the largest, hundreds of usual ones.
CACHE_BYTES = 256_000_000
COINCIDING = 0.9

# One at a time may turn stderr aside.
_STDERR = threading.Lock()
_SAVE = "save it as JPEG or PNG"
_SIXTEEN_BITS = re.compile(r"I;16.*")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://|data:")
_ORIENTATION = 0x0112
# What each orientation of EXIF asks for, by the names of Pillow's transpositions.
_TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}
# From here on a picture lies on its side.
_FIRST_ASIDE = 5
_KINDS = {
    b"%PDF": "a PDF",
    b"\x00\x00\x01\x00": "an icon",
    b"PK\x03\x04": "a ZIP file",
    b"\x1f\x8b": "a gzip file",
    b"8BPS": "a Photoshop file",
    b"\x00\x00\x00\x0cjP": "a JPEG 2000 file",
    b"%!PS": "a PostScript file",
}
_CONTAINERS = {b"heic": "HEIC", b"heix": "HEIC", b"mif1": "HEIC", b"avif": "AVIF"}


class PictureError(InputError):
    """A picture that cannot be read; names the file."""


@dataclass(frozen=True)
class PictureReader:
    """Reads pictures, each once as long as it is kept and its file has not changed."""

    most_bytes: int = MOST_BYTES
    most_pixels: int = MOST_PIXELS
    longest_side: int = LONGEST_SIDE
    cache: LruCache[Picture] = field(
        default_factory=lambda: LruCache(CACHE_BYTES, lambda picture: picture.pixels.nbytes),
        repr=False,
        compare=False,
    )

    def read(self, path: str | os.PathLike[str]) -> Picture:
        """Read one picture."""
        name = os.fspath(path)
        if _URL.match(name):
            raise PictureError(f"{_shorten(name)} is no file", "download it and name the file")
        with _explain_disk(name):
            status = Path(name).expanduser().stat()
        _refuse_special(name, status)
        if status.st_size > self.most_bytes:
            raise PictureError(
                f"{name} has {status.st_size / 1e6:,.0f} MB, at most"
                f" {self.most_bytes / 1e6:,.0f} MB are read",
                "make it smaller",
            )
        key = (os.path.realpath(name), status.st_size, status.st_mtime_ns, name)
        return self.cache.get([key], lambda _: [self._decode(name)])[0]

    def read_all(self, paths: Sequence[str | os.PathLike[str]]) -> list[Picture]:
        """Read several pictures; the first that cannot be read is an error."""
        return [self.read(path) for path in paths]

    def _decode(self, name: str) -> Picture:
        with _explain_disk(name), Path(name).expanduser().open("rb") as file:
            # It may have grown since it was measured.
            data = file.read(self.most_bytes + 1)[: self.most_bytes]
        with _explain_damage(name, data):
            image = _pillow().open(io.BytesIO(data), formats=FORMATS)
            with image:
                self._refuse_many_pixels(name, *image.size)
                return self._finish(name, image, hashlib.sha256(data).hexdigest())

    def _refuse_many_pixels(self, name: str, width: int, height: int) -> None:
        if width * height > self.most_pixels:
            raise PictureError(
                f"{name} has {width:,} × {height:,} pixels, at most"
                f" {self.most_pixels / 1e6:,.0f} million are read",
                "make it smaller",
            )

    def _finish(self, name: str, image: Any, digest: str) -> Picture:
        notes = _note_frames(image)
        size = image.size
        # A JPEG can be decoded at a half, a quarter or an eighth of its size, which is quicker.
        image.draft(None, _shrink(size, self.longest_side))
        with _hush_libtiff() if image.format == "TIFF" else nullcontext():
            image.load()
        # Pillow turns a TIFF itself as it loads it, and then says no more of its orientation.
        size = image.size if image.format == "TIFF" else size
        orientation = _read_orientation(image)
        image = _to_rgb(image)
        if max(image.size) > self.longest_side:
            bicubic = _pillow().Resampling.BICUBIC
            image = image.resize(_shrink(image.size, self.longest_side), bicubic, reducing_gap=3.0)
        if orientation in _TURNS:
            image = image.transpose(_pillow().Transpose[_TURNS[orientation]])
        width, height = size if orientation < _FIRST_ASIDE else size[::-1]
        pixels = _to_array(image)
        pixels.flags.writeable = False
        return Picture(name, width, height, digest, pixels, notes)


def crop(picture: Picture, box: Box) -> Array:
    """Cut a box out of a picture: the pixels that it touches, within the picture, at least one."""
    rows, columns = picture.pixels.shape[:2]
    left, top, width, height = box
    across, down = columns / picture.width, rows / picture.height
    first, last = _span(left * across, (left + width) * across, columns)
    start, stop = _span(top * down, (top + height) * down, rows)
    return picture.pixels[start:stop, first:last]


def choose_best(regions: Sequence[Region], picture: Picture, most: int) -> list[Region]:
    """Give the surest regions, cut to the picture; of boxes that nearly coincide the surest alone.

    Regions without a confidence stay in their order, after those that have one.
    """
    ranked = sorted(regions, key=_rank)
    chosen: list[Region] = []
    for region in ranked:
        if len(chosen) >= most:
            break
        box = _clip(region.box, picture)
        if box and not any(measure_overlap(box, other.box) > COINCIDING for other in chosen):
            chosen.append(Region(box, region.label, region.confidence))
    return chosen


def detect_each(
    pictures: Sequence[Picture],
    cache: LruCache[list[Region]],
    find: Callable[[Sequence[Picture]], list[list[Region]]],
    most: int,
) -> list[list[Region]]:
    """Give the surest regions of every picture; `find` sees each picture once."""
    keys = [picture.digest for picture in pictures]
    found = cache.get(keys, lambda new: find([pictures[at] for at in new]))
    return [
        choose_best(regions, picture, most)
        for regions, picture in zip(found, pictures, strict=True)
    ]


def _rank(region: Region) -> tuple[bool, float]:
    is_unsaid = math.isnan(region.confidence)
    return is_unsaid, 0.0 if is_unsaid else -region.confidence


def measure_overlap(one: Box, other: Box) -> float:
    """Shared area of two boxes as a share of what they cover together."""
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    shared = max(width, 0.0) * max(height, 0.0)
    whole = one[2] * one[3] + other[2] * other[3] - shared
    return shared / whole if whole > 0 else 0.0


def resize(crop: Array, size: tuple[int, int]) -> Array:
    """Bring a crop to a width and a height, whatever its shape was; smoothly, with Pillow."""
    return _to_array(to_pillow(crop).resize(size, _pillow().Resampling.BILINEAR))


def to_pillow(crop: Array) -> Any:
    """Give a crop as Pillow's."""
    return _pillow().fromarray(crop)


def _span(low: float, high: float, size: int) -> tuple[int, int]:
    first = min(max(math.floor(low + 1e-6), 0), size - 1)
    return first, min(max(math.ceil(high - 1e-6), first + 1), size)


def _clip(box: Box, picture: Picture) -> Box | None:
    """Cut a box to the picture; None where less than a pixel is left."""
    left, top = max(box[0], 0.0), max(box[1], 0.0)
    width = min(box[0] + box[2], picture.width) - left
    height = min(box[1] + box[3], picture.height) - top
    return (left, top, width, height) if width >= 1 and height >= 1 else None


def _shrink(size: tuple[int, int], longest: int) -> tuple[int, int]:
    scale = min(longest / max(size), 1.0)
    return max(round(size[0] * scale), 1), max(round(size[1] * scale), 1)


def _to_rgb(image: Any) -> Any:
    """RGB of any mode: see-through parts lie on white, sixteen bits become eight."""
    if _SIXTEEN_BITS.fullmatch(image.mode) or image.mode in ("I", "F"):
        return _pillow().fromarray(_to_bytes(image)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        seen = image.convert("RGBA")
        white = _pillow().new("RGBA", seen.size, (255, 255, 255, 255))
        return _pillow().alpha_composite(white, seen).convert("RGB")
    return image.convert("RGB")


def _to_array(image: Any) -> Array:
    # Here and below, so that the room of models is entered without numpy.
    import numpy as np

    return np.array(image, dtype=np.uint8)


def _to_bytes(image: Any) -> Array:
    """Greys of more than eight bits as bytes; of fractions, 1 is white."""
    import numpy as np

    grey = np.array(image)
    values = np.nan_to_num(grey.astype(np.float64))
    if grey.dtype.kind == "f":
        white = max(values.max(initial=0.0), 1.0)
    else:
        white = 65535.0 if values.max(initial=0.0) > 255 or grey.dtype.itemsize == 2 else 255.0
    eight: Array = np.clip(np.round(values * 255.0 / white), 0, 255).astype(np.uint8)
    return eight


def _read_orientation(image: Any) -> int:
    """Orientation that EXIF tells; what cannot be read there turns nothing."""
    with suppress(OSError, ValueError, LookupError, TypeError, SyntaxError, EOFError):
        told = int(image.getexif().get(_ORIENTATION, 1))
        return told if told in _TURNS else 1
    return 1


def _note_frames(image: Any) -> tuple[str, ...]:
    """Say that others follow the first: frames of an animation, pages of a TIFF."""
    # A JPEG of a phone (MPO) may hold a preview, or the same picture for the other eye.
    count = int(getattr(image, "n_frames", 1)) if image.format != "MPO" else 1
    what = "page" if image.format == "TIFF" else "frame"
    return (f"the first of {count} {what}s",) if count > 1 else ()


def _refuse_special(name: str, status: os.stat_result) -> None:
    """Refuse what is no regular file: to open a pipe would wait for somebody to write into it."""
    if stat.S_ISDIR(status.st_mode):
        raise PictureError(f"{name} is a folder", "name a picture in it")
    if not stat.S_ISREG(status.st_mode):
        raise PictureError(f"{name} is no regular file", f"{_SAVE} and name that file")
    if status.st_size == 0:
        raise PictureError(f"{name} is empty", "get it again")


@contextmanager
def _explain_disk(name: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise PictureError(f"there is no picture {name}", "check the path") from None
    except OSError as error:
        reason = error.strerror or error
        raise PictureError(f"{name} cannot be read ({reason})", "check the path") from None
    except (ValueError, RuntimeError) as error:
        raise PictureError(f"{name!r} names no file ({error})", "check the path") from None


@contextmanager
def _explain_damage(name: str, data: bytes) -> Iterator[None]:
    """Put into words what Pillow says of bytes that are no picture it can read.

    Its decoders raise errors of many kinds for crafted files, and warn of what they can do without.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (InputError, PackageMissing):
            raise
        except _pillow().DecompressionBombError:
            raise PictureError(f"{name} has too many pixels", "make it smaller") from None
        except _pillow().UnidentifiedImageError:
            kind = _name_kind(data)
            formats = "JPEG, PNG, WebP, GIF, BMP and TIFF"
            raise PictureError(f"{name} is {kind}", f"{_SAVE} ({formats} are read)") from None
        except MemoryError:
            raise PictureError(f"{name} does not fit into memory", "make it smaller") from None
        except Exception as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            problem = f"{name} is damaged ({reason})"
            raise PictureError(problem, f"get it again, or {_SAVE}") from error


@contextmanager
def _hush_libtiff() -> Iterator[None]:
    """Keep back what libtiff writes past Python, straight to stderr, of a damaged file."""
    with _STDERR, ExitStack() as undo:
        # A program without a stderr has nothing to keep back.
        with suppress(OSError):
            kept = os.dup(2)
            undo.callback(os.close, kept)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            undo.callback(os.close, nowhere)
            os.dup2(nowhere, 2)
            undo.callback(os.dup2, kept, 2)
        yield


def _name_kind(data: bytes) -> str:
    """Say what a file is that is no picture we read."""
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    for start, kind in _KINDS.items():
        if data.startswith(start):
            return f"{kind}, no picture"
    if data[4:8] == b"ftyp":
        return f"{_CONTAINERS.get(data[8:12], 'a film')}, which is not read"
    if head[:1] == b"<":
        is_svg = b"<svg" in data[:4096].lower()
        return "a drawing in SVG, which is not read" if is_svg else "a page or XML, no picture"
    if data.startswith((b"\xff\xd8", b"\x89PNG", b"RIFF", b"GIF8", b"BM", b"II*\0", b"MM\0*")):
        return "damaged at its very beginning"
    return "no picture"


def _shorten(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:77]}…"


def _pillow() -> Any:
    """Pillow's `Image`, with what this module asks of it."""
    try:
        from PIL import Image
    except ModuleNotFoundError as error:
        if error.name != "PIL":
            raise
        raise PackageMissing("pillow", "vision") from None
    return Image
