"""Checks of learned metrics on made-up stories, and where data or weights are not there."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.reader.fake import fake_config
from fabula.learned.training.pairs import Pair
from fabula.meta.resampling import Estimate
from fabula.replication.checks import (
    find_checks,
    learned_ratings,
    learned_storyer,
    text_models,
)
from fabula.replication.checks._learned import (
    Gain,
    correlate_columns,
    mean_ratings,
    story_items,
)
from fabula.replication.checks.learned_storyer import StoryPairs
from fabula.replication.storyer.unseen_ratings import recall_at
from fabula.replication.unseen import UnseenValues

# The large weights' check judges what was recorded as well, which takes no data.
CHECKS = [name for name in find_checks() if name.startswith("learned_") and name != "learned_large"]
CARD = DatasetCard("made up", "made up", "none", reference_systems=("Human",))


@pytest.mark.parametrize("name", CHECKS)
def test_without_data_nothing_is_checked(name: str, bare: Path) -> None:
    (bare / "data").mkdir()
    check = find_checks()[name]
    found = [*check(None), *check(bare)]
    assert {one.outcome for one in found} == {"not checked here"}
    assert found[0].found == "needs data below --data"
    assert "fabula data show" in found[-1].found


def pairs() -> StoryPairs:
    """Three prompts with two stories each; the preferred one is the longer but for the last."""
    texts = {
        "1.1": "One two three four five.", "1.2": "One two.",
        "2.1": "Six seven eight nine ten.", "2.2": "Six seven eight.",
        "3.1": "Ten eleven.", "3.2": "Ten eleven twelve thirteen.",
    }  # fmt: skip
    stories = {name: Story(name, text, item=name[0]) for name, text in texts.items()}
    return StoryPairs.of([Pair(stories[f"{n}.1"], stories[f"{n}.2"]) for n in (1, 2, 3)])


def unseen(*rows: list[float]) -> UnseenValues:
    raw = np.array(rows)
    return UnseenValues(
        fake_config(),
        {
            "ids/preference": np.array(["1.1", "1.2", "2.1", "2.2", "3.1", "3.2"]),
            "preference/preference": raw,
            "preference/preference/surface": raw,
        },
    )


def test_accuracy_is_the_mean_of_seeds_beside_the_baselines() -> None:
    right, wrong = [1.0, 0, 1, 0, 1, 0], [0.0, 1, 0, 1, 0, 1]
    found = list(learned_storyer._check_votes(pairs(), unseen(right, right, right)))
    assert found[0].outcome == "verified" and found[0].found.startswith("1.000 [1.000, 1.000]")
    assert "words 0.667" in found[1].found and "unique_words 0.667" in found[1].found
    by_claim = {one.claim: one for one in found}
    assert by_claim["pairs whose lengths differ by less than 15%"].outcome == "not checked here"
    shorter = by_claim["pairs of which the preferred story is the shorter"]
    assert shorter.found.startswith("storyer 1.000") and "words 0.000; 1 pairs" in shorter.found
    found = list(learned_storyer._check_votes(pairs(), unseen(right, right, wrong)))
    assert found[0].outcome == "short" and "seeds 1.000, 1.000, 0.000" in found[0].found


def test_spoiled_stories_are_held_against_their_own_originals() -> None:
    raw = np.array([[np.nan, 1.0, np.nan, 1.0, np.nan, 1.0, 0.0, 0.0, 2.0]])
    ids = ["1.1", "1.2", "2.1", "2.2", "3.1", "3.2"]
    spoiled = ["1.2/negative0", "2.2/negative1", "3.2/negative2"]
    kept = {
        "ids/preference_n": np.array(ids),
        "preference_n/preference_n": np.array([[1.0, 0, 1, 0, 0, 1]]),
        "ids/corrupted_n": np.array([*ids, *spoiled]),
        "preference_n/corrupted_n": raw,
    }
    usual, corrupted = learned_storyer._check_negatives(pairs(), UnseenValues(fake_config(), kept))
    assert usual.found.startswith("0.667") and corrupted.found.startswith("0.667")


def test_stories_that_the_weights_were_not_measured_on_are_refused() -> None:
    found = unseen([1.0, 0, 1, 0, 1, 0])
    assert found.by_seed("preference", "preference", ["2.1", "1.2"]).tolist() == [[1.0, 0.0]]
    with pytest.raises(InputError, match=r"not measured on story '9.9'"):
        found.by_seed("preference", "preference", ["9.9"])
    with pytest.raises(InputError, match="holds no other/preference"):
        found.by_seed("other", "preference", ["1.1"])


def rated() -> Dataset:
    stories = tuple(Story(name, f"tale {name}", item=name[0]) for name in ("a1", "a2", "b1"))
    said = [("a1", "ending", 2.0), ("a1", "ending", 4.0), ("b1", "ending", 5.0), ("b1", "sad", 1.0)]
    ratings = [Score(s, f"human:{n}", aspect, value) for n, (s, aspect, value) in enumerate(said)]
    return Dataset("made_up", CARD, stories, ScoreTable(stories, ratings))


def test_gold_is_the_mean_of_the_raters_and_nothing_where_nobody_rated() -> None:
    found = mean_ratings(rated(), rated().stories, "ending")
    assert found[[0, 2]].tolist() == [3.0, 5.0] and np.isnan(found[1])
    assert story_items([Story("x", "t"), Story("y", "t", item="1")]) == ["story x", "1"]


def test_recall_counts_the_aspects_that_raters_spoke_of() -> None:
    counts = learned_storyer._count_mentions(rated())
    ending, sad = ASPECTS.index("ending"), ASPECTS.index("sad")
    assert counts[0, ending] == 2 and counts[2, sad] == 1 and counts[1].sum() == 0
    values = np.zeros((3, len(ASPECTS)))
    values[:, ending] = 1.0
    values[:, sad] = 0.5
    # Of the second story raters said nothing, and it is left out.
    assert recall_at(1, values, counts > 0)[[0, 2]].tolist() == [1.0, 0.5]
    assert recall_at(2, values, counts > 0)[[0, 2]].tolist() == [1.0, 1.0]


def test_three_criteria_have_a_bar_and_a_gain_must_be_sure() -> None:
    sure, unsure = (Gain("words", Estimate(0.1, low, 0.2)) for low in (0.01, -0.01))
    outcomes = [
        learned_ratings._check_gain("claim", "found", gain, name).outcome
        for gain in (sure, unsure)
        for name in ("engagement", "empathy")
    ]
    assert outcomes == ["verified", "reported", "short", "reported"]


def test_coherence_below_its_bar_falls_short() -> None:
    gold, ours = np.arange(6.0), np.array([0.0, 2.0, 1.0, 3.0, 5.0, 4.0])
    columns = {"coherence": ours, "UNION": gold}
    measured = correlate_columns(columns, gold, [str(n) for n in range(6)])
    # Spearman: 1 - 6 Σd² / n(n² - 1) = 1 - 24/210 = .886.
    short = learned_ratings._check_coherence("claim", measured, 0.9, ("UNION",))
    assert short.outcome == "short" and short.found.startswith("0.886")
    assert short.found.endswith("6 stories of 6 items; published: UNION 1.000")
    assert learned_ratings._check_coherence("claim", measured, None, ()).outcome == "reported"


def test_both_directions_of_neighbours_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def outputs(pairs: list[tuple[str, str]], head: str) -> np.ndarray:
        assert head == "order"
        return np.array([[1.0 if one < other else -1.0] for one, other in pairs])

    reader = SimpleNamespace(pair_outputs=outputs)
    monkeypatch.setattr(text_models, "load_reader", lambda name, **_: reader)
    stories = [
        Story("1", "Ann came. Bob left. Bob left."),
        Story("2", "Cid slept. Ann woke. Dan ate."),
    ]
    found = text_models._check_order(text_models._VIST, stories)
    # Three pairs, for identical neighbours are left out; one is told wrongly, either way round.
    assert found.found.startswith("0.667") and "3 pairs either way round, 2 stories" in found.found
    assert found.outcome == "short"


def test_stories_are_drawn_alike_every_time() -> None:
    assert text_models.draw_alike(range(50), 5) == text_models.draw_alike(range(50), 5)
    assert sorted(text_models.draw_alike(range(3), 5)) == [0, 1, 2]


def test_overlap_is_the_share_of_the_prompts_words() -> None:
    story = Story("1", "The dog slept.", prompt="A dog and the moon")
    assert learned_ratings._overlap(story) == pytest.approx(2 / 5)
    assert np.isnan(learned_ratings._overlap(Story("1", "The dog slept.")))


def dataset(name: str, *stories: Story) -> Dataset:
    return Dataset(name, CARD, stories)


def test_stories_with_prompts_are_of_the_right_length_and_on_prompts_nobody_rated() -> None:
    text = "word " * 200
    corpus = dataset(
        "corpus",
        Story("long", text * 3, prompt="A whale."),
        Story("rated", text, prompt="[WP] A ghost."),
        Story("none", text),
        Story("first", text, prompt="A dog."),
        Story("second", text, prompt="[ WP ] A dog ."),
        Story("third", text, prompt="A cat."),
    )
    rated = dataset("rated", Story("x", "A story.", prompt="A ghost."))
    found = learned_ratings.choose_prompted(corpus, rated)
    assert {story.id for story in found} == {"first", "third"}


def test_the_right_prompt_must_make_four_of_five_stories_more_relevant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = "abcde"
    stories = [Story(one, f"{one} " * 200, prompt=f"Prompt {one}.") for one in names]
    sets = {"hanna": dataset("hanna"), "writingprompts": dataset("writingprompts", *stories)}
    monkeypatch.setattr(learned_ratings, "load_below", lambda name, data: sets[name])

    def score(some: list[Story], spec: str, aspect: str) -> np.ndarray:
        assert aspect == "relevance"
        right = np.array([story.id in str(story.prompt).removeprefix("Prompt") for story in some])
        if "permissive" in spec:
            return right * 1.0
        return right * np.array([story.id in "ab" for story in some], dtype=float)

    monkeypatch.setattr(learned_ratings, "score_stories", score)
    monkeypatch.setattr(learned_ratings, "_reads_prompts", lambda weights: True)
    good, poor = learned_ratings.check_learned_prompts(None)
    assert (good.outcome, poor.outcome) == ("verified", "short")
    assert good.found.startswith("1.000") and good.found.endswith("5 stories")
    # Two are right, and three that are as good either way count half.
    assert poor.found.startswith("0.700")
    # Of weights that do not read prompts nothing is wanted.
    monkeypatch.setattr(learned_ratings, "_reads_prompts", lambda weights: weights != "reader")
    good, poor = learned_ratings.check_learned_prompts(None)
    assert (good.outcome, poor.outcome) == ("verified", "reported")
    assert poor.found.endswith("they do not read it")
