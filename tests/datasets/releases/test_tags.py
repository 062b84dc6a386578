from __future__ import annotations

import pytest

from fabula.datasets.releases.reading import clean_prompt, clean_sentences, clean_text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"One. <\newline> Two.", "One.\nTwo."),
        ("One . <newline> <newline> Two . <newline>", "One .\n\nTwo ."),
        ("One.<br><br />Two.<br/>", "One.\n\nTwo."),
        ("1 < 2, and <b>bold</b>  stays", "1 < 2, and <b>bold</b>  stays"),
    ],
)
def test_tags_of_line_ends_become_line_ends(text: str, plain: str) -> None:
    assert clean_text(text) == plain


@pytest.mark.parametrize(
    ("prompt", "plain"),
    [
        ("[WP] A lamp", "A lamp"),
        ("[ WP ] A lamp", "A lamp"),
        ("[WP]: A lamp", "A lamp"),
        ("[CW] A [WP] lamp", "[CW] A [WP] lamp"),
        ("A lamp", "A lamp"),
    ],
)
def test_only_the_tag_before_a_prompt_goes(prompt: str, plain: str) -> None:
    assert clean_prompt(prompt) == plain


def test_the_tag_behind_a_sentence_goes() -> None:
    assert clean_sentences("a b . </s> c .</s>d .\n </s> \n") == "a b . c . d ."
