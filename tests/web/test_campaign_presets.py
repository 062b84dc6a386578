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


class Visitor:
    """Somebody who comes in by a link and agrees to take part."""

    def __init__(self, app, campaign, home):
        self.client = TestClient(app, base_url=HOME, client=("127.0.0.1", 5000))
        self.home, self.rating = home, f"{RATING}/{campaign.id}"
        self.welcome = self.read()
        code = home.rpartition("/")[2]
        entered = self.client.post(f"{RATING}/enter/{code}", json={"consents": True})
        self.headers = {"X-CSRF-Token": entered.json()["csrf"]}

    def read(self, path=""):
        shown = self.client.get(f"{self.home}{path}")
        assert shown.status_code == 200, shown.text
        return squeeze(unescape(shown.text))

    def send(self, path, body=None):
        sent = self.client.post(f"{self.rating}{path}", json=body, headers=self.headers)
        assert sent.status_code == 200, sent.text
        return sent.json()

    def practise(self, training):
        for number, story in enumerate(training):
            assert squeeze(story.text) in self.read("/practice")
            given = {question: right[0] for question, right in story.answers.items()}
            assert self.send("/training", {"number": number, "answers": given})["wrong"] == []

    def rate(self, definition):
        """Answer the task that is shown, as far as anybody can see it."""
        page, task = self.read("/task"), self.send("/next")["assignment"]
        for question in definition.questions:
            assert all(words in page for words in (question.text, *question.anchors))
        assert all(story["text"] in page for story in task["stories"])
        answers = {each.name: answer(each, task["stories"]) for each in definition.questions}
        if definition.checks.character:
            answers["_character"] = {story["id"]: "Mira" for story in task["stories"]}
        body = {"version": task["version"], "answers": answers}
        self.send(f"/tasks/{task['id']}/submit", body)


def squeeze(text):
    return " ".join(text.split())


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_rated_from_the_welcome_to_the_export(name, app, studio, world, tmp_path):
    preset = find_preset(name)
    stories = write_campaign_stories(tmp_path, read_definition(preset), items=2)
    made = make_campaign(preset, {"stories": stories.name}, tmp_path)
    owner, definition = world.people["dan"], made.definition
    visitor = Visitor(app, *open_campaign(studio, owner, definition, made.material))
    assert definition.title in visitor.welcome
    instructions = visitor.read("/instructions")
    assert all(squeeze(example.text) in instructions for example in definition.examples)
    visitor.practise(definition.training)
    visitor.rate(definition)
    export_campaign(studio, owner, definition.name, tmp_path / "out", form="jsonl")
    lines = (tmp_path / "out" / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    asked = {question.name for question in definition.questions}
    assert {json.loads(line)["question"] for line in lines} == asked
