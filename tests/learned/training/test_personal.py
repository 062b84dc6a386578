"""A reader made personal by few ratings."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.learned.reader import inference
from fabula.learned.reader.config import Pin, read_config, write_config
from fabula.learned.reader.inference import Reader, load_reader
from fabula.learned.storyer import Storyer
from fabula.learned.training.folder import write_arrays
from fabula.learned.training.own_opinions import OwnOpinions, read_own_opinions
from fabula.learned.training.personal import _Fit, fit_personal, personalise
from fabula.text.features import feature_row
from fakes.tiny_tasks import tale

TEXTS = tuple(tale(number, sentences=number % 4 + 1) for number in range(60))


@pytest.fixture
def reader() -> Reader:
    return load_reader("fake")


def items(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(count))


def rated(values, texts=TEXTS) -> OwnOpinions:
    count = len(values)
    members = tuple((place,) for place in range(count))
    return OwnOpinions(texts[:count], members, items(count), tuple(map(float, values)))


def by_head(reader: Reader, head: str, output: int = 0) -> np.ndarray:
    return np.array([one[head][output] for one in reader.outputs(TEXTS)])


def test_a_taste_that_a_head_knows_is_learned(reader):
    wanted = by_head(reader, "criteria", 2)
    found = fit_personal(reader, rated(np.clip(np.round(3 + wanted), 1, 5)))
    assert (found.opinions, found.items, found.figure) == (60, 60, "spearman")
    assert found.after.value > 0.7 > 0.4 > abs(found.before.value)
    assert found.gain.low > 0
    assert found.gain.value == pytest.approx(found.after.value - found.before.value)
    assert found.after.low < found.after.value < found.after.high


def test_ratings_by_chance_leave_the_readers_own_preference(reader):
    own = reader.raw("preference", TEXTS)
    rng = np.random.default_rng(1)
    values = own + rng.normal(0, 0.5, len(own)) * own.std()
    found = fit_personal(reader, rated(values))
    raws = [
        found.scale.raw(out, feature_row(text))
        for text, out in zip(TEXTS, reader.outputs(TEXTS), strict=True)
    ]
    assert np.corrcoef(raws, own)[0, 1] > 0.97
    assert found.after.value > 0.75


def test_a_value_is_the_chance_to_be_liked_better_than_the_middle_story(reader):
    said = np.clip(np.round(3 + by_head(reader, "criteria", 2)), 1, 5)
    scale = fit_personal(reader, rated(said)).scale
    raws = [
        scale.raw(out, feature_row(text), "plain")
        for text, out in zip(reader.lay_out(TEXTS), reader.outputs(TEXTS), strict=True)
    ]
    values = np.array([scale.value(raw) for raw in raws])
    assert np.median(values) == pytest.approx(0.5)
    assert ((values > 0) & (values < 1)).all()
    liked, others = values[said > np.median(said)], values[said < np.median(said)]
    assert liked.mean() > 0.5 > others.mean()


def test_the_scale_gives_what_the_regression_found(reader):
    said = rated(by_head(reader, "criteria", 2))
    from fabula.learned.training.personal import _Inputs

    inputs = _Inputs(reader, TEXTS)
    weights = _Fit(inputs.columns, said).weights(np.arange(60))
    raw = inputs.raw(inputs.scale(weights))
    wanted = inputs.columns @ weights
    np.testing.assert_allclose(raw - raw.mean(), wanted - wanted.mean(), atol=1e-9)


def test_the_regression_is_a_ridge(reader):
    linear = pytest.importorskip("sklearn.linear_model")
    from fabula.learned.training.personal import _Inputs

    inputs, said = _Inputs(reader, TEXTS), by_head(reader, "union")
    found = _Fit(inputs.columns, rated(said)).weights(np.arange(60))
    # A ridge of 100, and of 1 on the reader's own preference: as if that were ten times as large.
    scale = np.ones(inputs.columns.shape[1])
    scale[0] = 10
    y = (said - said.mean()) / said.std()
    fit = linear.Ridge(alpha=100).fit(inputs.columns * scale, y)
    np.testing.assert_allclose(found, fit.coef_ * scale, atol=1e-6)


def test_pairs_are_learned_from_too(reader):
    wanted = by_head(reader, "criteria", 2)
    sides = [sorted((2 * i, 2 * i + 1), key=lambda n: -wanted[n]) for i in range(30)]
    opinions = OwnOpinions(TEXTS, tuple(map(tuple, sides)), items(30))
    found = fit_personal(reader, opinions)
    assert found.figure == "accuracy"
    assert found.after.value > 0.7
    assert found.scale.link == "logistic"


def test_few_or_equal_ratings_are_refused(reader):
    with pytest.raises(InputError, match="opinions on 4 items are too few"):
        fit_personal(reader, rated([1, 2, 3, 4]))
    with pytest.raises(InputError, match="all ratings are the same"):
        fit_personal(reader, rated([3] * 20))
    with pytest.raises(InputError, match=r"story 3 .* no token"):
        fit_personal(reader, rated(range(20), (*TEXTS[:2], " ", *TEXTS[3:])))


def test_an_item_is_never_on_both_sides(reader):
    values, groups = by_head(reader, "union"), tuple(str(i // 6) for i in range(60))
    opinions = OwnOpinions(TEXTS, tuple((i,) for i in range(60)), groups, tuple(values))
    fit = _Fit(np.zeros((60, 2)), opinions)
    for part, kept in fit._split_folds(np.arange(60), 0):
        assert not {groups[i] for i in part} & {groups[i] for i in kept}
        assert len(part) + len(kept) == 60


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A reader's folder that the fake reader is read from."""
    from fabula.learned.reader.fake import FakeNetwork, fake_config

    source = tmp_path / "source"
    source.mkdir()
    write_config(source, fake_config())
    (source / "model.safetensors").write_bytes(b"weights")

    def opened(folder: Path, dtype: str) -> Reader:
        about = read_config(folder)
        return Reader(about, f"fake@{len(str(folder))}", FakeNetwork(about.heads))

    monkeypatch.setattr(inference, "_open_folder", opened, raising=False)
    yield source


