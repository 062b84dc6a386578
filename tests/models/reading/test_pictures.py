"""Whatever a file holds: a picture as one sees it, or one line that names the file."""

from __future__ import annotations

import math
import os
import random
import sys
import time
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import PackageMissing
from fabula.core.model import Picture, Region
from fabula.models.reading.pictures import (
    PictureError,
    PictureReader,
    choose_best,
    crop,
    measure_overlap,
    resize,
)
from fakes.crafted_pictures import (
    BLUE,
    GREEN,
    HEIC,
    PDF,
    RED,
    SVG,
    WHITE,
    exif_with,
    pillow,
    png_of,
    png_with_text,
    quarters,
    save,
)
from fakes.factories import find_slowness

Image = pillow()
LOSSLESS = {"png": {}, "bmp": {}, "tiff": {}, "gif": {}, "webp": {"lossless": True}}


def corners(picture: Picture) -> list[tuple[int, ...]]:
    """Colours of the four quarters, as one reads: left to right, then below."""
    rows, columns = picture.pixels.shape[:2]
    places = [(rows // 4, columns // 4), (rows // 4, -columns // 4)]
    places += [(-rows // 4, columns // 4), (-rows // 4, -columns // 4)]
    return [tuple(int(value) for value in picture.pixels[place]) for place in places]


def blank(width: int, height: int) -> Picture:
    return Picture("blank", width, height, "", np.zeros((height, width, 3), np.uint8))


@pytest.mark.parametrize("form", LOSSLESS)
def test_forms_without_loss_give_their_very_colours(form: str, tmp_path: Path) -> None:
    found = PictureReader().read(save(tmp_path / f"a.{form}", **LOSSLESS[form]))
    assert (found.width, found.height) == (40, 20)
    assert found.pixels.shape == (20, 40, 3)
    assert corners(found) == [RED, GREEN, BLUE, WHITE]
    assert found.notes == ()


def test_a_jpeg_gives_about_its_colours(tmp_path: Path) -> None:
    found = PictureReader().read(save(tmp_path / "a.jpg", quality=95))
    np.testing.assert_allclose(corners(found), [RED, GREEN, BLUE, WHITE], atol=9)


@pytest.mark.parametrize(
    ("orientation", "seen"),
    [
        (1, [RED, GREEN, BLUE, WHITE]),
        (2, [GREEN, RED, WHITE, BLUE]),
        (3, [WHITE, BLUE, GREEN, RED]),
        (4, [BLUE, WHITE, RED, GREEN]),
        (5, [RED, BLUE, GREEN, WHITE]),
        (6, [BLUE, RED, WHITE, GREEN]),
        (7, [WHITE, GREEN, BLUE, RED]),
        (8, [GREEN, WHITE, RED, BLUE]),
    ],
)
@pytest.mark.parametrize("form", ["png", "webp", "tiff"])
def test_a_camera_that_was_turned_is_turned_back(
    form: str, orientation: int, seen: list[Any], tmp_path: Path
) -> None:
    file = tmp_path / f"turned.{form}"
    found = PictureReader().read(save(file, exif=exif_with(orientation), **LOSSLESS[form]))
    assert corners(found) == seen
    size = (40, 20) if orientation < 5 else (20, 40)
    assert (found.width, found.height) == size
    assert found.pixels.shape[1::-1] == size


def test_a_large_picture_is_kept_smaller_and_boxes_still_go_by_the_file(tmp_path: Path) -> None:
    image = quarters(3000, 1500)
    files = [
        save(tmp_path / "large.png", image),
        save(tmp_path / "large.jpg", image, exif=exif_with(6), quality=95),
    ]
    reader = PictureReader(longest_side=600)
    upright, turned = reader.read_all(files)
    assert (upright.width, upright.height, upright.pixels.shape) == (3000, 1500, (300, 600, 3))
    assert (turned.width, turned.height, turned.pixels.shape) == (1500, 3000, (600, 300, 3))
    cut = crop(upright, (1600, 100, 1000, 500))
    assert cut.shape == (100, 200, 3)
    assert (cut == GREEN).all()
    np.testing.assert_allclose(crop(turned, (100, 100, 500, 1000)).mean((0, 1)), BLUE, atol=4)


@pytest.mark.parametrize(
    ("mode", "colour", "seen"),
    [
        ("1", 1, (255, 255, 255)),
        ("L", 77, (77, 77, 77)),
        ("LA", (77, 255), (77, 77, 77)),
        ("LA", (77, 0), (255, 255, 255)),
        ("RGBA", (200, 100, 0, 0), (255, 255, 255)),
        ("RGBA", (200, 100, 0, 255), (200, 100, 0)),
        ("I;16", 256 * 77 + 77, (77, 77, 77)),
    ],
)
def test_every_mode_of_a_png_becomes_rgb(mode: str, colour: Any, seen: Any, tmp_path: Path) -> None:
    found = PictureReader().read(save(tmp_path / "m.png", Image.new(mode, (6, 4), colour)))
    assert found.pixels.shape == (4, 6, 3)
    assert (found.pixels == seen).all()


def test_half_of_a_colour_is_mixed_with_white(tmp_path: Path) -> None:
    image = Image.new("RGBA", (2, 2), (0, 0, 0, 128))
    found = PictureReader().read(save(tmp_path / "half.png", image))
    np.testing.assert_allclose(found.pixels, 127, atol=1)


def test_a_palette_with_a_hole_lies_on_white(tmp_path: Path) -> None:
    image = quarters().quantize(8)
    hole = image.getpixel((1, 1))
    found = PictureReader().read(save(tmp_path / "p.png", image, transparency=hole))
    assert corners(found) == [WHITE, GREEN, BLUE, WHITE]


def test_cmyk_of_a_printer_becomes_rgb(tmp_path: Path) -> None:
    image = Image.new("CMYK", (16, 16), (0, 255, 255, 0))
    for file in (tmp_path / "c.jpg", tmp_path / "c.tiff"):
        np.testing.assert_allclose(
            PictureReader().read(save(file, image)).pixels[8, 8], RED, atol=4
        )


@pytest.mark.parametrize("mode", ["I", "F"])
def test_deep_greys_of_a_tiff_are_not_cut_off(mode: str, tmp_path: Path) -> None:
    deep = np.array([[0, 65535], [32768, 13107]], np.int32 if mode == "I" else np.float32)
    found = PictureReader().read(save(tmp_path / "deep.tiff", Image.fromarray(deep)))
    np.testing.assert_allclose(found.pixels[..., 0], [[0, 255], [128, 51]], atol=1)


@pytest.mark.parametrize(
    ("form", "note"), [("gif", "frames"), ("webp", "frames"), ("png", "frames"), ("tiff", "pages")]
)
def test_of_an_animation_the_first_frame_is_taken_and_that_is_said(
    form: str, note: str, tmp_path: Path
) -> None:
    others = [Image.new("RGB", (40, 20), BLUE), Image.new("RGB", (40, 20), GREEN)]
    file = save(tmp_path / f"a.{form}", save_all=True, append_images=others, **LOSSLESS[form])
    found = PictureReader().read(file)
    assert found.notes == (f"the first of 3 {note}",)
    assert corners(found) == [RED, GREEN, BLUE, WHITE]


def test_a_name_that_lies_does_no_harm(tmp_path: Path) -> None:
    file = save(tmp_path / "a.png").rename(tmp_path / "a.jpg")
    assert corners(PictureReader().read(file)) == [RED, GREEN, BLUE, WHITE]


def test_exif_that_is_nonsense_turns_nothing(tmp_path: Path) -> None:
    for number, exif in enumerate((b"Exif\0\0MM\0*garbage", bytes(40), b"\xff" * 60)):
        file = save(tmp_path / f"{number}.jpg", exif=exif)
        assert PictureReader().read(file).pixels.shape == (20, 40, 3)


BAD: dict[str, Callable[[Path], tuple[Any, str]]] = {
    "svg": lambda f: (_write(f / "a.svg", SVG), "SVG"),
    "pdf": lambda f: (_write(f / "a.pdf", PDF), "a PDF"),
    "heic": lambda f: (_write(f / "a.heic", HEIC), "HEIC"),
    "text": lambda f: (_write(f / "a.jpg", b"Once upon a time"), "no picture"),
    "page": lambda f: (_write(f / "a.jpg", b"<!doctype html><p>404"), "a page or XML"),
    "zip": lambda f: (_write(f / "a.png", b"PK\x03\x04" + bytes(99)), "a ZIP file"),
    "icon": lambda f: (save(f / "a.ico"), "an icon"),
    "ppm": lambda f: (save(f / "a.ppm"), "no picture"),
    "empty": lambda f: (_write(f / "a.png", b""), "is empty"),
    "bytes": lambda f: (_write(f / "a.png", b"\x89PNG\r\n\x1a\n" + bytes(50)), "a.png"),
    "missing": lambda f: (f / "gone.jpg", "there is no picture"),
    "folder": lambda f: (f, "is a folder"),
    "below a file": lambda f: (save(f / "a.png") / "b.png", "cannot be read"),
    "long name": lambda f: (f / ("a" * 300), "cannot be read"),
    "nul": lambda f: ("a\0b.png", "names no file"),
    "url": lambda f: ("https://example.org/a.jpg", "download it"),
    "data url": lambda f: ("data:image/png;base64," + "iVBOR" * 99, "download it"),
    "20,000 pixels": lambda f: (
        _write(f / "wide.png", png_of(20_000, 20_000, zlib.compress(bytes(9999)))),
        r"20,000 × 20,000 pixels|too many pixels",
    ),
    "12,000 pixels": lambda f: (
        _write(f / "wide.png", png_of(12_000, 8_000, zlib.compress(bytes(9999)))),
        "12,000 × 8,000 pixels",
    ),
    "cut png": lambda f: (_cut(save(f / "cut.png", _noise()), 0.5), "is damaged"),
    "cut jpg": lambda f: (_cut(save(f / "cut.jpg", _noise()), 0.5), "is damaged"),
    "cut webp": lambda f: (_cut(save(f / "cut.webp", _noise()), 0.5), "is damaged"),
    "cut gif": lambda f: (_cut(save(f / "cut.gif", _noise()), 0.5), "is damaged"),
    "cut bmp": lambda f: (_cut(save(f / "cut.bmp", _noise()), 0.5), "is damaged"),
    "cut tiff": lambda f: (_cut(save(f / "cut.tiff", _noise()), 0.5), "is damaged"),
    "head of a jpg": lambda f: (_cut(save(f / "cut.jpg", _noise()), 0.01), "damaged"),
    "text bomb": lambda f: (_write(f / "t.png", png_with_text(90_000_000)), "is damaged"),
}


def _write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def _cut(path: Path, share: float) -> Path:
    data = path.read_bytes()
    return _write(path, data[: int(len(data) * share)])


def _noise() -> Any:
    pixels = np.random.default_rng(1).integers(0, 256, (64, 64, 3), np.uint8)
    return Image.fromarray(pixels)


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_picture_is_one_line_that_names_the_file(name: str, tmp_path: Path) -> None:
    path, told = BAD[name](tmp_path)
    with pytest.raises(PictureError, match=told) as caught:
        PictureReader().read(path)
    assert str(path).split("/")[-1][:60].replace("\0", r"\x00") in str(caught.value)
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    started = time.monotonic()
    for path in (tmp_path / "pipe.png", Path("/dev/zero")):
        with pytest.raises(PictureError, match="is no regular file"):
            PictureReader().read(path)
    assert time.monotonic() - started < 5 * find_slowness()


def test_more_bytes_than_allowed_are_not_read(tmp_path: Path) -> None:
    file = _write(tmp_path / "heavy.png", b"\x89PNG" + bytes(5_000_000))
    tracemalloc.start()
    with pytest.raises(PictureError, match=r"heavy\.png has 5 MB, at most 1 MB are read"):
        PictureReader(most_bytes=1_000_000).read(file)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1_000_000


def test_a_png_that_inflates_to_far_more_than_it_declares_is_read_as_declared(
    tmp_path: Path,
) -> None:
    bomb = png_of(10, 10, zlib.compress(bytes(200_000_000), 9))
    started = time.monotonic()
    found = PictureReader().read(_write(tmp_path / "bomb.png", bomb))
    assert found.pixels.shape == (10, 10, 3)
    assert not found.pixels.any()
    assert time.monotonic() - started < 5 * find_slowness()


def _spoil(data: bytes, chance: random.Random) -> bytes:
    """Change, drop or add some bytes, mostly near the beginning."""
    spoiled = bytearray(data)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(min(len(spoiled), chance.choice((64, 400, 10**6))))
        stop = at + chance.choice((0, 1, 1, 4, 20))
        spoiled[at:stop] = chance.choice((b"", b"\0", b"\xff" * 4, b"\x7f\xff", bytes([at % 256])))
    return bytes(spoiled)


@pytest.mark.parametrize("form", ["png", "bmp", "tiff", "gif", "webp", "jpg", "fax"])
def test_spoiled_files_are_pictures_or_one_line_and_nothing_is_printed(
    form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if form == "fax":
        sound = save(tmp_path / "f.tiff", _noise().convert("1"), compression="group4").read_bytes()
    else:
        sound = save(tmp_path / f"a.{form}", _noise()).read_bytes()
    chance, refused = random.Random(form), 0
    for _ in range(60):
        file = _write(tmp_path / "spoiled", _spoil(sound, chance))
        try:
            found = PictureReader(most_pixels=1_000_000).read(file)
            assert found.pixels.shape[2] == 3
        except PictureError as error:
            refused += 1
            assert str(file) in str(error)
    assert refused > 0
    assert capfd.readouterr() == ("", "")


def test_a_picture_is_decoded_once_until_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[str] = []
    decode = PictureReader._decode
    monkeypatch.setattr(
        PictureReader, "_decode", lambda self, name: decoded.append(name) or decode(self, name)
    )
    reader, file = PictureReader(), save(tmp_path / "a.png")
    first = reader.read(file)
    assert reader.read(file) is first
    assert reader.read(str(file)) is first
    save(file, quarters(10, 10))
    os.utime(file, ns=(1, 1))
    assert reader.read(file).width == 10
    assert len(decoded) == 2


def test_no_more_is_kept_than_there_is_room_for(tmp_path: Path) -> None:
    reader = PictureReader()
    reader.cache.limit = 3 * 40 * 20 * 3
    files = [save(tmp_path / f"{number}.png") for number in range(9)]
    reader.read_all(files)
    assert len(reader.cache) == 3


def test_pixels_that_are_shared_cannot_be_written(tmp_path: Path) -> None:
    found = PictureReader().read(save(tmp_path / "a.png"))
    with pytest.raises(ValueError, match="read-only"):
        found.pixels[0, 0] = 0


@pytest.mark.parametrize(
    ("box", "shape"),
    [
        ((0, 0, 40, 20), (20, 40)),
        ((10, 5, 3, 2), (2, 3)),
        ((10.4, 5.5, 1.2, 0.2), (1, 2)),
        ((-5, -5, 10, 10), (5, 5)),
        ((39.9, 19.9, 50, 50), (1, 1)),
        ((100, 100, 5, 5), (1, 1)),
        ((3, 3, 0, 0), (1, 1)),
    ],
)
def test_a_crop_holds_the_pixels_that_its_box_touches(box: Any, shape: Any) -> None:
    assert crop(blank(40, 20), box).shape == (*shape, 3)


def test_the_surest_regions_come_first_and_boxes_that_coincide_once() -> None:
    regions = [
        Region((0, 0, 10, 10), "cup", 0.3),
        Region((0, 0, 10, 9.9), "bowl", 0.9),
        Region((20, 0, 10, 10), "cat", 0.5),
        Region((30, 10, 50, 50), "dog", 0.4),
        Region((90, 90, 5, 5), "far", 0.8),
    ]
    found = choose_best(regions, blank(40, 20), 3)
    assert [region.label for region in found] == ["bowl", "cat", "dog"]
    assert found[2].box == (30, 10, 10, 10)
    assert [one.label for one in choose_best(regions, blank(40, 20), 1)] == ["bowl"]


def test_regions_without_a_confidence_keep_their_order() -> None:
    regions = [Region((5.0 * at, 0, 4, 4), str(at)) for at in range(4)]
    found = choose_best([*regions, Region((30, 0, 4, 4), "sure", 0.1)], blank(40, 20), 10)
    assert [region.label for region in found] == ["sure", "0", "1", "2", "3"]
    assert math.isnan(found[1].confidence)


def test_the_overlap_of_boxes_is_that_of_their_areas() -> None:
    assert measure_overlap((0, 0, 2, 2), (1, 1, 2, 2)) == pytest.approx(1 / 7)
    assert measure_overlap((0, 0, 2, 2), (5, 5, 2, 2)) == 0
    assert measure_overlap((0, 0, 0, 0), (0, 0, 0, 0)) == 0


def test_a_crop_of_any_shape_is_brought_to_a_size() -> None:
    assert resize(np.full((1, 7, 3), 9, np.uint8), (4, 5)).tolist() == [[[9, 9, 9]] * 4] * 5


def test_without_pillow_one_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = save(tmp_path / "a.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(PackageMissing, match="pillow is not installed"):
        PictureReader().read(file)
