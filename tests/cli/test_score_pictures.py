"""`fabula score` over stories of pictures: an odd one has a value, or a line that names it."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import review, score
from fabula.core.errors import UserError
from fakes.crafted_pictures import PDF, SVG, pillow, png_of, png_with_text, quarters, save
from fakes.grounding import plain_nouns, save_picture

__all__ = ["plain_nouns"]

SPEC = "rovist_vg(grounder='fake', idf='off')"
TEXT = "The sea and a tree."


@pytest.fixture
def folder(tmp_path, monkeypatch, plain_nouns):
    """Where one is: elsewhere than the stories."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def write(folder, *rows):
    path = folder / "stories.jsonl"
    path.write_text("".join(json.dumps({"text": TEXT} | row) + "\n" for row in rows))
    return str(path)


def run(*words):
    return CliRunner().invoke(score.command, [*words, "-m", SPEC, "--quiet"])


def scores(*words):
    rows = [json.loads(line) for line in run(*words, "--scores").stdout.splitlines()]
    return {row["story"]: row for row in rows if not row["aspect"]}


def save_whole(folder: Path) -> None:
    """Pictures that are odd and can be read."""
    save(folder / "plain.jpg")
    pillow().new("CMYK", (30, 20), (200, 0, 0, 0)).save(folder / "cmyk.jpg")
    frames = [pillow().new("RGB", (20, 20), colour) for colour in ("red", "blue", "green")]
    frames[0].save(folder / "moving.gif", save_all=True, append_images=frames[1:])
    pillow().new("L", (20_000, 8), 90).save(folder / "long.png")
    (folder / "comment.png").write_bytes(png_with_text(50_000_000))
    quarters().save(folder / "see_through.webp")
    pillow().new("RGB", (1, 1)).save(folder / "dot.bmp")


WHOLE = ("plain.jpg", "cmyk.jpg", "moving.gif", "long.png", "see_through.webp", "dot.bmp")


def save_broken(folder: Path) -> None:
    """What is no picture, or more than one can take."""
    whole = (folder / "plain.jpg").read_bytes()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "large.png").write_bytes(png_of(20_000, 20_000, b""))
    (folder / "wide.png").write_bytes(png_of(20_000, 4_000, b""))
    (folder / "bomb.png").write_bytes(png_of(30_000, 30_000, zlib.compress(bytes(10_000_000), 9)))
    (folder / "drawing.svg").write_bytes(SVG)
    (folder / "paper.jpg").write_bytes(PDF)
    (folder / "words.png").write_text("not a picture at all")
    (folder / "empty.jpg").touch()
    (folder / "inner.jpg").mkdir()


BROKEN = {
    "gone.jpg": "there is no picture",
    "cut.jpg": "is damaged",
    "large.png": "too many pixels",
    "bomb.png": "too many pixels",
    "wide.png": "20,000 × 4,000 pixels, at most 64 million are read",
    "drawing.svg": "a drawing in SVG",
    "paper.jpg": "a PDF, no picture",
    "words.png": "is no picture",
    "empty.jpg": "is empty",
    "inner.jpg": "is a folder",
    "https://example.org/a.jpg": "is no file",
}


def test_odd_pictures_have_a_value_and_others_a_line_that_names_them(folder):
    save_whole(folder)
    save_broken(folder)
    rows = [{"id": name, "images": [name]} for name in (*WHOLE, "comment.png", *BROKEN)]
    found = scores(write(folder, *rows))
    assert {name: found[name]["status"] for name in WHOLE} == dict.fromkeys(WHOLE, "ok")
    assert found["moving.gif"]["note"] == "the first of 3 frames"
    for name, why in BROKEN.items():
        row = found[name]
        assert (row["status"], row["value"], row["coverage"]) == ("missing_images", None, 0.0)
        named = name if "://" in name else str(folder / name)
        assert row["note"].startswith(f"story {name!r}: ") and named in row["note"], row["note"]
        assert why in row["note"] and "\n" not in row["note"], row["note"]
    # A comment that would fill memory is read or refused, and nothing falls over.
    assert found["comment.png"]["status"] in ("ok", "missing_images")


def test_one_broken_picture_among_others_leaves_the_story_without_a_value(folder):
    save_whole(folder)
    rows = [{"id": "a", "images": ["plain.jpg", "gone.jpg"]}, {"id": "b", "images": ["plain.jpg"]}]
    found = scores(write(folder, *rows))
    assert (found["a"]["status"], found["b"]["status"]) == ("missing_images", "ok")
    table = run(write(folder, *rows)).stdout
    assert "1 of 2 stories left out, missing images: story 'a': there is no picture" in " ".join(
        table.split()
    )


def test_one_picture_twelve_pictures_none_and_no_noun(folder):
    names = [Path(save_picture(folder / f"{n}.png", (20 * n, 0, 255))).name for n in range(12)]
    rows = [
        {"id": "one", "images": names[:1]},
        {"id": "twelve", "images": names},
        {"id": "none", "images": []},
        {"id": "silent", "text": "It went on and on.", "images": names[:5]},
        {"id": "blank", "text": " ", "images": names[:5]},
    ]
    found = scores(write(folder, *rows))
    assert {name: row["status"] for name, row in found.items()} == {
        "one": "ok",
        "twelve": "ok",
        "none": "missing_images",
        "silent": "undefined",
        "blank": "empty_text",
    }
    assert found["twelve"]["value"] >= found["one"]["value"]


def test_a_table_of_csv_and_a_folder_a_story_give_the_same_values(folder):
    for day, colour in (("monday", (0, 0, 255)), ("tuesday", (255, 0, 0))):
        save_picture(folder / "days" / day / "1.png", colour)
        save_picture(folder / "days" / day / "2.png", (0, 128, 0))
        (folder / "days" / day / "story.txt").write_text(TEXT)
    (folder / "stories.csv").write_text(
        f'id,text,images\nmonday,"{TEXT}",days/monday/1.png;days/monday/2.png\n'
        f'tuesday,"{TEXT}",days/tuesday\n'
    )
    table, folders = scores(str(folder / "stories.csv")), scores("data/days")
    values = {name: row["value"] for name, row in table.items()}
    assert values == {name: row["value"] for name, row in folders.items()}
    assert values["monday"] > values["tuesday"]


def test_a_field_that_is_no_list_of_names_ends_the_command_with_row_and_field(folder):
    done = run(write(folder, {"images": ["a.png"]}, {"images": {"first": "a.png"}}))
    assert isinstance(done.exception, UserError)
    assert "stories.jsonl, line 2: field 'images'" in str(done.exception)


def test_a_review_takes_pictures_of_one_story(folder):
    picture = save_picture(folder / "1.png")
    for name in ("a", "b"):
        (folder / "texts" / f"{name}.txt").parent.mkdir(exist_ok=True)
        (folder / "texts" / f"{name}.txt").write_text(TEXT)
    done = CliRunner().invoke(review.command, [str(folder / "texts"), "--images", picture])
    assert "--images are one story's, and there are 2" in str(done.exception)
