"""RoViST-VG: values by hand, what is missing and why, one look a picture and a noun."""

from __future__ import annotations

import json
import math

import pytest

from fabula.core.errors import InputError, SettingError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.learned.rovist_vg import RovistVg
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import evaluate
from fakes.grounding import plain_nouns, save_picture, told

__all__ = ["plain_nouns", "told"]

pytestmark = pytest.mark.usefixtures("told")
SEEN = {"a.png": {"dog": [0.2, 0.5], "sea": [0.1, 0.0]}, "b.png": {"dog": [0.4], "sea": [0.8]}}


@pytest.fixture
def pictures(tmp_path, told):
    told.told = SEEN
    return tuple(save_picture(tmp_path / name) for name in SEEN)


def read(metric, text, images):
    return metric.score([Story("s", text, images=images)])


def test_the_value_and_the_original_stand_side_by_side(pictures):
    value, original = read(RovistVg(idf="off"), "A dog at the sea.", pictures)
    total = math.log(math.exp(0.5) + math.exp(0.8))
    assert (value.aspect, original.aspect) == ("", "original")
    assert original.value == pytest.approx(total)
    assert value.value == pytest.approx(total - math.log(2))
    assert [RovistVg().label(aspect) for aspect in ("", "original")] == [
        "RoViST-VG",
        "RoViST-VG original",
    ]


def test_golden_pooling_and_scaling(told, pictures, shared):
    golden = json.loads((shared / "reference" / "golden.json").read_text())["vg_formula_derived"]
    rows = dict(zip(("dog", "cat", "sea"), ([v] for v in golden["idf*cos"]), strict=True))
    told.told = dict.fromkeys(SEEN, rows)
    text = "A dog. A cat. The sea."
    [original] = read(RovistVg(idf="off", pooling="lse"), text, pictures)
    assert original.value == pytest.approx(golden["lse"], abs=1e-12)
    _, scaled = read(RovistVg(idf="off", scaled=True), text, pictures)
    assert scaled.value == pytest.approx(golden["scaled"], abs=1e-12)


def test_to_name_more_of_the_same_raises_the_original_alone(pictures):
    once, often = "A dog.", "A dog. A dog. A dog. A dog."
    short, long = (read(RovistVg(idf="off"), text, pictures) for text in (once, often))
    assert long[0].value == pytest.approx(short[0].value) == 0.5
    assert long[1].value == pytest.approx(short[1].value + math.log(4))


@pytest.mark.parametrize(("pooling", "value"), [("sum", 1.3), ("mean", 0.65)])
def test_other_poolings_of_the_released_code(pictures, pooling, value):
    scores = read(RovistVg(idf="off", pooling=pooling), "A dog at the sea.", pictures)
    assert scores[0].value == pytest.approx(value)


def test_chance_is_the_share_of_blind_nouns_that_match_worse(told, pictures, monkeypatch):
    from fabula.learned.grounding import chance

    monkeypatch.setattr(chance, "choose_blind", lambda: ("cat", "tree", "sea", "wuwi"))
    blind = {"cat": [0.3], "tree": [0.7], "sea": [0.5], "dog": [0.5]}
    told.told = dict.fromkeys(SEEN, blind)
    [value, _] = read(RovistVg(idf="off", pooling="chance"), "The dog.", pictures)
    # Of the three that are known one matches worse, and one as well.
    assert value.value == pytest.approx((1 + 0.5) / 3)
    with pytest.raises(SettingError, match="a share already"):
        RovistVg(pooling="chance", scaled=True)


def test_nouns_weigh_by_the_stories_of_the_run(pictures):
    metric = RovistVg(idf="run", pooling="lse")
    texts = ["A dog at the sea.", "The dog.", "The dog.", "Nothing at all.", "Nor here."]
    stories = [Story(f"{i}", text, images=pictures) for i, text in enumerate(texts)]
    scores = metric.score(stories)
    dog, sea = math.log(5 / 4) * 0.5, math.log(5 / 2) * 0.8
    assert scores[0].value == pytest.approx(math.log(math.exp(dog) + math.exp(sea)))
    assert scores[1].value == pytest.approx(dog)
    assert metric.batch == "run" and RovistVg().batch is None
    again = evaluate(stories, "rovist_vg(idf='run', pooling='lse')", cache=False).scores
    assert [score.value for score in again[:3]] == [score.value for score in scores[:3]]


