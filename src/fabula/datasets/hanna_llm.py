"""Stories of six larger language models on HANNA's prompts, which nobody rated."""

from __future__ import annotations

from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets.hanna import ITEMS
from fabula.datasets.releases.reading import get_field, require_file
from fabula.datasets.tables.rows import Row, read_rows

STORIES = "hanna_llm_stories.csv"

CARD = DatasetCard(
    title="HANNA, stories of language models",
    about="Answers of six language models (Llama-7b to Platypus2-70b) to the 96 prompts of HANNA, "
    "with its human stories as references. No ratings by people. Items are numbered as in `hanna`; "
    "ids are `llm-0` to `llm-575`, so that both can stand in one table.",
    licence="MIT",
    citation="Chhun, Suchanek and Clavel (2024): Do Language Models Enjoy Their Own Stories? "
    "Prompting Large Language Models for Automatic Story Evaluation. TACL 12.",
    source="github.com/dig-team/hanna-benchmark-asg",
    files={STORIES: "a row per story: number, prompt, human story, story, model"},
    checksums={STORIES: "91f46039ed696be653374eccb38141ac6b8d8b5c675bf48a5032bc9317b50753"},
    counts={"stories": 576, "items": 96, "systems": 6},
    quirks=("The column of the numbers has no name.",),
)


def load(path: Path | None = None) -> Dataset:
    """Load the stories; there are no ratings."""
    stories: dict[str, Story] = {}
    for where, row in read_rows(require_file(path, STORIES)):
        story = _story(row, where)
        if story.id in stories:
            raise InputError(f"{where}: number {story.id[4:]} stands twice", "keep one")
        stories[story.id] = story
    return Dataset("hanna_llm", CARD, tuple(stories.values()))


def _story(row: Row, where: str) -> Story:
    number = str(get_field(row, "", where))
    if not number.isdecimal():
        raise InputError(f"{where}: {number!r} in the first column is no number", "fetch it again")
    names = ("Prompt", "Human", "Story", "Model")
    prompt, human, text, system = (str(get_field(row, name, where)) for name in names)
    item = str(int(number) % ITEMS)
    return Story(f"llm-{int(number)}", text, prompt, (human,), system=system, item=item)
