"""Presets: each is read, filled in and comes back as it was; a new one is tested by existing."""

from __future__ import annotations

import tomllib

import pytest

from fabula.core.errors import InputError, SettingError, UnknownName
from fabula.datasets import hanna, storyer_ratings, visual_survey
from fabula.studio import ratings as studio_ratings
from fabula.studio.campaigns.definition import make_definition, read_definition
from fabula.studio.campaigns.preset_files import (
    FOLDER,
    fill_preset,
    find_preset,
    list_presets,
    make_name,
    to_plain,
)
from fabula.studio.campaigns.stories import describe_gaps, read_material
from fakes.campaign_stories import write_campaign_stories

PRESETS = sorted(path.stem for path in FOLDER.glob("*.toml"))


def test_every_protocol_has_its_preset():
    papers = {"hanna", "rovist", "storium_cards", "storium_crowd", "storium_crowd_alone"}
    papers |= {f"storyer_{what}" for what in ("aspects", "enjoy", "pref", "comments")}
    generic = {"likert", "pairwise", "best_worst", "ranking", "spans", "comment"}
    assert papers | generic <= set(PRESETS)
    assert list(list_presets()) == PRESETS


def test_what_is_asked_is_called_as_in_the_data_sets_of_the_papers():
    presets = list_presets()
    asked = {name: [question.name for question in made.questions] for name, made in presets.items()}
    assert asked["hanna"] == list(hanna.CRITERIA.values())
    assert asked["rovist"] == [*visual_survey.CRITERIA, "best"]
    assert presets["storyer_aspects"].question("aspects").choices == storyer_ratings.ASPECTS
    assert set(asked["storium_crowd"]) == set(studio_ratings.QUESTIONS)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_says_what_raters_need(name):
    definition = read_definition(find_preset(name))
    assert definition.preset == name
    assert definition.name == name.replace("_", "-")
    assert 0 < len(definition.about) <= 110
    assert not definition.stories
    assert definition.instructions.strip()
    assert definition.consent.strip()
    assert definition.thanks.strip()
    assert {example.verdict for example in definition.examples} == {"good", "bad"}
    assert all(question.title for question in definition.questions)
    assert all(q.anchors for q in definition.questions if q.kind in ("scale", "aspects"))
    assert definition.pay.expected_s > 0
    assert definition.checks.floor_s > 0


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_stays_what_it_is_through_plain_values(name):
    definition = read_definition(find_preset(name))
    assert make_definition(to_plain(definition)) == definition


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_filled_in_and_keeps_its_comments(name, tmp_path):
    preset = find_preset(name)
    changes = {
        "name": "mine",
        "title": 'A "title" of mine \\ ours',
        "stories": "data/my stories.csv",
        "raters": 7,
        "show.reference": False,
        "form.sheet": "Blatt 2",
        "form.columns.text": "output",
    }
    path = tmp_path / "campaign.toml"
    path.write_text(fill_preset(preset, changes), encoding="utf-8")
    made, before = read_definition(path), read_definition(preset)
    assert (made.name, made.raters, made.stories) == ("mine", 7, "data/my stories.csv")
    assert made.title == 'A "title" of mine \\ ours'
    assert made.form.columns == {"text": "output"}
    assert made.form.sheet == "Blatt 2"
    assert made.questions == before.questions
    assert made.instructions == before.instructions
    comments = [line for line in preset.read_text().splitlines() if line.startswith("#")]
    assert [line for line in path.read_text().splitlines() if line.startswith("#")] == comments


@pytest.mark.parametrize("name", PRESETS)
def test_stories_with_all_that_a_preset_shows_are_read(name, tmp_path):
    definition = read_definition(find_preset(name))
    path = write_campaign_stories(tmp_path, definition)
    path_text = fill_preset(find_preset(name), {"stories": path.name})
    definition = make_definition(tomllib.loads(path_text))
    material = read_material(definition, tmp_path)
    assert len(material) == 20
    assert describe_gaps(definition, material) == []
    shown = {*definition.show.fields, *(["input"] if definition.show.input else [])}
    assert set(material[0].extra) == shown
    assert bool(material[0].story.images) == definition.show.pictures


def test_a_preset_that_is_not_there_names_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'hanna'"):
        find_preset("hana")
    with pytest.raises(UnknownName, match="there is no preset"):
        find_preset("../../definition")


def test_a_file_of_ones_own_is_a_preset_too(tmp_path):
    own = tmp_path / "lab.toml"
    own.write_text(find_preset("likert").read_text().replace("Quality", "Worth"))
    assert 'name = "spring"' in fill_preset(find_preset(str(own)), {"name": "spring"})


def test_what_cannot_be_filled_in_by_itself_is_said(tmp_path):
    own = tmp_path / "lab.toml"
    text = (
        find_preset("likert")
        .read_text()
        .replace('title = "Rate a story"', 'title = """Two\nlines"""')
    )
    own.write_text(text)
    with pytest.raises(InputError, match="by hand"):
        fill_preset(own, {"title": "One"})


def test_a_value_that_will_not_do_is_refused_before_it_is_written():
    with pytest.raises(SettingError, match="at least one rater"):
        fill_preset(find_preset("likert"), {"raters": 0})


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("My Stories (2)", "my-stories-2"),
        ("été", "t"),
        ("日本", "campaign"),
        ("a" * 200, "a" * 100),
    ],
)
def test_a_name_for_addresses_is_made_of_a_file_name(stem, name):
    assert make_name(stem) == name
