"""How stories relate to prompts: overlap and similarity by hand, on an encoder of four words."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.learned.reader import relation
from fabula.learned.reader.config import ReaderConfig, Scale, Term, read_config, write_config
from fabula.learned.reader.fake import FakeNetwork, fake_config
from fabula.learned.reader.inference import Reader
from fabula.learned.reader.relation import (
    Relater,
    Relation,
    clean_prompt,
    fit_relation,
)
from fabula.models.reading.state_cache import VectorCache

# Numbers as in BERT's vocabulary: 1996 is the most frequent word.
NUMBERS = {"the": 1996, "dragon": 5996, "dragons": 7000, "sleeps": 9996, "tax": 2995}
DIRECTIONS = {1996: (0, 0), 5996: (1, 0), 7000: (1, 0), 9996: (1, 1), 2995: (0, 1)}


class WordEncoder:
    """Words are tokens; a window's vector is the sum of its words' directions."""

    width = 4

    def __init__(self) -> None:
        self.windows: list[list[int]] = []

    def ids(self, text: str) -> list[int]:
        """Give the numbers of the words that it knows."""
        return [NUMBERS[word] for word in text.lower().strip(".").split() if word in NUMBERS]

    def pool(self, windows):
        """Give the first half for nothing, the second for the words."""
        import torch

        self.windows += windows
        sums = [[0, 0, *np.sum([DIRECTIONS[one] for one in ids], axis=0)] for ids in windows]
        return torch.tensor(sums, dtype=torch.float32).reshape(-1, self.width)


def relater() -> Relater:
    return Relater(WordEncoder(), "words", VectorCache(disk=0))  # type: ignore[arg-type]


def test_rare_words_of_the_prompt_count_more_and_stems_are_compared():
    [[overlap, _]] = relater().relate(["The dragon sleeps"], ["Dragons of the night."])
    the, dragon, sleeps = (math.log1p(rank / 100) for rank in (1, 4001, 8001))
    assert overlap == pytest.approx((the + dragon) / (the + dragon + sleeps))


def test_similarity_is_the_cosine_with_the_nearest_part_of_the_story():
    story = " ".join(["tax"] * relation.WINDOW + ["dragon"] * relation.WINDOW)
    rows = relater().relate(["dragon", "dragon sleeps", "tax"], [story, "tax", "tax"])
    # (2, 1) and (0, 1): the cosine is 1 / √5.
    assert rows[:, 1] == pytest.approx([1.0, 1 / math.sqrt(5), 1.0])


def test_what_has_no_prompt_or_no_word_has_no_relation():
    prompts = [None, "  ", "?!", "dragon", "dragon"]
    rows = relater().relate(prompts, ["dragon"] * 3 + ["...", "dragon"])
    assert np.isnan(rows).all(axis=1).tolist() == [True, True, True, True, False]
    assert relater().relate([None], ["dragon"]).shape == (1, 2)


def test_a_text_is_read_once_whatever_it_is_related_to():
    one = relater()
    one.relate(["dragon", "tax"], ["the dragon sleeps"] * 2)
    one.relate(["tax"], ["the dragon sleeps"])
    assert len(one.encoder.windows) == 3  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("prompt", "bare"),
    [
        ("[ WP ] A dragon does your taxes .", "A dragon does your taxes."),
        ("[WP][TT] A dragon\ndoes your taxes.", "A dragon does your taxes."),
        ("[A dragon does taxes]", "[A dragon does taxes]"),
        ("A [redacted] dragon", "A [redacted] dragon"),
        ("", ""),
    ],
)
def test_a_forums_tag_is_no_word_of_the_prompt(prompt, bare):
    assert clean_prompt(prompt) == bare


def test_both_numbers_are_standardised_over_the_stories_with_a_prompt():
    rows = np.array([[0.0, 0.2], [0.5, 0.6], [1.0, 0.4], [math.nan, math.nan]])
    fitted = fit_relation([rows[:2], rows[2:]], 0.7)
    assert fitted.means == pytest.approx((0.5, 0.4))
    assert fitted.deviations == pytest.approx((math.sqrt(1 / 6), math.sqrt(0.08 / 3)))
    parts = fitted.parts(rows)
    assert math.isnan(parts[3])
    assert parts[:3].mean() == pytest.approx(0)
    assert parts[:3].std() == pytest.approx(0.7)
    with pytest.raises(ValueError, match="no story that relevance is fitted to has a prompt"):
        fit_relation([rows[3:]], 0.7)


RELATION = Relation(1, (0.5, 0.0), (0.5, 1.0), weights=(1.0, 2.0), weight=0.5, deviation=2.0)


def config_with(part: Relation) -> ReaderConfig:
    made = fake_config()
    scale = Scale((Term("preference"),), relation=part)
    return ReaderConfig("fake", made.encoder, 254, made.heads, {"fit": scale})


def test_a_scale_with_a_relation_reads_the_prompt_and_has_no_value_without_one():
    asked = []

    def relate(prompts, texts):
        asked.append((list(prompts), list(texts)))
        return np.array([[1.0, 0.25]] * len(texts))

    config = config_with(RELATION)
    reader = Reader(config, "fake", FakeNetwork(config.heads), relate)
    [with_prompt, without, blank] = reader.raw("fit", ["a", "b", "c"], ["p", None, " "])
    head = reader.outputs(["a"])[0]["preference"][0]
    # (1 − .5) / .5 · 1 + .25 / 1 · 2 = 1.5; half of it over a deviation of 2.
    assert with_prompt == pytest.approx(head + 0.5 * 1.5 / 2)
    assert math.isnan(without) and math.isnan(blank)
    assert asked == [(["p"], ["a"])]
    assert np.isnan(reader.values(["fit"], ["a"])).all()


def test_a_relation_is_written_and_read_and_one_that_will_not_do_is_named(tmp_path):
    write_config(tmp_path, config_with(RELATION))
    assert read_config(tmp_path).scales["fit"].relation == RELATION
    for changes, words in (
        ({"version": 2}, "relation.version is 2, and this Fabula's features are 1"),
        ({"means": (0.0,)}, "relation.means must be 2 numbers"),
        ({"deviations": (1.0, 0.0)}, "relation.deviations must be above 0"),
    ):
        plain = {"version": 1, "means": (0.0, 0.0), "deviations": (1.0, 1.0)} | changes
        with pytest.raises(InputError, match=words):
            write_config(tmp_path, config_with(Relation(**plain)))
