"""Coverage, density, compression, length and novelty: what a story takes from its prompt."""

from __future__ import annotations

import gzip
import json
import math

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics.compression import Compression
from fabula.metrics.coverage import Coverage
from fabula.metrics.density import Density
from fabula.metrics.length import Length
from fabula.metrics.novelty import Novelty

COLUMNS = {
    "Coverage": Coverage(compat=True),
    "Density": Density(compat=True),
    "Compression": Compression(compat=True),
    "Text length": Length(compat=True),
    "Novelty-1": Novelty(1, compat=True),
    "Novelty-2": Novelty(2, compat=True),
    "Novelty-3": Novelty(3, compat=True),
}
PROMPTED = [Coverage(), Density(), Compression(), Novelty()]


def value(metric, text, prompt):
    [score] = metric.score([Story("s", text, prompt)])
    return score.value


@pytest.fixture(scope="module")
def golden(shared):
    """Rows of HANNA's release for the human stories of its first prompts."""
    path = shared / "reference" / "golden.json"
    return json.loads(path.read_text(encoding="utf-8"))["hanna_data_stats_human"]["rows"]


@pytest.fixture(scope="module")
def human(shared):
    """Human stories of HANNA by the number of their prompt."""
    path = shared / "data" / "hanna" / "hanna_stories.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["model"] == "Human"]
    return {
        row["prompt_id"]: Story(str(row["story_id"]), row["story"], row["prompt"]) for row in rows
    }


@pytest.mark.parametrize("column", COLUMNS)
def test_compat_gives_the_values_published_with_hanna(golden, human, column):
    pytest.importorskip("spacy")
    stories = [human[row["prompt_index"]] for row in golden]
    assert [story.prompt for story in stories] == [row["prompt"] for row in golden]
    found = [score.value for score in COLUMNS[column].score(stories)]
    assert found == pytest.approx([row[f"{column} ¤§"] for row in golden], rel=1e-12)


@pytest.mark.parametrize(
    ("text", "prompt", "coverage", "density", "compression", "novelty"),
    [
        # Fragments: a dragon (2), slept (1) of four words; new: deeply, of four.
        ("A dragon slept deeply.", "Slept: a dragon!", 3 / 4, (4 + 1) / 4, 3 / 4, 1 / 4),
        # The whole prompt is one fragment of five words; new is the of two kinds more.
        ("The old red fox ran", "old red fox", 3 / 5, 9 / 5, 3 / 5, 2 / 5),
        ("Nothing shared here", "a fox", 0.0, 0.0, 2 / 3, 1.0),
        ("a fox", "A fox", 1.0, 2.0, 1.0, 0.0),
        # Three fragments of a word; the kinds are a and b.
        ("a a a b", "a", 3 / 4, 3 / 4, 1 / 4, 1 / 2),
        ("漢字", "字", 1 / 2, 1 / 2, 1 / 2, 1 / 2),
    ],
)
def test_an_example_by_hand(text, prompt, coverage, density, compression, novelty):
    found = [value(metric, text, prompt) for metric in PROMPTED]
    assert found == pytest.approx([coverage, density, compression, novelty], rel=1e-12)


@pytest.mark.parametrize(
    ("n", "share"),
    [
        (1, 2 / 4),  # ran, away of the, fox, ran, away
        (2, 2 / 3),  # fox ran, ran away; the fox is in the prompt
        (3, 1.0),
    ],
)
def test_novelty_of_longer_n_grams_by_hand(n, share):
    assert value(Novelty(n), "The fox ran away.", "See the fox") == pytest.approx(share)


def test_novelty_counts_kinds_and_not_occurrences():
    assert value(Novelty(), "new new new old", "old") == 0.5


def test_novelty_of_a_story_that_is_too_short_is_undefined():
    [score] = Novelty(3).score([Story("s", "two words", "a prompt")])
    assert score.status is Status.UNDEFINED
    assert "fewer than 3 words" in score.note


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True])
def test_n_must_be_a_whole_number_from_one(n):
    with pytest.raises(SettingError, match="novelty: n="):
        Novelty(n)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One, two!", 4),
        ("Wait...", 4),
        ("Don't.", 2),
        ("!!!", 3),
        ("漢字。", 3),
    ],
)
def test_length_counts_words_and_marks(text, count):
    [score] = Length().score([Story("s", text)])
    assert score.value == count


def test_compat_counts_a_newline_after_both_texts():
    pytest.importorskip("spacy")
    # Tokens: A fox . newline and fox newline; fragments: fox, newline; case counts for novelty.
    text, prompt = "A fox.", "fox"
    assert value(Coverage(compat=True), text, prompt) == pytest.approx(2 / 4)
    assert value(Density(compat=True), text, prompt) == pytest.approx(2 / 4)
    assert value(Compression(compat=True), text, prompt) == pytest.approx(2 / 4)
    assert value(Novelty(compat=True), text, prompt) == pytest.approx(2 / 4)
    assert value(Length(compat=True), text, prompt) == 4
    # "Fox" is a fragment of "fox", yet a new word.
    assert value(Coverage(compat=True), "Fox", "fox") == 1.0
    assert value(Novelty(compat=True), "Fox", "fox") == pytest.approx(1 / 2)


@pytest.mark.parametrize("metric", PROMPTED, ids=lambda metric: metric.name)
def test_what_has_no_words_is_undefined_not_zero(metric):
    stories = [Story("1", "!!!", "a prompt"), Story("2", "a story", "?!"), Story("3", "a story")]
    scores = metric.score(stories)
    assert [score.status for score in scores] == [
        Status.UNDEFINED,
        Status.UNDEFINED,
        Status.MISSING_PROMPT,
    ]
    assert all(math.isnan(score.value) and score.note for score in scores)
    assert "story" in scores[0].note
    assert "prompt" in scores[1].note


@pytest.mark.parametrize("metric", PROMPTED, ids=lambda metric: metric.name)
def test_stories_of_one_prompt_do_not_disturb_one_another(metric):
    texts = ["a dragon slept", "a fox", "the dragon and a fox"]
    stories = [Story(f"{i}", text, "See a dragon and a fox.") for i, text in enumerate(texts)]
    alone = [metric.score([story])[0].value for story in stories]
    assert [score.value for score in metric.score(stories)] == alone
