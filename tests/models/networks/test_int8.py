"""Matrices in 8 bits: by hand, against numpy, in company, and where they are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.models import _runtime
from fabula.models._runtime import runs_precision
from fabula.models.networks.bert import load_bert

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from fabula.models.networks.bert import Linear, quantise  # noqa: E402
from fakes.tiny_bert import write_tiny_bert  # noqa: E402

TEXTS = [[2, 5, 3], [2, 6, 3], [2, *range(5, 20), 3], [2, 9, 10, 11, 3], [2, *[7] * 30]]


@pytest.fixture(autouse=True)
def int8() -> None:
    if not runs_precision("int8"):
        pytest.skip("this processor or torch does not multiply in int8")


def test_a_product_in_8_bits_is_that_of_whole_numbers_and_steps() -> None:
    # Columns: 2.54 / 127 = .02 a step, so 1.27 is 63.5, to even 64; and -1 is -127 steps of 1/127.
    weight = torch.tensor([[2.54, 0.0], [1.27, -1.0]])
    # Rows: 254 / 127 = 2 a step, so 3 is 1.5 steps, to even 2; and 1 is 127 steps of 1/127.
    rows = torch.tensor([[254.0, 3.0], [0.0, 1.0]])
    found = quantise(Linear(weight, torch.tensor([10.0, -1.0])))(rows)
    wanted = [
        [10 + (127 * 127 + 2 * 64) * 2 * 0.02, -1 + (2 * -127) * 2 / 127],
        [10 + 127 * 64 / 127 * 0.02, -1 + -127 * 127 / 127 / 127],
    ]
    torch.testing.assert_close(found, torch.tensor(wanted), rtol=1e-6, atol=0)


def test_products_are_those_of_numpy_in_double_precision() -> None:
    chance = np.random.default_rng(0)
    rows, weight = chance.normal(size=(37, 96)), chance.normal(size=(96, 50))
    rows[3], weight[:, 7], bias = 0.0, 0.0, chance.normal(size=50)
    steps = [np.abs(rows).max(1, keepdims=True) / 127, np.abs(weight).max(0) / 127]
    whole = [np.rint(m / np.where(s > 0, s, 1)) for m, s in zip((rows, weight), steps, strict=True)]
    wanted = whole[0] @ whole[1] * steps[0] * steps[1] + bias
    given = [torch.tensor(one, dtype=torch.float32) for one in (rows, weight, bias)]
    linear = Linear(given[1], given[2])
    found = quantise(linear)(given[0]).double().numpy()
    # Where a number lies between two steps, single precision may choose the other.
    assert np.abs(found - wanted).max() < 0.02
    assert np.median(np.abs(found - wanted)) < 1e-5
    np.testing.assert_array_equal(found[3], given[2].double().numpy())
    assert np.abs(found - (rows @ weight + bias)).max() < 0.5
    onto = quantise(linear).onto(torch.ones(37, 50), given[0])
    torch.testing.assert_close(onto, 1 + quantise(linear)(given[0]))


def test_an_encoder_in_8_bits_is_near(tmp_path: Path) -> None:
    write_tiny_bert(tmp_path, initializer_range=0.1)
    exact, coarse = (load_bert(tmp_path, dtype=kind)(TEXTS, [3])[0] for kind in ("fp32", "int8"))
    assert coarse.dtype == torch.float32
    assert not torch.equal(exact, coarse)
    assert torch.nn.functional.cosine_similarity(exact, coarse).min() > 0.999


def test_in_8_bits_a_text_gives_the_same_in_any_company(tmp_path: Path) -> None:
    write_tiny_bert(tmp_path, initializer_range=0.1)
    bert = load_bert(tmp_path, dtype="int8")
    together = bert(TEXTS, [3])[0].split([len(ids) for ids in TEXTS])
    for ids, rows in zip(TEXTS, together, strict=True):
        torch.testing.assert_close(rows, bert([ids], [3])[0], rtol=0, atol=1e-5)


def test_8_bits_are_refused_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tiny_bert(tmp_path)
    monkeypatch.setenv("FABULA_DEVICE", "cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(SettingError, match="int8' is for processors, and FABULA_DEVICE is cuda"):
        load_bert(tmp_path, dtype="int8")


def test_8_bits_are_refused_where_they_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny_bert(tmp_path)
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(
        _runtime, "_PROBE", "import os, signal; os.kill(os.getpid(), signal.SIGILL)"
    )
    runs_precision.cache_clear()
    with pytest.raises(SettingError, match="dtype='int8' does not run"):
        load_bert(tmp_path, dtype="int8")
    runs_precision.cache_clear()
