"""Every preset, from its file to the tasks in a studio; a new one is tested by existing."""

from __future__ import annotations

import pytest

from fabula.studio.campaigns.definition import read_definition
from fabula.studio.campaigns.opening import create_campaign, find_campaign, list_campaigns
from fabula.studio.campaigns.outlook import foresee, preview
from fabula.studio.campaigns.preset_files import FOLDER, find_preset, make_campaign
from fakes.campaign_stories import write_campaign_stories

PRESETS = sorted(path.stem for path in FOLDER.glob("*.toml"))


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_goes_from_its_file_into_tasks_and_back(name, studio, admin, tmp_path):
    preset = find_preset(name)
    stories = write_campaign_stories(tmp_path, read_definition(preset), items=3)
    made = make_campaign(preset, {"stories": stories.name}, tmp_path)
    assert made.hidden == ()
    create_campaign(studio, admin, made.definition, made.material)
    campaign = find_campaign(studio, admin, made.definition.name)
    assert campaign.definition == made.definition
    (_, progress), *others = list_campaigns(studio, admin)
    assert others == []
    outlook = foresee(made.definition, made.material)
    assert (progress.stories, progress.tasks) == (15, outlook.tasks)
    assert progress.wanted == outlook.ratings > 0
    assert preview(made.definition, made.material)
