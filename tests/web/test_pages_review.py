"""The review page: who may, what is streamed, and that nothing of a text is left behind."""

from __future__ import annotations

import json
import logging
import os
import signal
import time
from dataclasses import replace

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from fabula.cli.review import command
from fabula.core.story import Story
from fabula.scoring.review import review_story
from fabula.studio.edits import Edit
from fabula.studio.sign_in import sign_in
from fabula.studio.versions import save_draft
from fabula.web.identity import Web
from fabula.web.pages.review import MOST_CHARACTERS
from fabula.web.settings import Rate, ReviewSettings
from fakes.office import docx
from fakes.review import STORY, TEXT
from web.conftest import HOME, PASSWORD, QUICK

FAKE = ReviewSettings(weights="fake", order="fake", rate=Rate(0))
JSON = {"Accept": "application/json"}


@pytest.fixture(scope="module")
def reading_web(shared_app, first_world):
    """One reader for all tests of this file: it takes a second to wake up."""
    web = Web(shared_app.state.web.studio, replace(QUICK, review=FAKE))
    yield web
    web.reviews.end()


@pytest.fixture
def app(shared_app, studio, reading_web):
    reading_web.studio = studio
    reading_web.settings = replace(QUICK, review=FAKE)
    shared_app.state.web = reading_web
    return shared_app


def ask(client, *texts, prompt="", title="", **options):
    drafts = [{"text": text, "prompt": prompt, "title": title} for text in texts]
    return client.post("/review/read", json={"drafts": drafts}, headers=JSON, **options)


def read(client, *texts, **options):
    """The events of a review."""
    answer = ask(client, *texts, **options)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def open_as_ann(client, world, path):
    """A page as Ann's browser gets it."""
    session = sign_in(client.app.state.web.studio, "ann", PASSWORD, address="127.0.0.1")
    client.cookies.set("fabula-session", session.secret)
    return client.get(path, headers={"Accept": "text/html"}), session


def test_counts_come_first_then_scores_then_a_comment_at_a_time(as_ann):
    events = read(as_ann, TEXT, prompt=STORY.prompt, title="The keeper")
    steps = [event["step"] for event in events if event["event"] == "parts"]
    assert steps[:2] == ["counts", "scores"] and set(steps[2:]) == {"comment"} and len(steps) > 4
    assert events[0]["event"] == "state" and events[-1]["event"] == "done"
    counts, scores, first, *_ = [event["parts"] for event in events if event["event"] == "parts"]
    assert "words" in counts["statistics"] and "judged" not in counts
    assert "better than about" in scores["judged"] and counts["title"] == "The keeper"
    # Of what has been sent only what a comment changes is sent again.
    assert {"notes", "story"} <= first.keys() and "judged" not in first
    assert 'href="#at-' in first["notes"] and 'id="at-' in first["story"]


def test_values_are_those_of_the_command(as_ann, tmp_path):
    events = read(as_ann, TEXT, prompt=STORY.prompt, title="keeper")
    file = tmp_path / "keeper.txt"
    file.write_text(TEXT, encoding="utf-8")
    words = ["--weights", "fake", "--order", "fake", "--no-cache", "-q", "-f", "json"]
    said = CliRunner().invoke(command, [str(file), "--prompt", STORY.prompt, *words])
    saved = events[-1]["saved"][0]
    assert json.loads(saved["json"]) == json.loads(said.stdout)
    assert saved["html"].startswith("<!doctype html>") and "<script" not in saved["html"]


@pytest.mark.assets
def test_with_the_weights_that_are_shipped_values_are_those_of_the_command(as_ann, app):
    app.state.web.settings = replace(QUICK, review=ReviewSettings(rate=Rate(0)))
    events = read(as_ann, TEXT, title="keeper")
    *_, review = review_story(Story("keeper", TEXT))
    shown = json.loads(events[-1]["saved"][0]["json"])
    assert shown == json.loads(json.dumps(review.plain()))
    assert review.percentile > 0 and not review.missing