def test_what_is_left_is_a_reader_and_the_first_is_not_touched(folder, tmp_path):
    before = (folder / "reader.json").read_bytes()
    opinions = rated(by_head(load_reader("fake"), "criteria", 2))
    found = personalise(opinions, out=tmp_path / "mine", reader=str(folder))
    assert (tmp_path / "mine" / "model.safetensors").read_bytes() == b"weights"
    about = read_config(tmp_path / "mine")
    assert about.kind == "personal"
    assert about.scales["preference"] == found.scale
    assert about.scales["coherence"] == read_config(folder).scales["coherence"]
    assert about.training["personal"]["after"]["value"] == found.after.value
    assert (folder / "reader.json").read_bytes() == before
    assert (tmp_path / "mine" / "training.json").exists()


def test_percentiles_are_among_the_human_stories_beside_the_reader(folder, tmp_path):
    fake, human = load_reader("fake"), [tale(number, sentences=3) for number in range(200, 240)]
    outputs = fake.outputs(human)
    arrays = {f"people/{head}": np.array([one[head] for one in outputs]) for head in outputs[0]}
    arrays["people/features"] = np.array([feature_row(text) for text in human])
    write_arrays(folder / "cross_fitted.npz", {**arrays, "preference/preference": np.zeros(3)})
    opinions = rated(by_head(fake, "criteria", 2))
    found = personalise(opinions, out=tmp_path / "mine", reader=str(folder))
    raws = [
        found.scale.raw(out, feature_row(text), "plain")
        for text, out in zip(human, outputs, strict=True)
    ]
    assert found.among == "human stories"
    assert found.scale.percentiles[50] == pytest.approx(np.median(raws))
    assert found.scale.percentiles[100] == pytest.approx(max(raws))
    [below] = {found.scale.percentile(min(raws) - 1)}
    assert below == 0
    # A personal reader may be a beginning as well: what it needs for percentiles goes along.
    again = personalise(opinions, out=tmp_path / "again", reader=str(tmp_path / "mine"))
    assert again.among == "human stories"


def test_without_human_stories_percentiles_are_among_those_rated_and_scores_say_so(
    folder, tmp_path
):
    opinions = rated(by_head(load_reader("fake"), "criteria", 2))
    found = personalise(opinions, out=tmp_path / "mine", reader=str(folder))
    assert found.among == "the 60 stories of these opinions"
    scores = Storyer(str(tmp_path / "mine")).score([Story(str(i), TEXTS[i]) for i in range(60)])
    places = sorted(score.value for score in scores if score.aspect == "percentile")
    np.testing.assert_allclose(places, np.linspace(0, 100, 60), atol=1)
    [note] = {score.note for score in scores}
    assert note == "percentiles are among the 60 stories of these opinions"


