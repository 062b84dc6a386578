"""torchvision's detectors through a stand-in of that package, and what is said where it is not."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.model import Detector, Picture, Region
from fabula.models import load_model, need
from fabula.models.networks.checkpoint import CheckpointError
from fabula.models.torchvision import load
from fakes.drawings import draw_clock

torch = pytest.importorskip("torch")
URL = "https://example.org/models/rcnn_coco-0a1b2c3d.pth"


class TwoBoxes(torch.nn.Module):  # type: ignore[name-defined, misc]
    """Finds two boxes in any picture, one of them of a class that is none."""

    def __init__(self) -> None:
        super().__init__()
        self.sure = torch.nn.Parameter(torch.tensor([0.25]))

    def forward(self, pictures: list[Any]) -> list[dict[str, Any]]:
        [picture] = pictures
        assert picture.shape[0] == 3
        assert 0 <= picture.min() <= picture.max() <= 1
        boxes = torch.tensor([[0.0, 0, 50, 50], [100, 60, 300, 240], [0, 0, 9, 9]])
        scores = torch.stack([torch.tensor(0.2), self.sure[0], torch.tensor(0.9)])
        return [{"boxes": boxes, "labels": torch.tensor([1, 3, 2]), "scores": scores}]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A torchvision that holds one detector, whose weights are not published anywhere."""

    def fetch(**settings: Any) -> Any:
        raise OSError("no network")

    meta = {"categories": ["__background__", "person", "N/A", "clock"]}
    default = SimpleNamespace(url=URL, meta=meta, get_state_dict=fetch)
    models: Any = ModuleType("torchvision.models")
    models.detection = object()
    models.list_models = lambda kind: ["rcnn"]
    models.get_model_weights = lambda name: SimpleNamespace(DEFAULT=default)
    models.get_model = lambda name, **settings: TwoBoxes()
    package = ModuleType("torchvision")
    monkeypatch.setitem(sys.modules, "torchvision", package)
    monkeypatch.setitem(sys.modules, "torchvision.models", models)
    return models


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    torch.save({"sure": torch.tensor([0.75])}, tmp_path / "mine.pth")
    return tmp_path / "mine.pth"


def test_boxes_labels_and_confidences_are_those_of_the_network(
    stand_in: Any, weights: Path
) -> None:
    model = need(load_model(f"torchvision('rcnn', weights={str(weights)!r})"), Detector)
    drawn = draw_clock()
    large = Picture("large", 4000, 3000, "large", drawn.pixels)
    [found], [larger] = model.detect([drawn]), model.detect([large], most=1)
    assert [(region.label, round(region.confidence, 3)) for region in found] == [
        ("clock", 0.75),
        ("person", 0.2),
    ]
    assert found[0].box == (100, 60, 200, 180)
    assert larger == [Region((1000, 600, 2000, 1800), "clock", 0.75)]
    assert model.labels == ("person", "clock")


def test_the_signature_goes_by_the_weights(stand_in: Any, weights: Path, tmp_path: Path) -> None:
    published, mine = load("rcnn"), load("rcnn", weights=str(weights))
    assert published.signature == "torchvision,rcnn_coco-0a1b2c3d,fp32,detector"
    assert mine.signature.startswith("torchvision,rcnn,mine.pth@sha256:")
    assert str(tmp_path) not in mine.signature


def test_safetensors_are_read_and_other_weights_refused(stand_in: Any, tmp_path: Path) -> None:
    from safetensors.torch import save_file

    save_file({"sure": torch.tensor([0.5])}, tmp_path / "sound.safetensors")
    save_file({"other": torch.tensor([0.5])}, tmp_path / "other.safetensors")
    (tmp_path / "cut.pth").write_bytes(b"PK\x03\x04 cut off")
    model = load("rcnn", weights=str(tmp_path / "sound.safetensors"))
    assert model.detect([draw_clock()])[0][0].confidence == 0.5
    for name, told in (
        ("other.safetensors", "weights of rcnn cannot"),
        ("cut.pth", "cut.pth cann"),
    ):
        with pytest.raises(CheckpointError, match=told) as caught:
            load("rcnn", weights=str(tmp_path / name)).detect([draw_clock()])
        assert "\n" not in str(caught.value)


def test_a_pickle_that_would_run_code_is_refused(stand_in: Any, tmp_path: Path) -> None:
    torch.save({"sure": np.float64, "evil": sys.exit}, tmp_path / "evil.pth")
    with pytest.raises(CheckpointError, match=r"evil\.pth cannot be loaded"):
        load("rcnn", weights=str(tmp_path / "evil.pth")).detect([draw_clock()])


def test_weights_that_cannot_be_had_say_where_they_are(
    stand_in: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setenv("FABULA_OFFLINE", "1")
    with pytest.raises(CheckpointError, match=r"FABULA_OFFLINE is set; get https://example\.org"):
        load("rcnn").detect([draw_clock()])
    monkeypatch.delenv("FABULA_OFFLINE")
    with pytest.raises(CheckpointError, match=r"could not be had \(no network\)"):
        load("rcnn").detect([draw_clock()])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("getting it") == 1


def test_other_names_and_files_are_refused(stand_in: Any) -> None:
    with pytest.raises(UnknownName, match="did you mean 'rcnn'"):
        load("rcn")
    with pytest.raises(SettingError, match=r"there is no file gone\.pth"):
        load("rcnn", weights="gone.pth")


def test_without_torchvision_one_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    monkeypatch.delitem(sys.modules, "torchvision.models", raising=False)
    with pytest.raises(UserError, match=r"torchvision is not installed; run: .* install torchv"):
        load_model("torchvision()")


def test_a_torchvision_for_another_torch_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('operator nms does not exist')")
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(UserError, match=r"does not run here \(operator nms does not exist\)"):
        load()
