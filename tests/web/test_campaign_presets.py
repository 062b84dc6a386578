"""Every preset as raters meet it: its pages, a task answered, and the answer in the export."""

from __future__ import annotations

import json
from html import unescape

import pytest
from starlette.testclient import TestClient

from fabula.studio.campaigns.definition import read_definition
from fabula.studio.campaigns.export import export_campaign
from fabula.studio.campaigns.preset_files import FOLDER, find_preset, make_campaign
from fakes.campaign_stories import write_campaign_stories
from fakes.rated_campaign import open_campaign
from web.conftest import HOME

PRESETS = sorted(path.stem for path in FOLDER.glob("*.toml"))
RATING = "/api/v1/rating"


def answer(question, stories):
    """The first answer there is to a question: to one that compares stories, and to any other."""
    ids = [story["id"] for story in stories]
    if question.compares:
        worst = {"best": ids[0], "worst": ids[-1]}
        return {"best": ids[0], "best_worst": worst, "ranking": ids}[question.kind]
    value = {
        "scale": question.low,
        "choice": question.choices[:1] and question.choices[0],
        "text": "some words on it " * 8,
        "spans": [
            {"start": 0, "stop": 4, "label": (*question.choices, "")[0], "reason": "a reason"}
        ],
        "aspects": {
            choice: {"rating": question.high, "reason": "it shows at the end"}
            for choice in question.choices[: question.least]
        },
    }[question.kind]
    return dict.fromkeys(ids, value)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_rated_from_the_welcome_to_the_export(name, app, studio, world, tmp_path):
    preset = find_preset(name)
    stories = write_campaign_stories(tmp_path, read_definition(preset), items=2)
    made = make_campaign(preset, {"stories": stories.name}, tmp_path)
    owner = world.people["dan"]
    campaign, home = open_campaign(studio, owner, made.definition, made.material)
    client = TestClient(app, base_url=HOME, client=("127.0.0.1", 5000))

    def read(path=""):
        shown = client.get(f"{home}{path}")
        assert shown.status_code == 200, shown.text
        return " ".join(unescape(shown.text).split())

    assert made.definition.title in read()
    code = home.rpartition("/")[2]
    entered = client.post(f"{RATING}/enter/{code}", json={"consents": True})
    assert entered.status_code == 200, entered.text
    headers = {"X-CSRF-Token": entered.json()["csrf"]}
    instructions = read("/instructions")
    for example in made.definition.examples:
        assert " ".join(example.text.split()) in instructions
    rating = f"{RATING}/{campaign.id}"
    for number, story in enumerate(made.definition.training):
        assert " ".join(story.text.split()) in read("/practice")
        given = {question: right[0] for question, right in story.answers.items()}
        body = {"number": number, "answers": given}
        tried = client.post(f"{rating}/training", json=body, headers=headers)
        assert tried.json()["wrong"] == [], tried.text
    page = read("/task")
    for question in made.definition.questions:
        assert question.text in page
        assert all(anchor in page for anchor in question.anchors)
    task = client.post(f"{rating}/next", headers=headers).json()["assignment"]
    assert all(story["text"] in page for story in task["stories"])
    answers = {each.name: answer(each, task["stories"]) for each in made.definition.questions}
    if made.definition.checks.character:
        answers["_character"] = {story["id"]: "Mira" for story in task["stories"]}
    body = {"version": task["version"], "answers": answers}
    done = client.post(f"{rating}/tasks/{task['id']}/submit", json=body, headers=headers)
    assert done.status_code == 200, done.text
    export_campaign(studio, owner, made.definition.name, tmp_path / "out", form="jsonl")
    lines = (tmp_path / "out" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    asked = {question.name for question in made.definition.questions}
    assert {json.loads(line)["question"] for line in lines} == asked
