"""StoryER's losses by hand, what a step is dealt, and how data is parted."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from fabula.core.dataset import Dataset, DatasetCard, Preference
from fabula.core.errors import InputError, SettingError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.learned.negatives.union import Negative
from fabula.learned.training.joint import pair_figures, recall_at
from fabula.learned.training.joint_data import (
    JointData,
    JointSampler,
    _pairs,
    part_data,
    prepare_joint,
    read_rated_items,
)
from fabula.learned.training.joint_model import (
    IGNORED,
    comment_losses,
    confidence_losses,
    pair_losses,
    rating_losses,
)
from fabula.learned.training.joint_recipe import JointRecipe
from fabula.learned.training.recipe import is_joint, read_recipe
from fabula.text.antonyms import Antonyms
from fakes.tiny_joint import joint_recipe, made_up_data

torch = pytest.importorskip("torch")

REPO = Path(__file__).resolve().parents[3]
RECIPES = REPO / "recipes"
ANTONYMS = Antonyms({"sat": ("stood",), "dog": ("cat",)})


def test_the_margin_counts_what_is_missing_between_probabilities():
    # Logits ln 3, ln 4, 0: sigmoids 0.75, 0.8, 0.5.
    better = torch.tensor([math.log(3), math.log(4), 0.0])
    worse = torch.tensor([0.0, 0.0, math.log(3)])
    found = pair_losses(better, worse, loss="margin", margin=0.3)
    # 0.5 - 0.75 + 0.3 = 0.05; 0.5 - 0.8 + 0.3 = 0; 0.75 - 0.5 + 0.3 = 0.55.
    torch.testing.assert_close(found, torch.tensor([0.05, 0.0, 0.55]), rtol=0, atol=1e-6)


def test_the_baselines_are_cross_entropy_with_and_without_smoothing():
    better, worse = torch.tensor([math.log(3)]), torch.tensor([-math.log(4)])
    # Probabilities 0.75 and 0.2: -ln 0.75 - ln 0.8.
    plain = pair_losses(better, worse, loss="cross_entropy", margin=0.3, smoothing=0.1)
    assert float(plain) == pytest.approx(-math.log(0.75) - math.log(0.8))
    smooth = pair_losses(better, worse, loss="smoothed", margin=0.3, smoothing=0.1)
    first = -0.95 * math.log(0.75) - 0.05 * math.log(0.25)
    second = -0.95 * math.log(0.8) - 0.05 * math.log(0.2)
    assert float(smooth) == pytest.approx(first + second)


def test_confidence_is_the_cross_entropy_of_every_aspect_that_was_chosen():
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]]))
    chosen = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    wanted = [-math.log(0.5) - math.log(0.25), -math.log(0.7)]
    torch.testing.assert_close(confidence_losses(logits, chosen), torch.tensor(wanted))


def test_every_aspect_that_a_rater_chose_counts_for_the_rating_and_no_other():
    logits = torch.tensor([[9.0, math.log(3), 0.0], [0.0, 5.0, 5.0]])
    chosen = torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])
    ratings = torch.tensor([[0.0, 0.25, 0.5], [1.0, 0.0, 0.0]])
    found = rating_losses(logits, chosen, ratings)
    # Probability 0.75 of a rating 2 of 5, (2 - 1) / 4, and 0.5 of a rating 3; 0.5 of a rating 5.
    first = -0.25 * math.log(0.75) - 0.75 * math.log(0.25)
    torch.testing.assert_close(found, torch.tensor([first + math.log(2), math.log(2)]))


def test_filler_counts_nothing_for_a_comment():
    logits = torch.log(torch.tensor([[[0.5, 0.5], [0.25, 0.75]], [[0.9, 0.1], [0.2, 0.8]]]))
    labels = torch.tensor([[0, 1], [0, IGNORED]])
    wanted = [[math.log(2), -math.log(0.75)], [-math.log(0.9), 0.0]]
    torch.testing.assert_close(comment_losses(logits, labels), torch.tensor(wanted))


def test_a_tie_is_no_win_and_compat_averages_batches():
    import numpy as np

    gaps = [np.array([0.2, 0.0, 0.4]), np.array([-0.4])]
    found = pair_figures(gaps)
    assert found["accuracy"] == 0.5
    assert found["distance"] == pytest.approx(0.05)
    # Batch means 0.2 and -0.4.
    assert pair_figures(gaps, compat=True)["distance"] == pytest.approx(-0.1)


def test_recall_counts_chosen_aspects_among_the_likeliest():
    import numpy as np

    logits = np.array([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
    assert recall_at(logits, [(0, 2), (2,)], 1) == pytest.approx(2 / 3)
    assert recall_at(logits, [(0, 2), (2,)], 3) == 1.0


def test_an_epoch_sees_every_pair_once_and_a_step_is_the_same_whenever_it_is_dealt(tmp_path):
    recipe = joint_recipe(tmp_path, rows=3, epochs=2.0)
    deck = JointSampler(made_up_data(8), recipe)
    assert (deck.steps_per_epoch, deck.steps) == (3, 6)
    ids = {id(pair) for pair in deck.data.pairs}
    assert len(ids) == 8
    dealt = [deck.batch(step) for step in range(6)]
    assert [len(one.worse) for one in dealt] == [3, 3, 2, 3, 3, 2]
    assert all(len(one.items) == 3 for one in dealt)
    for epoch in (dealt[:3], dealt[3:]):
        texts = sorted(text for one in epoch for text in one.better)
        assert texts == sorted(pair.better.text for pair in deck.data.pairs)
    assert JointSampler(made_up_data(8), recipe).batch(4) == dealt[4]
    other = JointSampler(made_up_data(8), replace(recipe, seed=2))
    assert any(other.batch(step) != dealt[step] for step in range(6))


def test_a_switch_changes_only_its_own_part_of_a_batch(tmp_path):
    recipe = joint_recipe(tmp_path, rows=3, negatives=True)
    whole = JointSampler(made_up_data(8), recipe).batch(1)
    assert len(whole.negatives) == 3

    def dealt(**changes):
        return JointSampler(made_up_data(8), replace(recipe, **changes)).batch(1)

    assert dealt(negatives=False) == replace(whole, negatives=())
    assert dealt(aspects=False, comments=False) == replace(whole, items=())
    assert dealt(ranking=False) == dealt(aspects=False) == dealt(comments=False) == whole
    pairless = dealt(ranking=False, negatives=False)
    assert pairless == replace(whole, better=(), worse=(), negatives=())
    assert dealt(augmentation=False) == dealt(loss="smoothed") == dealt(compat=True) == whole


def test_augmented_comments_are_drawn_only_where_they_are_switched_on(tmp_path):
    data = made_up_data(4)
    more = tuple(replace(item, story=f"More {item.story}") for item in data.items)
    data = replace(data, augmented=more)
    recipes = [joint_recipe(tmp_path, augmentation=one) for one in (True, False)]
    samplers = [JointSampler(data, recipe) for recipe in recipes]
    drawn = [{item in more for s in range(9) for item in one.batch(s).items} for one in samplers]
    assert drawn == [{True, False}, {False}]
    assert {item in more for batch in samplers[0].batches_in_order() for item in batch.items} == {
        False
    }


def test_a_negative_keeps_lines_and_differs_from_the_story():
    deck = JointSampler(made_up_data(8), JointRecipe("none", negatives=True, rows=8, held_out=0.0))
    for step in range(5):
        batch = deck.batch(step)
        for negative, story in zip(batch.negatives, batch.worse, strict=True):
            assert negative != story
            # The first sentence, and the line end after it, stay.
            assert negative.split("\n")[0] == story.split("\n")[0]
            assert negative.count("\n") == story.count("\n") == 1


def test_negatives_are_of_both_kinds_by_lot_or_of_the_one_that_is_named(monkeypatch):
    def mark(name):
        def change(sentences, *, others, seed, antonyms):
            assert antonyms is ANTONYMS
            return Negative((f"{sentences[0]} {name}",), (name,), True)

        return change

    ways = {name: mark(name) for name in ("union", "manplts")}
    monkeypatch.setattr("fabula.learned.training.joint_data._CORRUPT", ways)
    data = replace(made_up_data(8), antonyms=ANTONYMS)
    recipe = JointRecipe("none", negatives=True, rows=8, held_out=0.0)

    def kinds(**changes):
        sampler = JointSampler(data, replace(recipe, **changes))
        return [text.split()[-1] for step in range(20) for text in sampler.batch(step).negatives]

    # 160 draws by even lot: within four standard deviations of the half.
    assert abs(kinds().count("union") - 80) < 26
    assert {*kinds(corruptions=("manplts",))} == {"manplts"}


def test_words_of_negatives_become_their_contraries_where_there_are_antonyms():
    recipe = JointRecipe("none", negatives=True, rows=8, held_out=0.0)

    def negatives(antonyms):
        sampler = JointSampler(replace(made_up_data(8), antonyms=antonyms), recipe)
        return " ".join(text for step in range(9) for text in sampler.batch(step).negatives)

    assert "stood" in negatives(ANTONYMS)
    assert "stood" not in negatives(None)


@pytest.mark.assets
def test_antonyms_are_wordnets_where_the_recipe_wants_negatives(tmp_path, monkeypatch):
    empty = {"backbone": "none", "pairs": (), "items": ()}
    recipe = JointRecipe(**empty, negatives=True)
    found = prepare_joint(recipe).antonyms
    assert found is not None and "cold" in found.of("hot")
    assert prepare_joint(replace(recipe, antonyms=False)).antonyms is None
    assert prepare_joint(JointRecipe(**empty)).antonyms is None


def test_without_wordnet_negatives_say_how_to_get_it_or_do_without(tmp_path, monkeypatch):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="antonyms = false"):
        prepare_joint(JointRecipe("none", pairs=(), items=(), negatives=True))


def test_held_out_prompts_are_in_no_lesson():
    data = made_up_data(40)
    more = tuple(replace(item, prompt=f"prompt {n}") for n, item in enumerate(data.items))
    recipe = JointRecipe("none", held_out=0.2, most_held=3)
    lessons, held = part_data(replace(data, augmented=more), recipe)
    # Texts come again under every fourth prompt, so that prompts stand together in groups of ten.
    kept = {str(pair.better.prompt).lower() for pair in lessons.pairs}
    asked = {str(pair.better.prompt).lower() for pair in held.pairs}
    assert kept
    assert asked
    assert not kept & asked
    assert not {item.prompt for item in (*lessons.items, *lessons.augmented)} & asked
    assert len(held.pairs) == len(held.items) == 3
    assert not held.augmented
    assert part_data(data, replace(recipe, held_out=0.0)) == (data, JointData())
    speaking = part_data(JointData(items=data.items), recipe)
    assert [len(part.items) for part in speaking] == [32, 3]


def made_up_ratings(value: float = 2.0) -> Dataset:
    stories = (Story("a", "One.\tTwo.<br>Three.", prompt="Why, oh why?"), Story("b", "Four."))
    scores = [
        Score("a", "human:1", "ending", value, note="Too \n soon."),
        Score("a", "human:1", "scene", 4.0),
        Score("a", "human:2", "opening", 5.0),
        Score("b", "human:1", "funny", 1.0, note="Ha!"),
        Score("b", "human:1", "overall", 3.0),
    ]
    card = DatasetCard("made up", "", "none")
    return Dataset("made_up", card, stories, ScoreTable(stories, scores))


def test_ratings_become_items_with_all_aspects_that_their_rater_chose():
    first, second, third, fourth = read_rated_items(made_up_ratings())
    assert (first.story, first.prompt) == ("One. Two.\nThree.", "why oh why")
    assert (first.aspect, first.rating, first.comment) == (2, 0.25, "Too soon.")
    assert (second.aspect, second.rating, second.comment) == (4, 0.75, "")
    # Opening is what another rater of the same story spoke of.
    assert first.chosen == second.chosen == (2, 4)
    assert first.ratings == second.ratings == (0.25, 0.75)
    assert (third.chosen, third.ratings) == ((0,), (1.0,))
    assert (fourth.prompt, fourth.chosen) == ("made_up:b", (8,))
    with pytest.raises(InputError, match="ending of story 'a' is rated 7"):
        read_rated_items(made_up_ratings(7.0))


def test_posts_are_cleaned_unless_the_recipe_says_otherwise():
    stories = (
        Story("a", "A tale of a cat.\nEdit: thanks for the gold!", item="1"),
        Story("b", "A dog.", item="1"),
    )
    card = DatasetCard("made up", "", "none")
    dataset = Dataset("made_up", card, stories, preferences=(Preference("a", "b"),))
    assert _pairs(dataset, cleaned=True)[0].better.text == "A tale of a cat."
    assert "Edit" in _pairs(dataset, cleaned=False)[0].better.text
    ratings = ScoreTable(stories, [Score("a", "human:1", "ending", 4.0, note="Edit: neat.")])
    rated = Dataset("made_up", card, stories, ratings)
    [clean], [raw] = (read_rated_items(rated, cleaned=cleaned) for cleaned in (True, False))
    assert (clean.story, clean.comment) == ("A tale of a cat.", "Edit: neat.")
    assert raw == replace(clean, story=stories[0].text)


def test_the_recipe_in_the_repository_is_the_papers():
    recipe = read_recipe(JointRecipe, RECIPES / "storyer_led.toml", seed=3, rows=None)
    assert (recipe.rate, recipe.warmup_epochs, recipe.epochs, recipe.rows) == (4e-6, 1.0, 5.0, 16)
    assert (recipe.margin, recipe.max_tokens, recipe.comment_tokens) == (0.3, 2000, 300)
    assert (recipe.epsilon, recipe.weight_decay, recipe.seed) == (1e-8, 0.0, 3)
    assert is_joint(RECIPES / "storyer_led.toml")
    assert not is_joint(RECIPES / "storyer.toml")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "backbone is missing"),
        ({"backbone": " "}, "names no model"),
        ({"backbone": "x", "rows": 0}, "rows must be at least 1"),
        ({"backbone": "x", "max_tokens": 7}, "max_tokens must be at least 8, or 0"),
        ({"backbone": "x", "negatives": True, "corruptions": []}, "names no way"),
        ({"backbone": "x", "corruptions": ["swag"]}, "corruptions"),
        ({"backbone": "x", "held_out": 1.0}, "held_out"),
        ({"backbone": "x", "rate": 0.0}, "rate, epochs"),
        ({"backbone": "x", "loss": "hinge"}, "loss must be one of"),
        ({"backbone": "x", "colour": 1}, "colour is no field"),
        ({"backbone": "x", "ranking": False, "aspects": False, "comments": False}, "nothing"),
    ],
)
def test_a_recipe_that_will_not_do_is_refused(given, named):
    with pytest.raises(SettingError, match=named):
        read_recipe(JointRecipe, given)


def test_a_file_that_is_no_recipe_is_refused(tmp_path):
    with pytest.raises(SettingError, match="cannot be read"):
        read_recipe(JointRecipe, tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("=")
    with pytest.raises(SettingError, match="no TOML"):
        is_joint(tmp_path / "bad.toml")
