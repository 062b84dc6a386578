"""RoViST: three values of a story of pictures, their sum, and their balanced mean."""

from __future__ import annotations

import math

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.learned.rovist import Rovist
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import evaluate
from fakes.grounding import plain_nouns, save_picture, told

__all__ = ["plain_nouns", "told"]

TEXT = "A dog ran to the sea. The dog swam far out. Then the sun went down."
PARTS = ("grounding", "coherence", "non_redundancy", "overall")


@pytest.fixture
def story(tmp_path, told):
    told.told = {"a.png": {"dog": [0.5], "sea": [0.8], "cat": [0.1], "tree": [0.6]}}
    return Story("s", TEXT, images=(save_picture(tmp_path / "a.png"),))


def read(story, **settings):
    [*scores] = Rovist(weights="fake", **settings).score([story])
    assert tuple(score.aspect for score in scores) == PARTS
    return {score.aspect: score for score in scores}


def alone(story, spec):
    return METRICS.build(spec).score([story])[0].value


def test_each_part_is_what_its_own_metric_says_and_overall_their_sum(story):
    scores = read(story)
    original = alone(story, "rovist_vg(pooling='lse')")
    assert scores["grounding"].value == pytest.approx(original)
    assert scores["coherence"].value == alone(story, "rovist_c(weights='fake')")
    assert scores["non_redundancy"].value == alone(story, "rovist_nr")
    assert scores["overall"].value == pytest.approx(
        sum(scores[part].value for part in PARTS[:3]), abs=1e-12
    )


def test_a_length_normalised_sum(story):
    scores = read(story, pooling="lme")
    assert scores["grounding"].value == pytest.approx(alone(story, "rovist_vg"))


def test_a_balanced_overall_is_the_mean_of_three_shares(story, monkeypatch):
    from fabula.learned.grounding import chance

    monkeypatch.setattr(chance, "choose_blind", lambda: ("cat", "tree"))
    scores = read(story, overall="balanced", idf="off")
    # Of two blind nouns the dog (.5, twice) beats one and the sea (.8) both.
    assert scores["grounding"].value == pytest.approx((0.5 + 1.0 + 0.5) / 3)
    assert all(0 <= scores[part].value <= 1 for part in PARTS)
    assert scores["overall"].value == pytest.approx(
        sum(scores[part].value for part in PARTS[:3]) / 3
    )
    with pytest.raises(SettingError, match="balanced"):
        Rovist(overall="balanced", pooling="lme")


def test_one_sentence_has_no_order_and_no_overall(story):
    scores = read(Story("s", "A dog ran to the sea.", images=story.images))
    assert [scores[part].ok for part in PARTS] == [True, False, True, False]
    assert scores["coherence"].status is Status.UNDEFINED
    assert scores["coherence"].note == "coherence: one sentence has no neighbour"


def test_where_no_part_has_a_value_there_is_none(story):
    scores = read(Story("s", "!", images=story.images))
    assert {score.status for score in scores.values()} == {Status.UNDEFINED}
    for part in PARTS[:3]:
        assert f"{part}: " in scores["overall"].note


def test_no_noun_leaves_the_other_two(story):
    scores = read(Story("s", "It ran. It swam.", images=story.images))
    assert [scores[part].ok for part in PARTS] == [False, True, True, False]
    assert "grounding: the story names nothing" in scores["overall"].note


def test_a_picture_that_is_not_there_is_said_of_the_whole(story, tmp_path):
    scores = read(Story("s", TEXT, images=(str(tmp_path / "gone.png"),)))
    assert {score.status for score in scores.values()} == {Status.MISSING_IMAGES}
    assert "there is no picture" in scores["overall"].note
    assert read(Story("s", TEXT))["overall"].status is Status.MISSING_IMAGES


def test_weights_of_nouns_come_of_the_run_where_that_is_asked(story):
    others = [Story(f"{i}", "A cat sat. It slept.", images=story.images) for i in range(3)]
    spec = "rovist(idf='run', weights='fake')"
    table = evaluate([story, *others], spec, cache=False)
    weight = math.log(4 / 2)
    expected = math.log(2 * math.exp(weight * 0.5) + math.exp(weight * 0.8))
    assert table.scores[0].value == pytest.approx(expected)
    assert METRICS.build(spec).batch == "run" and METRICS.build("rovist").batch is None


def test_released_rules_reach_the_parts():
    grounding, coherence, non_redundancy = Rovist(compat=True, weights="fake").parts
    assert grounding.compat and non_redundancy.compat and not coherence.compat
    assert grounding.spec == "rovist_vg(pooling='lse', compat=True)"


def test_the_signature_names_what_each_part_depends_on(story):
    signature = Rovist(weights="fake").signature()
    for trait in ("grounder:told", "tagger:plain", "reader:", "rovist_nr:r1", "idf:"):
        assert trait in signature