def test_an_encoder_of_the_readers_own_goes_along(folder, tmp_path):
    about = read_config(folder)
    write_config(folder, replace(about, encoder=Pin("albert", "0" * 64, own=True)))
    (folder / "encoder").mkdir()
    (folder / "encoder" / "config.json").write_text("{}")
    opinions = rated(by_head(load_reader("fake"), "criteria", 2))
    personalise(opinions, out=tmp_path / "mine", reader=str(folder))
    assert (tmp_path / "mine" / "encoder" / "config.json").read_text() == "{}"
    assert read_config(tmp_path / "mine").encoder.own


def test_a_reader_is_not_written_over(folder, tmp_path):
    opinions = rated(range(20))
    with pytest.raises(InputError, match="holds a reader; name another folder"):
        personalise(opinions, out=folder, reader=str(folder))


def table(tmp_path: Path, rows: list[dict[str, object]]) -> Path:
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        write = csv.DictWriter(file, list(rows[0]))
        write.writeheader()
        write.writerows(rows)
    return tmp_path / "mine.csv"


@pytest.mark.parametrize(("story", "rating"), [("story", "rating"), ("text", "Score")])
def test_a_table_of_stories_and_ratings_is_read(tmp_path, story, rating):
    rows = [{story: TEXTS[i], rating: i % 5 + 1} for i in range(6)]
    found = read_own_opinions(table(tmp_path, rows))
    assert found.texts == TEXTS[:6]
    assert found.values == (1, 2, 3, 4, 5, 1)
    assert len(set(found.items)) == 6


def test_stories_on_one_prompt_and_the_same_text_belong_together(tmp_path):
    rows = [
        {"text": TEXTS[0], "prompt": "A hat.", "rating": 1},
        {"text": TEXTS[1], "prompt": "A hat.", "rating": 2},
        {"text": TEXTS[2], "prompt": "A cat.", "rating": 3},
        {"text": TEXTS[0], "prompt": "A dog.", "rating": 4},
    ]
    found = read_own_opinions(table(tmp_path, rows))
    assert found.items == ("1", "1", "2", "1")


def test_several_aspects_need_a_choice(tmp_path):
    rows = [{"text": TEXTS[i], "human:me:fun": i, "human:me:depth": -i} for i in range(3)]
    with pytest.raises(InputError, match="several aspects; name one with --aspect"):
        read_own_opinions(table(tmp_path, rows))
    with pytest.raises(InputError, match=r"no rating is of 'funn'.*did you mean 'fun'"):
        read_own_opinions(table(tmp_path, rows), aspect="funn")
    assert read_own_opinions(table(tmp_path, rows), aspect="depth").values == (0, -1, -2)
    assert read_own_opinions(table(tmp_path, rows), gold=["fun"]).values == (0, 1, 2)


def test_a_table_without_ratings_says_what_to_do(tmp_path):
    rows = [{"text": TEXTS[i], "thing": i} for i in range(3)]
    with pytest.raises(InputError, match="no ratings by people; name their columns with --gold"):
        read_own_opinions(table(tmp_path, rows))


def test_pairs_of_better_and_worse_are_read(tmp_path):
    rows = [
        {"Better": TEXTS[0], "Worse": TEXTS[1]},
        {"Better": TEXTS[2], "Worse": TEXTS[0]},
        {"Better": TEXTS[4], "Worse": TEXTS[5]},
    ]
    found = read_own_opinions(table(tmp_path, rows))
    assert found.is_pairs
    assert found.members == ((0, 1), (2, 0), (3, 4))
    # The first two share a text.
    assert found.items == ("1", "1", "2")
    with pytest.raises(InputError, match="better and worse are the same; drop the row"):
        read_own_opinions(table(tmp_path, [{"better": "a b", "worse": "a b"}]))
    with pytest.raises(InputError, match="a side of the pair is empty"):
        read_own_opinions(table(tmp_path, [{"better": "a b", "worse": ""}]))
