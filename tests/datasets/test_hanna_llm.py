from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.errors import InputError
from fabula.datasets import load_dataset

HEAD = ",Prompt,Human,Story,Model\n"


def test_items_are_those_of_hanna(write) -> None:
    path = write("hanna_llm_stories.csv", HEAD + "0,P,H,One.,a\n97,Q,G,Two.,b\n")
    first, second = load_dataset("hanna_llm", path, partial=True).stories
    assert (first.id, first.item, first.system) == ("llm-0", "0", "a")
    assert (second.id, second.item, second.prompt) == ("llm-97", "1", "Q")
    assert second.references == ("G",)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("0,P,H,One.,a\n0,P,H,Two.,b\n", "line 3: number 0 stands twice"),
        ("x,P,H,One.,a\n", "line 2: 'x' in the first column is no number"),
        ("0,P,H,One.\n", "line 2: 4 cells where the header has 5"),
    ],
)
def test_a_wrong_row_is_named(write, rows: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_dataset("hanna_llm", write("hanna_llm_stories.csv", HEAD + rows), partial=True)
    assert message in str(caught.value)


def test_another_file_is_not_the_release(write) -> None:
    with pytest.raises(InputError, match=r"hanna_llm_stories\.csv \(plain or \.gz\) is not there"):
        load_dataset("hanna_llm", write("stories.csv", HEAD))


def test_the_release_answers_the_prompts_of_hanna(shared: Path) -> None:
    folder = shared / "data" / "hanna"
    found = load_dataset("hanna_llm", folder)
    prompts = {story.item: story.prompt for story in load_dataset("hanna", folder).stories}
    assert len(found.stories) == 576
    assert all(story.prompt == prompts[story.item] for story in found.stories)
