"""`fabula campaign`, as it is typed."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.errors import UserError
from fabula.studio.campaigns.definition import read_definition
from fabula.studio.campaigns.preset_files import FOLDER, find_preset
from fabula.studio.database import open_studio
from fabula.studio.migrations import migrate
from fabula.studio.people import create_person
from fakes.campaign_stories import write_campaign_stories


class Printed(str):
    """What was printed, and what was said on stderr."""

    said: str


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs `fabula campaign …` in an empty folder: what it prints, or its error's sentence."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FABULA_DATABASE_URL", f"sqlite:///{tmp_path / 'studio.sqlite'}")
    monkeypatch.delenv("FABULA_PUBLIC_URL", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        done = CliRunner().invoke(cli, ["campaign", *map(str, words)])
        if isinstance(done.exception, UserError):
            return Printed(done.exception)
        assert done.exit_code == 0, (done.output, done.exception)
        printed = Printed(done.stdout)
        printed.said = done.stderr
        return printed

    return run


@pytest.fixture
def hanna(tmp_path):
    """A file of twenty stories, as HANNA's preset wants them."""
    return write_campaign_stories(tmp_path, read_definition(find_preset("hanna")))


def test_the_presets_are_listed_each_with_a_line(run):
    rows = json.loads(run("presets", "-f", "json"))
    assert [row["preset"] for row in rows] == sorted(path.stem for path in FOLDER.glob("*.toml"))
    assert all(row["asks"] for row in rows)
    assert {"preset": "rovist", "shows": "4 stories", "raters": 26}.items() <= next(
        row.items() for row in rows if row["preset"] == "rovist"
    )


def test_a_campaign_is_made_of_a_preset_and_says_what_it_costs(run, hanna, tmp_path):
    done = run("new", "hanna", "--stories", hanna.name, "-o", "spring.toml", "--title", "Spring")
    assert done == "spring.toml\n"
    assert "20 stories by 5 systems: 20 tasks, 3 raters each: 60 ratings" in done.said
    assert "16.80 USD at 0.28 a task" in done.said
    made = read_definition(tmp_path / "spring.toml")
    assert (made.name, made.title, made.stories) == ("spring", "Spring", "stories.jsonl")
    assert made.show.reference


def test_a_campaign_file_lies_anywhere_and_still_finds_its_stories(run, hanna, tmp_path):
    (tmp_path / "studies").mkdir()
    run("new", "hanna", "--stories", hanna.name, "-o", "studies/one.toml")
    assert read_definition(tmp_path / "studies/one.toml").stories == "../stories.jsonl"
    assert "60 ratings" in run("check", "studies/one.toml", "--brief").said


def test_what_no_story_has_is_not_shown_and_that_is_said(run, hanna, tmp_path):
    rows = [json.loads(line) for line in hanna.read_text().splitlines()]
    lines = [json.dumps({"id": row["id"], "output": row["text"]}) for row in rows]
    hanna.write_text("\n".join(lines))
    done = run("new", "likert", "--stories", hanna.name, "-c", "text=output")
    assert "no story has a prompt: raters are shown none (--column names one)" in done.said
    made = read_definition(tmp_path / "campaign.toml")
    assert not made.show.prompt
    assert made.form.columns == {"text": "output"}
    assert "20 stories" in run("check", "campaign.toml").said


def test_rows_that_cannot_be_used_are_left_out_where_that_is_said(run, hanna, tmp_path):
    hanna.write_text(hanna.read_text() + '{"id": "broken"}\n')
    assert "line 21" in run("new", "hanna", "--stories", hanna.name)
    done = run("new", "hanna", "--stories", hanna.name, "--skip-bad")
    assert "left out" in done.said
    assert "left out" in run("check", "campaign.toml", "--brief").said
    assert "names no file of stories" in run("new", "hanna", "--stories", "-", "--overwrite")


def test_a_file_of_ones_own_is_not_written_over(run, hanna, tmp_path):
    run("new", "hanna", "--stories", hanna.name)
    (tmp_path / "campaign.toml").write_text("mine")
    assert "--overwrite" in run("new", "hanna", "--stories", hanna.name)
    assert (tmp_path / "campaign.toml").read_text() == "mine"
    run("new", "hanna", "--stories", hanna.name, "--overwrite")
    before = hanna.read_text()
    assert "is what is being read" in run(
        "new", "hanna", "--stories", hanna.name, "-o", hanna.name, "--overwrite"
    )
    assert hanna.read_text() == before