def test_too_few_stories_make_no_noun_rare(pictures):
    value, _ = read(RovistVg(idf="run"), "The dog.", pictures)
    assert (value.status, "idf='examples'" in value.note) == (Status.UNDEFINED, True)


def test_released_rules_weigh_a_noun_of_every_story_below_nothing(pictures):
    metric = RovistVg(idf="run", pooling="lse", compat=True)
    texts = ["A dog at the sea."] + ["The dog."] * 3
    stories = [Story(f"{i}", text, images=pictures) for i, text in enumerate(texts)]
    assert metric.score(stories)[1].value == pytest.approx(math.log(4 / 5) * 0.5)


def test_a_table_of_ones_own_weighs_and_is_part_of_the_signature(pictures, tmp_path):
    table = tmp_path / "mine.tsv"
    table.write_text("# stories\t10\ndog\t4\n")
    metric = RovistVg(idf=str(table), pooling="mean")
    value, _ = read(metric, "The dog.", pictures)
    assert value.value == pytest.approx(math.log(2) * 0.5)
    before = metric.identity
    table.write_text("# stories\t20\ndog\t4\n")
    assert RovistVg(idf=str(table), pooling="mean").identity != before
    with pytest.raises(InputError, match=r"none\.tsv cannot be read"):
        read(RovistVg(idf=str(tmp_path / "none.tsv")), "The dog.", pictures)


class TestWhatIsMissing:
    """A type and a line that names what to mend."""

    def test_no_images_and_no_text(self, pictures):
        assert read(RovistVg(), "The dog.", ())[0].status is Status.MISSING_IMAGES
        assert read(RovistVg(), " ", pictures)[0].status is Status.EMPTY_TEXT

    def test_no_noun(self, pictures):
        value, original = read(RovistVg(), "It went away.", pictures)
        assert value.status is original.status is Status.UNDEFINED
        assert "no noun" in value.note

    def test_no_noun_that_is_known(self, pictures):
        [value, _] = read(RovistVg(), "Wuwi saw a tree.", pictures)
        assert value.status is Status.UNDEFINED
        assert value.note == "the grounder knows none of 2 nouns: wuwi, tree"

    def test_unknown_nouns_do_not_count_and_the_coverage_says_so(self, pictures):
        [value, _] = read(RovistVg(idf="off"), "Wuwi saw a dog.", pictures)
        assert (value.value, value.coverage) == (0.5, 0.5)

    def test_a_picture_that_cannot_be_read_is_named_with_its_story(self, pictures, tmp_path):
        broken = tmp_path / "a.png"
        broken.write_bytes(broken.read_bytes()[:40])
        [value, _] = read(RovistVg(), "The dog.", pictures)
        assert value.status is Status.MISSING_IMAGES
        assert value.note.startswith(f"story 's': {broken} is damaged")
        [value, _] = read(RovistVg(), "The dog.", (str(tmp_path / "none.png"),))
        assert f"there is no picture {tmp_path / 'none.png'}" in value.note

    def test_more_pictures_than_fit(self, pictures):
        [value, _] = read(RovistVg(), "The dog.", pictures * 26)
        assert value.status is Status.TOO_LONG and "limit of 50" in value.note

    def test_what_the_grounder_lacks(self, told, pictures):
        told.absence = "asset labels is missing; run: fabula models pull labels"
        [value, _] = read(RovistVg(), "The dog.", pictures)
        assert (value.status, value.note) == (Status.MISSING_MODEL, told.absence)


def test_what_was_noted_of_pictures_is_in_the_note(told, pictures):
    told.notes = ("it looks like a drawing",)
    [value, _] = read(RovistVg(), "The dog.", pictures)
    assert value.note == "it looks like a drawing"


def test_settings_that_name_nothing_are_for_the_user_to_mend(monkeypatch):
    monkeypatch.undo()
    for spec in ("rovist_vg(idf=' ')", "rovist_vg(grounder='')", "rovist_vg(regions=0)"):
        with pytest.raises(SettingError):
            METRICS.build(spec)
