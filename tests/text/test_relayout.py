"""The same words set otherwise."""

from __future__ import annotations

import pytest

from fabula.text.layout import read_plain
from fabula.text.perturb import PERTURBATIONS
from fabula.text.relayout import add_note, break_paragraphs, emphasise, flatten, tokenise, wrap

STORY = (
    "“I didn’t know,” said Anna to Ben. It rained, and Anna ran down to the old quay.\n\n"
    "Ben waited there for her all the same. He was cold. “Wait!” she cried... He didn’t wait.\n\n"
    "They never saw the bus that left three minutes early; nobody else did."
)
CONTROLS = [name for name, kind in PERTURBATIONS.items() if kind.expected == "same"]


@pytest.mark.parametrize("name", CONTROLS)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_set_otherwise_is_read_alike(name: str, seed: int) -> None:
    changed = PERTURBATIONS[name](STORY, seed=seed)
    assert changed is not None
    assert read_plain(changed).text == read_plain(STORY).text


def test_each_does_what_it_says() -> None:
    assert flatten("One.\n\n  Two.\r\nThree.") == "One. Two. Three."
    assert flatten("One. Two.") is None
    assert break_paragraphs("A b. C d. E f. G h.") == "    A b. C d. E f.\n\n    G h."
    assert break_paragraphs("A b. C d. E f.") is None
    assert wrap("word " * 20) == "\n".join([" ".join(["word"] * 14), " ".join(["word"] * 6)])
    assert wrap("short line") is None
    assert emphasise("so it was", share=1.0) is not None
    assert add_note("It rained.\n") in {f"It rained.\n\n{note}" for note in _notes()}
    assert tokenise('"No, it isn\'t," he said.') == "`` No , it is n't , '' he said ."


def _notes() -> set[str]:
    found = (add_note("It rained.", seed=seed) or "" for seed in range(30))
    return {text.partition("\n\n")[2] for text in found}


def test_stars_stand_around_words_alone() -> None:
    changed = emphasise("It was (very) late, he said.", share=1.0, seed=2) or ""
    assert "(very)" in changed
    assert "late," in changed
    assert changed.replace("*", "").replace("_", "") == "It was (very) late, he said."