def test_what_is_wrong_is_one_line_that_says_where(run, hanna, tmp_path):
    assert "did you mean 'hanna'?" in run("new", "hannah", "--stories", hanna.name)
    assert "no such file or data set" in run("new", "hanna", "--stories", "gone.csv")
    run("new", "hanna", "--stories", hanna.name)
    path = tmp_path / "campaign.toml"
    path.write_text(path.read_text().replace("floor_s = 30", 'floor_s = "short"'))
    assert run("check", "campaign.toml").startswith(
        "campaign.toml: checks.floor_s must be a number"
    )
    assert "gone.toml cannot be read" in run("check", "gone.toml")
    few = tmp_path / "few.jsonl"
    few.write_text(hanna.read_text().splitlines()[0])
    assert "1 item has fewer: 'item 0' (1)" in run("new", "pairwise", "--stories", few.name)


def test_check_says_what_raters_will_see(run, hanna):
    run("new", "hanna", "--stories", hanna.name)
    seen = run("check", "campaign.toml")
    assert "Relevance: How well does the story fit its prompt?" in seen
    assert "60 ratings" in seen.said
    assert "to ask: Crowd workers" in seen.said
    assert run("check", "campaign.toml", "--brief") == ""


def test_pictures_are_read_before_anybody_is_asked(run, tmp_path):
    stories = write_campaign_stories(tmp_path, read_definition(find_preset("rovist")), items=2)
    run("new", "rovist", "--stories", stories.name, "--raters", "5")
    assert "4 pictures can be read" in run("check", "campaign.toml").said
    (tmp_path / "1-0.png").write_bytes(b"no picture")
    assert "1-0.png is no picture" in run("check", "campaign.toml")
    assert "1-0.png is no picture" in run("open", "campaign.toml")
    assert json.loads(run("list", "-f", "json")) == []


def test_a_campaign_is_opened_in_an_empty_studio_and_gives_a_link(run, hanna):
    run("new", "hanna", "--stories", hanna.name)
    done = run("open", "campaign.toml")
    assert done.startswith("http://127.0.0.1:8000/")
    assert "20 stories" in done.said
    row = json.loads(run("list", "-f", "json"))[0]
    assert (row["name"], row["state"], row["wanted"], row["accepted"]) == ("hanna", "open", 60, 0)
    assert done.strip() in run("status", "hanna")
    assert "give this one another name" in run("open", "campaign.toml")


def test_a_campaign_is_paused_closed_and_opened_again_with_the_same_link(run, hanna):
    run("new", "hanna", "--stories", hanna.name)
    run("open", "campaign.toml", "--draft")
    states = []
    for word in ("open", "pause", "close", "open"):
        link = run(word, "hanna")
        states.append(json.loads(run("list", "-f", "json"))[0]["state"])
        if word == "open":
            assert link.strip() in run("status", "hanna")
    assert states == ["open", "paused", "closed", "open"]
    assert len(json.loads(run("doors", "list", "hanna", "-f", "json"))) == 1
    assert "there is no campaign other" in run("pause", "other")


def test_doors_hold_what_crowd_sites_fill_in(run, hanna, monkeypatch):
    monkeypatch.setenv("FABULA_PUBLIC_URL", "https://studio.example.org")
    run("new", "hanna", "--stories", hanna.name)
    run("open", "campaign.toml")
    link = run("doors", "add", "hanna", "--way", "prolific", "--completion", "C1", "--most", "9")
    assert link.startswith("https://studio.example.org/")
    assert link.endswith(
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}\n"
    )
    assert "?workerId=" in run("doors", "add", "hanna", "--way", "mturk")
    doors = json.loads(run("doors", "list", "hanna", "-f", "json"))
    assert [door["way"] for door in doors] == ["code", "prolific", "mturk"]
    assert (doors[1]["completion"], doors[1]["most"]) == ("C1", 9)
    run("doors", "close", "hanna", doors[0]["id"])
    doors = json.loads(run("doors", "list", "hanna", "-f", "json"))
    assert [bool(door["closed"]) for door in doors] == [True, False, False]


def test_who_acts_is_named_where_it_is_not_plain(run, hanna, tmp_path):
    studio = open_studio(f"sqlite:///{tmp_path / 'studio.sqlite'}")
    migrate(studio)
    for name in ("ann", "bob"):
        create_person(studio, None, name=name, roles=("researcher",))
    create_person(studio, None, name="cyd", roles=("author",))
    studio.close()
    run("new", "hanna", "--stories", hanna.name)
    assert "several people may do this: ann, bob; name one with --user" in run(
        "open", "campaign.toml"
    )
    assert "bob's" in run("open", "campaign.toml", "--user", "bob").said


def test_presets_are_in_the_wheel(tmp_path):
    pytest.importorskip("hatchling")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=FOLDER.parents[4], check=True, capture_output=True, timeout=60)
    [wheel] = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    for path in FOLDER.glob("*.toml"):
        assert f"fabula/studio/campaigns/presets/{path.name}" in packed
