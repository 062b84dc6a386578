"""`fabula train criteria --from-judge`: a judge teaches a reader, and its figures stand apart."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabula.cli.train import command
from fabula.core.errors import InputError
from fabula.learned.reader.config import CRITERIA, read_config
from fabula.scoring.catalogue import METRICS
from fabula.scoring.evaluate import evaluate
from fakes.judged_runs import JUDGE, certify, judged_stories, write_judged_run
from fakes.tiny_tasks import tale, write_tiny_encoder

torch = pytest.importorskip("torch")

RECIPE = """
kind = "criteria"
encoder = "tiny"
window = 24
[tasks.criteria]
kind = "ratings"
data = ["{people}"]
head = "criteria"
aspects = {aspects}
[[stages]]
rate = 2e-3
steps = 4
[[stages.groups]]
tasks = ["criteria"]
rows = 6
"""
SCALE = """
[scales."criteria.{aspect}"]
terms = {{ "criteria.{aspect}" = 1.0 }}
to = ["criteria.{aspect}"]
link = "clipped"
"""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    write_tiny_encoder(tmp_path / "start")
    write_judged_run(tmp_path / "run")
    columns = ["id", "item", "text", *(f"human:me:{aspect}" for aspect in CRITERIA)]
    rows = [[f"s{i}", f"i{i % 4}", tale(i), *((i * k) % 5 + 1 for k in range(1, 7))]
            for i in range(16)]  # fmt: skip
    with (tmp_path / "people.csv").open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    scales = "".join(SCALE.format(aspect=aspect) for aspect in CRITERIA)
    written = RECIPE.format(people=tmp_path / "people.csv", aspects=json.dumps(CRITERIA))
    (tmp_path / "recipe.toml").write_text(written + scales)
    return tmp_path


def train(folder: Path, *more: str) -> Result:
    places = {"from-judge": "run", "start": "start", "recipe": "recipe.toml", "output": "out"}
    words = [word for name, file in places.items() for word in (f"--{name}", str(folder / file))]
    words += ["--device", "cpu", "--folds", "2", *more]
    return CliRunner().invoke(command, ["criteria", *words], catch_exceptions=False)


def test_a_certified_judge_teaches_and_figures_with_people_stand_apart(folder):
    certify({"coherence": "beyond baselines", "empathy": "beyond baselines", "surprise": "worse"})
    done = train(folder)
    out = folder / "out"
    assert done.stdout == f"criteria(weights={str(out)!r})\n"
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"{JUDGE} teaches coherence, empathy by 16 stories of ")
    assert "  left out: surprise (worse (toy))" in lines
    assert "  left out: relevance (no certificate)" in lines
    people = lines.index("values of unseen stories with people's ratings (Spearman's ρ):")
    judged = lines.index(f"and with what {JUDGE} says of them:")
    named = [line[:18].strip() for line in lines[people + 1 : judged]]
    assert named == [*CRITERIA, "head of criteria"]
    assert [line[:15].strip() for line in lines[judged + 1 :]] == [
        "coherence", "empathy", "head of judge",
    ]  # fmt: skip
    record = json.loads((out / "training.json").read_text())
    assert record["unseen"].keys() == {"criteria"}
    assert record["scales"]["criteria.coherence"].keys() == {"criteria.coherence"}
    told = record["judges"][JUDGE]
    assert told["unseen"]["judge"]["n"] == 16
    assert told["scales"]["criteria.coherence"].keys() == {"judge.coherence"}
    assert told["verdicts"]["empathy"] == "beyond baselines (toy)"
    assert told["signature"] == METRICS.build(JUDGE).identity
    note = read_config(out).training
    assert note["judges"] == record["judges"]
    assert note["validation"]["tasks"] == record["unseen"]


def test_what_was_taught_scores_stories_on_peoples_scale(folder):
    spec = train(folder, "--uncertified", "-q").stdout.strip()
    scores = evaluate(judged_stories(4), spec, cache=False)
    assert [score.aspect for score in scores][:6] == list(CRITERIA)
    assert all(score.ok and 1 <= score.value <= 5 for score in scores)


def test_without_a_certificate_nothing_is_trained_unless_one_insists(folder):
    with pytest.raises(InputError, match="has nothing to teach: relevance: no certificate"):
        train(folder)
    assert not (folder / "out").exists()
    done = train(folder, "--uncertified")
    assert "  coherence: no certificate (--uncertified)" in done.stderr
    record = json.loads((folder / "out" / "training.json").read_text())
    assert record["judges"][JUDGE]["uncertified"] is True


def test_a_finished_training_is_told_again_and_that_of_another_judge_refused(folder):
    certify({"coherence": "beyond baselines"})
    first = train(folder, "-q")
    assert train(folder, "-q", "--resume").stderr == first.stderr
    other = "judge(model='fake', reason=True)"
    write_judged_run(folder / "run", other)
    with pytest.raises(InputError, match="was not taught by judge"):
        train(folder, "-q", "--resume", "--uncertified")
