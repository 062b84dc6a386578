from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.vist import challenge, descriptions, load
from fakes.release_samples import SAMPLES, put

SAMPLE = SAMPLES["vist"]


def refused(folder: Path, files: dict[str, str]) -> str:
    with pytest.raises(InputError) as caught:
        load(put(folder, files))
    return str(caught.value)


def test_an_output_has_the_human_stories_of_its_album_as_references(tmp_path: Path) -> None:
    stories = {story.id: story for story in load(put(tmp_path, SAMPLE)).stories}
    assert stories["BART-pre/11"] == Story(
        "BART-pre/11",
        "the sea .",
        references=("we sat .", "a boat ."),
        system="BART-pre",
        item="11",
    )


def test_photos_tell_the_album_of_a_story(tmp_path: Path) -> None:
    stories = {story.id: story for story in load(put(tmp_path, SAMPLE)).stories}
    pictured = stories["MCSM+BART/11"]
    assert pictured.images == ("501", "502") and pictured.text == "we saw the sea ."
    assert pictured.references == ("we sat .", "a boat .")


def test_the_photos_of_a_story_are_those_of_the_one_sequence_that_has_it(tmp_path: Path) -> None:
    stories = {story.id: story for story in load(put(tmp_path, SAMPLE)).stories}
    assert stories["AREL/11"].images == ("503", "502")
    assert stories["AREL/12"].images == ()


def test_the_challenge_has_a_story_for_every_sequence(tmp_path: Path) -> None:
    found = challenge(put(tmp_path, SAMPLE))
    assert [story.item for story in found] == ["11/1", "11/2", "12/1", "12/2"]
    assert found[0].text == "it was grand ." and found[0].images == ("501", "502")


def test_descriptions_go_by_photo(tmp_path: Path) -> None:
    assert descriptions(put(tmp_path, SAMPLE)) == {"501": ("a boat", "a red boat")}


def test_outputs_and_references_are_enough(tmp_path: Path) -> None:
    names = ("vist_test_reference.json", "bart_pre.json")
    assert len(load(put(tmp_path, {name: SAMPLE[name] for name in names})).stories) == 2


def test_what_does_not_fit_is_named(tmp_path: Path) -> None:
    bare = {name: text for name, text in SAMPLE.items() if name != "arel_challenge.json"}
    assert "line 2: no album with these photos" in refused(tmp_path / "a", bare)
    doubled = SAMPLE | {"vist_val_reference.json": json.dumps({"11": ["again ."]})}
    assert "'11' is in another file too" in refused(tmp_path / "b", doubled)
    several = SAMPLE | {"bart_pre.json": json.dumps({"11": ["a .", "b ."]})}
    assert "field '11' holds 2 values, not 1" in refused(tmp_path / "c", several)
    number = SAMPLE | {"bart_pre.json": json.dumps({"11": [5]})}
    assert "album '11': the story is no text" in refused(tmp_path / "d", number)
    empty = SAMPLE | {"vist_test_reference.json": json.dumps({"11": []})}
    assert "field '11' is no list of texts" in refused(tmp_path / "e", empty)
    broken = SAMPLE | {"arel_challenge.json": json.dumps({"output_stories": [1]})}
    assert "story 1: a int, not an object" in refused(tmp_path / "f", broken)


def test_every_output_of_the_release_has_references(shared: Path) -> None:
    stories = load(shared / "data" / "vist").stories
    assert all(story.references for story in stories)
    pictured = [story for story in stories if story.images]
    # All of MCSM+BART, and AREL's test stories but the eight that two sequences share.
    assert len(pictured) == 1_010 + 1_010 - 8
