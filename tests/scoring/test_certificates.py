"""Certificates as files: made by asking, found by the judge's signature, refused when not ours."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, UserError
from fabula.core.table import ScoreTable
from fabula.meta.study import Study
from fabula.scoring.catalogue import METRICS
from fabula.scoring.certificates import (
    find_certificates,
    is_judge,
    join_run,
    list_certificates,
    make_certificate,
    read_certificate,
    save_certificate,
    verdict_words,
)
from fabula.scoring.evaluate import evaluate
from fakes.grids import make_dataset
from fakes.runs import make_record, write_record

RNG = np.random.default_rng(5)
LENGTHS = RNG.integers(5, 60, (12, 4))
STUDY = Study(coefficients=("spearman",), resamples=50, ceilings=False, settle=True)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def rated() -> Dataset:
    """Twelve items told by four systems; people like long stories, judge:x what it likes."""
    said = {"judge:x/1": RNG.normal(size=LENGTHS.shape)}
    dataset = make_dataset(said, {"plot": LENGTHS / 10})
    places = {story.id: number for number, story in enumerate(dataset.stories)}
    texts = ["It rained again and again. " * int(n) for n in LENGTHS.ravel()]
    stories = tuple(replace(one, text=texts[places[one.id]]) for one in dataset.stories)
    tables = (ScoreTable(stories, table) for table in (dataset.ratings, dataset.scores))
    return replace(
        dataset, stories=stories, **dict(zip(("ratings", "scores"), tables, strict=True))
    )


def test_a_spec_is_asked_and_its_identity_is_the_certificates_signature() -> None:
    made = make_certificate("distinct", rated(), STUDY, with_reader=False, cache=False)
    assert (made.judge, made.stories, made.answered, made.missing) == ("distinct", 48, 48, {})
    assert made.signature.startswith("distinct|")
    assert made.verdicts == {"plot": "worse"}
    baseline = made.of("item")[0].rival("baseline")
    assert baseline is not None
    assert (baseline.name, baseline.agreement.value) == ("words", 1.0)


def test_a_column_of_the_data_set_is_not_asked_again() -> None:
    made = make_certificate("judge:x/1", rated(), STUDY, with_reader=False, cache=False)
    assert made.signature == "judge:x/1|data:toy"
    assert made.answered == 48


def test_so_many_items_are_taken_with_all_their_stories() -> None:
    made = make_certificate("judge:x/1", rated(), STUDY, items=5, with_reader=False, cache=False)
    assert (made.items, made.stories) == (5, 20)
    assert any("fewer than 20" in words for words in made.cautions)


def test_a_certificate_survives_its_file_and_is_found_by_its_judge(home: Path) -> None:
    made = make_certificate("judge:x/1", rated(), STUDY, with_reader=False, cache=False)
    path = save_certificate(made)
    assert path.parent == home / "certificates"
    assert read_certificate(path) == made
    assert json.loads(path.read_text())["verdicts"] == made.verdicts
    assert made in list_certificates()
    found = find_certificates(["judge:x/1", "judge:y/1", "rouge"])
    assert found == {"judge:x/1": [made], "judge:y/1": []}
    assert verdict_words(found["judge:x/1"], "plot") == f"{made.verdicts['plot']} (toy)"
    assert verdict_words(found["judge:x/1"], "style") == "no certificate"
    assert verdict_words(found["judge:y/1"], "plot") == "no certificate"


def test_a_judge_that_has_changed_since_has_no_certificate() -> None:
    made = make_certificate("judge:x/1", rated(), STUDY, with_reader=False, cache=False)
    save_certificate(replace(made, judge="judge", signature="judge|prompt:an older one"))
    assert find_certificates(["judge"]) == {"judge": []}


def test_who_gave_scores_is_known_by_their_signature_else_by_the_words_it_asks_with() -> None:
    judge = METRICS.build("judge(model='fake()')")
    made = make_certificate("judge:x/1", rated(), STUDY, with_reader=False, cache=False)
    made = replace(made, judge=judge.spec, signature=judge.identity)
    save_certificate(made)
    spec = judge.spec
    quoted = {spec: judge.signature()}  # with the version of Fabula behind it
    for signatures in (None, quoted, {spec: judge.identity}):
        assert find_certificates([spec], signatures) == {spec: [made]}
    other = {spec: judge.identity.replace("seed=0", "seed=01")}
    assert find_certificates([spec], other) == {spec: []}
    save_certificate(replace(made, signature=judge.identity.replace("prompt:", "prompt:older")))
    assert find_certificates([spec]) == {spec: [made]}


def test_no_model_is_opened_to_find_the_certificate_of_a_committee(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    committee = METRICS.build(
        "judge_committee(model='fake(), judge_checklist(model=\\'fake()\\')')"
    )
    made = make_certificate("judge:x/1", rated(), STUDY, with_reader=False, cache=False)
    made = replace(made, judge=committee.spec, signature=committee.identity)
    save_certificate(made)
    monkeypatch.setattr("fabula.judges.judge_metric.open_respondent", None)
    assert find_certificates([committee.spec]) == {committee.spec: [made]}


def test_a_run_of_another_prompt_or_model_is_not_certified_as_todays_judge(tmp_path: Path) -> None:
    dataset = rated()
    judge = METRICS.build("judge(model='fake()', criterion='coherence')")
    evaluate(list(dataset.stories), judge).save(tmp_path / "run")
    write_record(tmp_path / "run", make_record([judge], 48))
    assert judge.spec in join_run(dataset, judge.spec, tmp_path / "run").scores.scorers
    record = tmp_path / "run" / "run.json"
    record.write_text(record.read_text().replace("prompt:", "prompt:older"))
    with pytest.raises(InputError, match="prompt or model have changed since"):
        join_run(dataset, judge.spec, tmp_path / "run")


def test_what_is_no_certificate_is_refused_and_named(tmp_path: Path) -> None:
    odd = tmp_path / "odd.json"
    odd.write_text("[1]")
    with pytest.raises(InputError, match="is no certificate"):
        read_certificate(odd)
    odd.write_text('{"judge": "j", "version": 99}')
    with pytest.raises(InputError, match="version 99"):
        read_certificate(odd)
    odd.write_text('{"judge": "j", "version": 1, "signature": 3}')
    with pytest.raises(InputError, match=r"odd\.json"):
        read_certificate(odd)


def test_the_scores_of_a_run_are_taken_by_the_stories_ids(tmp_path: Path) -> None:
    dataset = rated()
    evaluate(list(dataset.stories[:40]), ["words", "distinct"]).save(tmp_path / "run")
    joined = join_run(dataset, "distinct", tmp_path / "run")
    made = make_certificate("distinct", joined, STUDY, with_reader=False, cache=False)
    assert (made.stories, made.answered) == (48, 40)
    with pytest.raises(InputError, match="no scores of bleu"):
        join_run(dataset, "bleu", tmp_path / "run")


@pytest.mark.parametrize(
    ("scorer", "judges"),
    [("judge:x/1", True), ("judge(model='embedded()')", True), ("rouge(n=2)", False),
     ("judgement", False)],
)  # fmt: skip
def test_judges_are_known_by_their_names(scorer: str, judges: bool) -> None:
    assert is_judge(scorer) is judges


def test_stories_without_texts_cannot_be_asked_about() -> None:
    dataset = rated()
    blank = replace(dataset, stories=tuple(replace(one, text="") for one in dataset.stories))
    with pytest.raises(UserError, match="no texts that distinct could read"):
        make_certificate("distinct", blank, STUDY, with_reader=False, cache=False)


def test_certificates_that_come_with_fabula_are_of_judges_as_they_are_asked_today() -> None:
    shipped = list_certificates()  # this home has none
    assert "judge(value='expected')" in {one.judge for one in shipped}
    for certificate in shipped:
        assert certificate in find_certificates([certificate.judge])[certificate.judge]
        assert (certificate.stories, certificate.answered) == (200, 200)
        assert certificate.verdicts.keys() == {*METRICS.build(certificate.judge).aspects}