def test_no_markup_of_a_story_and_no_inline_style_comes_to_the_page(as_ann):
    evil = f'<img src=x onerror=alert(1)> style="left:1px" {TEXT}'
    events = read(as_ann, evil, prompt="<b>x</b>", title="<script>1</script>")
    everything = "".join(
        part for event in events if event["event"] == "parts" for part in event["parts"].values()
    )
    assert "<img" not in everything and "<script" not in everything and "<b>" not in everything
    assert ' style="' not in everything and ' data-style="' in everything
    assert "&lt;img src=x" in everything


def test_two_drafts_are_compared(as_ann):
    later = TEXT.replace("at nine", "at ten") + " It was over."
    events = read(as_ann, TEXT, later)
    counts, scores = [event["parts"] for event in events if event["event"] == "parts"]
    assert "<del>nine</del>" in counts["before"] and "<ins>ten</ins>" in counts["after"]
    assert "<ins>It was over.</ins>" in counts["after"] and counts["moved"] == ""
    assert "Preference, percentile" in scores["moved"] and "Words" in scores["counted"]
    assert [saved["title"] for saved in events[-1]["saved"]] == ["Your story", "Your story"]


def test_what_is_hardly_a_story_is_counted_and_not_judged(as_ann):
    events = read(as_ann, "x = 1; y = {2}; return x[0] + y; // 0x1f 33 44 55 66 77 88 99")
    parts = {}
    for event in events:
        parts |= event.get("parts", {})
    assert "No opinion: " in parts["warnings"] and parts["judged"] == ""


def test_missing_weights_are_named_with_what_to_type_and_the_rest_is_shown(
    as_ann, app, monkeypatch, tmp_path
):
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "empty"))
    app.state.web = Web(app.state.web.studio, replace(QUICK, review=ReviewSettings(rate=Rate(0))))
    events = read(as_ann, TEXT, prompt=STORY.prompt)
    app.state.web.reviews.end()
    scores = next(event["parts"] for event in events if event.get("step") == "scores")
    assert "No " in scores["warnings"] and "fabula models pull minilm" in scores["warnings"]
    assert events[-1]["event"] == "done"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "there is no text"),
        (" \n ", "there is no text"),
        ("x" * (MOST_CHARACTERS + 1), "has 100,001 characters, and 100,000 are read"),
    ],
)
def test_a_text_that_will_not_do_is_refused_with_a_sentence(as_ann, text, words):
    answer = ask(as_ann, text)
    assert answer.status_code == 422 and words in answer.json()["message"]
    assert answer.json()["remedy"]


