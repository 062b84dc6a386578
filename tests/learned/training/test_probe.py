"""Probes: heads fitted to states that stay as they are, and readers made of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.reader import encoders
from fabula.learned.reader.config import read_config
from fabula.learned.reader.inference import open_reader
from fabula.learned.training import probe_bench, probe_training, reader_scales
from fabula.learned.training.choices import Choices
from fabula.learned.training.probe import (
    Layout,
    ProbeHead,
    ProbeRecipe,
    Ratings,
    draw_again,
    fit_choices,
    fit_ratings,
    fit_taught,
)
from fabula.learned.training.probe_bench import read_texts
from fabula.learned.training.probe_training import train_probes
from fabula.models.networks.hf_pooled import SURPRISALS, open_pooled
from fabula.text.features import FEATURE_NAMES, feature_row
from fakes.tiny_models import save_llama

pytest.importorskip("torch")
pytest.importorskip("transformers")

WORDS = "the old cat sat by a lamp and told nobody what rain had done to her garden".split()


def make_texts(count: int) -> list[str]:
    rng = np.random.default_rng(0)
    return [
        " ".join(rng.choice(WORDS, size=int(rng.integers(8, 20)))).capitalize() + "."
        for _ in range(count)
    ]


TEXTS = make_texts(40)


def make_choices(corpus: str, data: str, question: str = "liked") -> Choices:
    """Of two texts the one with more words is liked."""
    order = sorted(range(len(TEXTS)), key=lambda number: -len(TEXTS[number].split()))
    half = len(order) // 2
    pairs = np.array(list(zip(order[:half], order[half:], strict=True)))
    count = len(pairs)
    groups = [""] * len(TEXTS)
    for unit, pair in enumerate(pairs.tolist()):
        for text in pair:
            groups[text] = f"{data}:{unit}"
    return Choices(
        corpus, question, tuple(TEXTS), pairs, np.arange(count), np.ones(count), tuple(groups),
        data,
    )  # fmt: skip


def make_layout(width: int = 6) -> tuple[Layout, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    vectors = rng.normal(2.0, 3.0, size=(len(TEXTS), width + SURPRISALS))
    features = np.array([feature_row(text) for text in TEXTS])
    return Layout.of(vectors, features), vectors, features


def test_a_fit_says_the_same_of_plain_vectors_and_of_columns():
    layout, vectors, features = make_layout()
    head = ProbeHead(choices=("one",), surprisal=1.0)
    columns = layout.columns(head, vectors, features)
    weights = np.random.default_rng(2).normal(size=columns.shape[1])
    plain, bias, surface = layout.part(head, weights)
    from fabula.learned.reader.config import standardise_features

    means, deviations = layout.feature_means, layout.feature_deviations
    scaled = standardise_features(features, means, deviations, 3.0)
    np.testing.assert_allclose(columns @ weights, vectors @ plain + bias + scaled @ surface)
    # How lines are broken is no column of theirs.
    assert surface[FEATURE_NAMES.index("log_paragraphs")] == 0


def test_different_words_count_beside_what_was_learned():
    layout, vectors, features = make_layout()
    one = make_choices("one", "a")
    head = ProbeHead(choices=("one",), penalty=0.1)
    columns = {"one": layout.columns(head, vectors, features)}
    plain = fit_choices(head, [one], columns)
    added = fit_choices(replace(head, unique=0.5), [one], columns) - plain
    place = columns["one"].shape[1] - len(FEATURE_NAMES) + FEATURE_NAMES.index("log_unique_words")
    assert np.flatnonzero(added).tolist() == [place]
    spread = float((columns["one"] @ plain).std())
    assert added[place] == pytest.approx(0.5 * spread / head.surface)
    less = fit_choices(replace(head, repetition=0.2), [one], columns) - plain
    place += FEATURE_NAMES.index("repeated_trigrams") - FEATURE_NAMES.index("log_unique_words")
    assert np.flatnonzero(less).tolist() == [place]
    assert less[place] == pytest.approx(-0.2 * spread / head.surface)


def test_ratings_are_fitted_by_least_squares_with_a_ridge():
    layout, vectors, features = make_layout()
    head = ProbeHead(ratings="hanna", aspect="x", penalty=0.2)
    columns = layout.columns(head, vectors, features)
    said = np.random.default_rng(3).normal(3.0, 1.0, len(TEXTS))
    ratings = Ratings("hanna x", tuple(TEXTS), said, ("",) * len(TEXTS), ("",) * len(TEXTS))
    weights = fit_ratings(head, ratings, columns, np.arange(len(TEXTS)))
    x, y = columns - columns.mean(0), (said - said.mean()) / said.std()
    slope = x.T @ (x @ weights - y) / len(y) + head.penalty * weights
    np.testing.assert_allclose(slope, 0, atol=1e-9)
    gaps = np.random.default_rng(4).normal(size=(9, columns.shape[1]))
    taught = fit_ratings(head, ratings, columns, np.arange(len(TEXTS)), gaps)
    missed = np.square(1 - gaps @ np.stack([weights, taught]).T).mean(0)
    assert missed[1] < missed[0]


def test_a_teachers_values_are_fitted_by_least_squares_corpora_counting_alike():
    layout, vectors, features = make_layout()
    head = ProbeHead(choices=("one", "two"), penalty=0.2, teacher="large")
    corpora = [make_choices("one", "a"), make_choices("two", "b")]
    rng = np.random.default_rng(5)
    columns = {one.corpus: layout.columns(head, vectors, features) for one in corpora}
    taught = {one.corpus: rng.normal(2.0, 3.0, len(TEXTS)) for one in corpora}
    # Of the second corpus only three choices are left, and so their six texts.
    left = (np.arange(20) < 3).astype(float)
    corpora[1] = replace(corpora[1], weights=left)
    weights = fit_taught(head, corpora, columns, taught)
    some = corpora[1].pairs[:3].ravel()
    x = np.concatenate([columns["one"], columns["two"][some]])
    y = np.concatenate([taught["one"], taught["two"][some]])
    share = np.concatenate([np.full(40, 1 / 80), np.full(6, 1 / 12)])
    x, y = x - share @ x, y - share @ y
    y = y / np.sqrt(share @ y**2)
    np.testing.assert_allclose(
        x.T @ (share * (x @ weights - y)) + head.penalty * weights, 0, atol=1e-9
    )


def test_items_drawn_again_count_as_often_as_they_came():
    [first, second] = draw_again([make_choices("one", "a")], 2)
    assert first[0].weights.sum() == second[0].weights.sum() == 20
    assert first[0].weights.tolist() != second[0].weights.tolist()


@pytest.mark.parametrize(
    "head", [ProbeHead(), ProbeHead(choices=("a",), ratings="b"), ProbeHead(("a",), penalty=0)]
)
def test_a_probe_without_something_to_learn_from_is_refused(head):
    with pytest.raises(SettingError, match="probe own needs"):
        ProbeRecipe("large", {"own": head})


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProbeRecipe:
    """A recipe on a tiny Llama, whose corpora are made up."""
    folder = save_llama(tmp_path / "llama")
    corpora = {"one": make_choices("one", "a"), "two": make_choices("two", "b")}
    monkeypatch.setattr(
        probe_bench, "gather_choices", lambda data, names: [corpora[name] for name in names]
    )
    made = make_choices("spoiled", "c", "spoiled")
    monkeypatch.setattr(probe_bench, "gather_made", lambda data, names: [made for _ in names])
    stories = [SimpleNamespace(text=text) for text in TEXTS]
    dataset = SimpleNamespace(stories=stories)
    monkeypatch.setattr(probe_bench, "read_dataset", lambda name, data: dataset)
    monkeypatch.setattr(encoders, "path_of", lambda name: folder)
    pinned = SimpleNamespace(tree_sha256="of the folder")
    monkeypatch.setattr(probe_training, "get_asset", lambda name: pinned)
    monkeypatch.setattr(reader_scales, "get_asset", lambda name: pinned)
    head = ProbeHead(
        choices=("one", "two"), made=("spoiled",), surprisal=1.0, unique=0.3, link="logistic",
        people="one",
    )  # fmt: skip
    return ProbeRecipe("large", {"preference": head}, layer=1, window=60, folds=3, draws=2)


def test_a_reader_of_probes_says_what_the_fit_said(bench, tmp_path):
    lines: list[str] = []
    record = train_probes(bench, out=tmp_path / "out", report=lines.append)
    figures = record["scales"]["preference"]
    assert [row["corpus"] for row in figures["left_out"]] == ["one", "two"]
    assert any(line.startswith("preference: corpora left out") for line in lines)
    config = read_config(tmp_path / "out")
    assert (config.layer, config.surprisal, config.window) == (1, True, 60)
    how = {"is_bert": False, "is_asset": True, "layer": 1, "surprisal": True}
    reader = open_reader(tmp_path / "out", open_pooled(tmp_path / "llama", "llama", **how))
    raw = reader.raw("preference", TEXTS)
    # It has seen all of these: more words are liked, and values are standardised over them.
    assert np.corrcoef(raw, [len(text.split()) for text in TEXTS])[0, 1] > 0.8
    assert raw.mean() == pytest.approx(0, abs=0.05)
    assert raw.std() == pytest.approx(1, abs=0.1)
    scale = reader.scale("preference")
    assert scale.error is not None
    assert scale.error > 0
    assert scale.percentile(float(raw.max())) > scale.percentile(float(raw.min()))


def test_a_head_learns_what_its_teacher_said_of_unseen_items(bench, tmp_path):
    train_probes(bench, out=tmp_path / "teacher", report=lambda line: None)
    head = replace(
        bench.probes["preference"], made=(), unique=0.0, teacher=str(tmp_path / "teacher"),
        penalty=1e-3,
    )  # fmt: skip
    recipe = replace(bench, probes={"preference": head})
    record = train_probes(recipe, out=tmp_path / "pupil", report=lambda line: None)
    assert record["recipe"]["probes"]["preference"]["teacher"] == str(tmp_path / "teacher")
    said, learned = (
        dict(np.load(tmp_path / name / "cross_fitted.npz"))["preference/one"]
        for name in ("teacher", "pupil")
    )
    assert np.corrcoef(said, learned)[0, 1] > 0.8
    # Another training of the teacher would have made another pupil.
    errors = [
        read_config(tmp_path / name).scales["preference"].error for name in ("teacher", "pupil")
    ]
    assert errors[1] >= errors[0] > 0


def test_a_teacher_who_does_not_know_the_texts_is_refused(bench, tmp_path):
    train_probes(bench, out=tmp_path / "teacher", report=lambda line: None)
    teacher = str(tmp_path / "teacher")
    head = replace(bench.probes["preference"], made=(), teacher=teacher)
    with pytest.raises(SettingError, match="nothing but its choices"):
        replace(bench, probes={"preference": replace(head, made=("spoiled",))})
    unknown = replace(bench, probes={"liking": head})
    with pytest.raises(InputError, match="did not say liking of the texts of one"):
        train_probes(unknown, out=tmp_path / "pupil", report=lambda line: None)
    (tmp_path / "teacher" / "cross_fitted.npz").unlink()
    with pytest.raises(InputError, match=r"has no cross_fitted\.npz"):
        train_probes(
            replace(bench, probes={"preference": head}), out=tmp_path / "other",
            report=lambda line: None,
        )  # fmt: skip


def test_what_was_read_is_not_read_again(bench, tmp_path, monkeypatch):
    file = tmp_path / "states.npz"
    first = read_texts(bench, TEXTS[:5], file, lambda line: None)
    monkeypatch.setattr(probe_bench, "_read", lambda *given: pytest.fail("read again"))
    np.testing.assert_array_equal(read_texts(bench, TEXTS[:5], file, lambda line: None), first)


class Beside:
    """A reader that says of a text how many words it has."""

    def outputs(self, texts):
        return [{"count": np.array([float(len(text.split()))])} for text in texts]


def test_a_reader_beside_counts_as_much_as_the_recipe_says(bench, tmp_path, monkeypatch):
    from fabula.learned.reader import inference

    head = replace(bench.probes["preference"], beside=0.5, unique=0.0, penalty=0.3)
    recipe = replace(
        bench, probes={"preference": head}, beside="judge", beside_heads=("count",)
    )  # fmt: skip
    monkeypatch.setattr(probe_bench, "load_reader", lambda name: Beside())
    train_probes(recipe, out=tmp_path / "out", report=lambda line: None)
    config = read_config(tmp_path / "out")
    assert config.beside is not None
    assert config.beside.name == "judge"
    own, borrowed = config.scales["preference"].terms
    assert (own.head, borrowed.head) == ("preference", "judge.count")
    counts = [len(text.split()) for text in TEXTS]
    assert borrowed.mean == pytest.approx(np.mean(counts))
    assert borrowed.deviation == pytest.approx(np.std(counts))
    how = {"is_bert": False, "is_asset": True, "layer": 1, "surprisal": True}
    reader = open_reader(tmp_path / "out", open_pooled(tmp_path / "llama", "llama", **how))
    asked: list[str] = []
    pinned = SimpleNamespace(tree_sha256="of the folder")
    monkeypatch.setattr(inference, "get_asset", lambda name: pinned)
    monkeypatch.setattr(inference, "load_reader", lambda name, **_: asked.append(name) or Beside())
    raw = reader.raw("preference", TEXTS)
    assert raw.mean() == pytest.approx(0, abs=0.05)
    assert raw.std() == pytest.approx(1, abs=0.1)
    told = borrowed.weight * (np.array(counts) - borrowed.mean) / borrowed.deviation
    assert told.std() / (raw - told).std() == pytest.approx(0.5, abs=0.01)
    assert asked == ["judge"]
    assert reader.open_beside(["preference"]) is not None
    pinned.tree_sha256 = "of another"
    with pytest.raises(InputError, match="beside another judge"):
        reader.open_beside(["preference"])


def test_a_reader_beside_is_named_with_its_heads(bench):
    with pytest.raises(SettingError, match="go together"):
        replace(bench, beside="judge")
    head = replace(bench.probes["preference"], beside=1.0)
    with pytest.raises(SettingError, match="asks a reader beside"):
        replace(bench, probes={"preference": head})
