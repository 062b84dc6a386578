"""Small campaigns in a studio, open to raters, with stories that nobody else wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.core.story import Story
from fabula.studio.campaigns.definition import Definition, make_definition
from fabula.studio.campaigns.opening import Campaign, create_campaign, set_campaign_state
from fabula.studio.campaigns.raters import Way, make_door
from fabula.studio.campaigns.stories import Material
from fabula.studio.database import Studio
from fabula.studio.people import Person

SENTENCES = (
    "The lamp went out at nine, and Ida climbed the stairs without it.",
    "“Who is there?” she asked 😀.",
    "Nobody answered; the sea did.",
    "She thought of her father, who had kept the light for thirty years.",
    "At the top the glass was broken.",
)
PROMPT = "A keeper climbs a lighthouse in the dark."
SCALE = {
    "name": "flow", "kind": "scale", "title": "Flow", "text": "Does it flow?",
    "anchors": ["Not at all", "Slightly", "Somewhat", "Mostly", "Completely"],
}  # fmt: skip


def write_story(number: int, sentences: int = 5) -> str:
    """A text of its own for each number; the emoji is one character, and two to a browser."""
    order = [SENTENCES[(number + at) % len(SENTENCES)] for at in range(sentences)]
    return f"Tale {number}. " + " ".join(order)


def write_stories(count: int, **more: Any) -> list[Story]:
    """Stories on prompts of two systems each."""
    return [
        Story(
            f"s{n}", write_story(n), PROMPT, system=f"model-{n % 2}", item=f"item-{n // 2}", **more
        )
        for n in range(count)
    ]


def define(questions: Sequence[Mapping[str, Any]], **more: Any) -> Definition:
    """A campaign that asks these questions."""
    plain = {"name": "lamps", "title": "Lamps", "instructions": "Read the **story**.", "raters": 1}
    return make_definition({**plain, "questions": [*map(dict, questions)], **more})


def open_campaign(
    studio: Studio,
    owner: Person,
    definition: Definition,
    stories: Sequence[Story | Material],
    *,
    way: Way = "code",
    completion: str = "",
) -> tuple[Campaign, str]:
    """Create a campaign and open it; give it and the address of its door."""
    create_campaign(studio, owner, definition, stories)
    campaign = set_campaign_state(studio, owner, definition.name, "open")
    door = make_door(studio, owner, definition.name, way=way, completion=completion)
    return campaign, f"/campaigns/{campaign.name}/{door.code}"