def test_a_file_is_read_and_a_wrong_one_refused(as_ann):
    data = docx("<w:p><w:r><w:t>The lamp went out.</w:t></w:r></w:p>")
    answer = as_ann.post("/review/file?name=C:%5Ctale.docx", content=data, headers=JSON)
    assert answer.json() == {"title": "tale.docx", "text": "The lamp went out.", "prompt": ""}
    answer = as_ann.post("/review/file?name=tale.xls", content=b"\xd0\xcf\x11\xe0", headers=JSON)
    assert answer.status_code == 422 and "old Office file" in answer.json()["message"]
    big = b"a " * (MOST_CHARACTERS // 2 + 10)
    answer = as_ann.post("/review/file?name=tale.txt", content=big, headers=JSON)
    assert answer.status_code == 422 and "100,000 are read" in answer.json()["message"]
    answer = as_ann.post("/review/file?name=a.txt", content=b"a" * 4_300_000, headers=JSON)
    assert answer.status_code == 413


def test_examples_are_those_of_the_package(as_ann):
    assert as_ann.get("/review/examples/nothing").status_code == 404
    story = as_ann.get("/review/examples/teeth-loop").json()
    assert story["title"] == "Teeth (repeats itself)" and story["text"] and story["prompt"]


def test_who_is_not_signed_in_is_sent_to_do_so_unless_the_studio_is_open(client, app):
    page = client.get("/review", headers={"Accept": "text/html"}, follow_redirects=False)
    assert (page.status_code, page.headers["location"]) == (303, "/sign-in?next=/review")
    assert ask(client, TEXT).status_code == 401
    app.state.web.settings = replace(QUICK, review=replace(FAKE, is_open=True))
    page = client.get("/review", headers={"Accept": "text/html"})
    assert page.status_code == 200 and "100,000 characters" in page.text
    assert read(client, TEXT)[-1]["event"] == "done"


def test_a_browser_has_to_show_that_the_page_was_ours(client, world, app):
    page, session = open_as_ann(client, world, "/review")
    assert page.status_code == 200 and f'content="{session.csrf}"' in page.text
    assert ask(client, TEXT).status_code == 403
    client.headers["X-CSRF-Token"] = session.csrf
    assert read(client, TEXT)[-1]["event"] == "done"


def test_a_person_has_so_many_an_hour(as_ann, app, world):
    rated = replace(FAKE, rate=Rate(1, 3600))
    app.state.web = Web(app.state.web.studio, replace(QUICK, review=rated))
    assert ask(as_ann, " ").status_code == 422
    answer = ask(as_ann, " ")
    assert answer.status_code == 429 and int(answer.headers["retry-after"]) > 3000
    other = TestClient(app, base_url=HOME, headers=world.bearer("ben"))
    assert ask(other, " ").status_code == 422


def test_a_draft_and_its_versions_are_read_with_the_rights_of_who_asks(client, world, studio):
    ann, draft_id = world.people["ann"], world.ids["draft_id"]
    edits = [Edit(0, 0, "At night. <i>")]
    save_draft(studio, ann, draft_id, key="2", base_version=1, edits=edits)
    page, _ = open_as_ann(client, world, f"/review?draft={draft_id}")
    assert "At night. &lt;i&gt;She held the lantern up." in page.text and "data-run" in page.text
    page, _ = open_as_ann(client, world, f"/review?draft={draft_id}&version=1&with=2")
    assert "Version 1" in page.text and "Version 2" in page.text
    page, _ = open_as_ann(client, world, f"/review?draft={draft_id}&version=9")
    assert page.status_code == 404 and "no version 9" in page.text
    page, _ = open_as_ann(client, world, f"/review?draft={'0' * 32}")
    assert page.status_code == 404


def test_nothing_of_a_text_is_left_behind(as_ann, studio, tmp_path, monkeypatch, caplog, capfd):
    """In no table, no file of the caches or the data folder, no log."""
    home, secret = tmp_path / "home", "a heron named Quillfeather"
    monkeypatch.setenv("FABULA_HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    as_ann.app.state.web = Web(studio, replace(QUICK, review=FAKE))
    text = TEXT.replace("a small boat", secret)
    with caplog.at_level(logging.DEBUG):
        assert read(as_ann, text, prompt=f"Write of {secret}.")[-1]["event"] == "done"
        assert read(as_ann, text, TEXT)[-1]["event"] == "done"
        data = docx(f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
        assert as_ann.post("/review/file?name=a.docx", content=data).status_code == 200
    as_ann.app.state.web.reviews.end()
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written, "the database is among them"
    for path in written:
        assert b"Quillfeather" not in path.read_bytes(), path
    said = capfd.readouterr()
    assert "Quillfeather" not in caplog.text + said.out + said.err


def test_a_reader_that_is_killed_is_a_sentence_and_the_next_one_is_fresh(as_ann, app):
    assert read(as_ann, TEXT)[-1]["event"] == "done"
    first = app.state.web.reviews.child
    os.kill(first.pid, signal.SIGKILL)
    while first.is_alive:
        time.sleep(0.01)
    assert read(as_ann, TEXT)[-1]["event"] == "done"
    assert app.state.web.reviews.child.pid != first.pid


def test_the_page_says_its_limits_before(client, world):
    page, _ = open_as_ann(client, world, "/review")
    assert "Up to 100,000 characters" in page.text and "up to 4 MiB" in page.text
    assert "Nothing that you give is kept unless you save it" in page.text.replace("\n", " ")
    assert page.text.count("<optgroup") == 28
