"""Plots: words that sentences turn on, found by hand, and the line that they stand in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.plots import MOST_WORDS, begin_plot, extract_plot, read_plot, render_plot

STORY = (
    "Tom went to the harbour on Friday. The old ferry had sunk in the storm. He asked the harbour "
    "master for a rope. They pulled all night long. At dawn the ferry floated again."
)


def test_every_sentence_gives_its_word():
    # harbour stands alone and in `harbour master`: (1 + 2) / 2; Tom and Friday score 1. Old and
    # ferry score 2, and ferry comes twice; so `floated` is what the last sentence has left.
    assert extract_plot(STORY) == ["harbour", "ferry", "master", "night", "floated"]


def test_words_score_by_degree_over_frequency():
    # cold wind: 2 / 1 and (2 + 1) / 2; snow fell: 2 and 2, the longer of equals; wind is left.
    assert extract_plot("A cold wind. The snow fell. It was the wind.") == ["cold", "snow", "wind"]


def test_a_word_that_the_plot_has_is_not_taken_while_there_are_others():
    assert extract_plot("The rope broke. A rope.") == ["broke", "rope"]
    assert extract_plot("A rope. The rope.") == ["rope", "rope"]


def test_a_long_story_has_a_word_for_every_stretch():
    plot = extract_plot(" ".join(f"Some thing{chr(97 + n)} came." for n in range(26)))
    assert len(plot) == MOST_WORDS
    assert plot == sorted(plot)
    assert len(extract_plot(STORY, most=2)) == 2


@pytest.mark.parametrize("text", ["", "   ", "!!!", "It was. So he did.", "a b c"])
def test_what_has_no_content_word_has_no_plot(text):
    assert extract_plot(text) == [] and render_plot([]) == ""


def test_the_line_is_read_as_it_was_written():
    plot = ["ferry", "storm", "don't"]
    assert render_plot(plot) == "Plot: ferry # storm # don't\n\n"
    assert begin_plot(plot[:1]) == "Plot: ferry" and begin_plot([]) == "Plot:"
    assert read_plot(render_plot(plot)) == plot
    assert read_plot(" ferry, storm ,, ") == ["ferry", "storm"]
    assert read_plot("PLOT: a # b\n# c") == ["a", "b"]
    assert read_plot("a #" * 30) == ["a"] * MOST_WORDS
    assert read_plot("x" * 500) == [] == read_plot("")


@given(st.text())
def test_any_text_has_a_plot_that_can_be_written_and_read(text):
    plot = extract_plot(text)
    assert read_plot(render_plot(plot)) == plot
