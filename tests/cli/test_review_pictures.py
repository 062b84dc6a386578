"""`fabula review` on a story and its pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli.review import command
from fabula.core.errors import InputError
from fabula.learned.grounding import metric
from fabula.learned.grounding.chance import choose_blind
from fakes.grounding import ToldGrounder, plain_nouns, save_picture, told

__all__ = ["plain_nouns", "told"]

FAKE = ("--weights", "fake", "--order", "fake", "--comments", "none", "--no-cache", "-q")


@pytest.fixture
def story(tmp_path: Path, told: ToldGrounder) -> Path:
    blind = {noun: [0.3] for noun in choose_blind()}
    told.told = {name: {**blind, "dog": [0.8], "sea": [0.2]} for name in ("2.png", "10.png")}
    for name in told.told:
        save_picture(tmp_path / "pictures" / name)
    path = tmp_path / "story.txt"
    path.write_text("A dog ran to the sea. The dog swam.", encoding="utf-8")
    return path


def review(*words: str | Path) -> str:
    done = CliRunner().invoke(command, [*map(str, words), *FAKE])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_folder_of_pictures_is_told_of_in_the_terminal_in_its_order(story: Path) -> None:
    lines = review(story, "--images", story.parent / "pictures").splitlines()
    start = lines.index("Pictures")
    assert lines[start + 1] == "  2 of 3 nouns are seen in the pictures, 1 weakly matched."
    assert "  1 2.png: dog .80" in lines
    assert "  2 10.png: nothing of the story" in lines
    assert "  weak: sea .20" in lines


def test_page_markdown_and_json_tell_the_same(story: Path) -> None:
    picture = story.parent / "pictures" / "2.png"
    page, shown = story.with_name("review.html"), story.with_name("review.md")
    for path in (page, shown):
        review(story, "--images", picture, "-o", path)
    assert page.read_text(encoding="utf-8").count('<img src="data:image/jpeg;base64,') == 1
    assert "| sea | picture 1, region 1 (weak) | .20 |" in shown.read_text(encoding="utf-8")
    pictures = json.loads(review(story, "--images", picture, "-f", "json"))["pictures"]
    assert [noun["match"] for noun in pictures["nouns"]] == [0.8, 0.2, 0.8]
    assert pictures["pictures"][0]["picture"] == str(picture)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("nix.png", "there is no picture nix.png"), ("empty", "no picture lies in empty")],
)
def test_pictures_that_are_named_and_not_there_are_refused(
    story: Path, monkeypatch: pytest.MonkeyPatch, name: str, problem: str
) -> None:
    monkeypatch.chdir(story.parent)
    (story.parent / "empty").mkdir()
    done = CliRunner().invoke(command, ["story.txt", "--images", name, "-o", "page.html", *FAKE])
    assert isinstance(done.exception, InputError) and problem in str(done.exception)
    assert not (story.parent / "page.html").exists()


def test_the_grounder_that_is_named_looks(
    story: Path, told: ToldGrounder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def open_told(spec: str, **_: object) -> ToldGrounder:
        asked.append(spec)
        return told

    monkeypatch.setattr(metric, "open_grounder", open_told)
    text = review(story, "--images", story.parent / "pictures", "--grounder", "some/clip")
    assert set(asked) == {"some/clip"}
    assert "rovist_vg(grounder='some/clip')" in " ".join(text.split())
