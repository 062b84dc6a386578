"""What a causal model is shown before a story."""

from __future__ import annotations

from fabula.text.prompting import render_prompt


def test_a_lone_prompt_stands_above_the_tag():
    assert render_prompt([("", "A dragon who bakes. ")]) == "A dragon who bakes.\n\n***\n"


def test_blocks_are_apart_and_called_by_their_titles():
    blocks = [("Character", "Mara, a smuggler."), ("Challenge", "The bridge is watched.")]
    assert render_prompt(blocks, tag="STORY") == (
        "Character: Mara, a smuggler.\n\nChallenge: The bridge is watched.\n\nSTORY\n"
    )


def test_a_text_of_several_paragraphs_begins_below_its_title():
    assert render_prompt([("Before", "One.\n\nTwo.")]) == "Before:\nOne.\n\nTwo.\n\n***\n"


def test_without_a_tag_the_story_follows_a_blank_line():
    assert render_prompt([("", "A dragon who bakes.")], tag="") == "A dragon who bakes.\n\n"


def test_blocks_without_text_leave_nothing_behind():
    assert render_prompt([("Character", "  "), ("", "")]) == ""
    assert render_prompt([("Character", ""), ("", "Go on.")]) == "Go on.\n\n***\n"
