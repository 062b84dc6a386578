"""torchvision's detectors, such as the Faster R-CNN of the paper on visual stories."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import SettingError, UnknownName, UserError, closest
from fabula.core.installation import spell_python
from fabula.core.model import Picture, Region
from fabula.core.protocols import watch
from fabula.models._runtime import limit_threads, package, refuse_broken
from fabula.models.networks.checkpoint import Checkpoint, CheckpointError
from fabula.models.reading.pictures import detect_each
from fabula.models.reading.state_cache import LruCache
from fabula.models.store.asset import file_sha256
from fabula.models.store.fetch import is_offline

# Labels that stand for no thing: that of the background, and gaps in COCO's numbers.
NO_LABELS = frozenset({"__background__", "N/A"})
CACHED_PICTURES = 2048
_FIT = "install the build of torchvision that fits your torch"


@dataclass(frozen=True)
class TorchvisionDetector:
    """A detector of torchvision, with the weights it published or those of a file."""

    name: str
    signature: str
    weights: Any = field(repr=False)
    file: Path | None = None
    device: str = "auto"
    cache: LruCache[list[Region]] = field(
        default_factory=lambda: LruCache(CACHED_PICTURES), repr=False, compare=False
    )

    @property
    def labels(self) -> tuple[str, ...]:
        """What it knows: COCO's classes."""
        return tuple(label for label in self.weights.meta["categories"] if label not in NO_LABELS)

    def detect(self, pictures: Sequence[Picture], *, most: int = 10) -> list[list[Region]]:
        """Give the regions of every picture that it is surest of; each picture is seen once."""
        return detect_each(pictures, self.cache, lambda new: [*map(self._find, new)], most)

    def _find(self, picture: Picture) -> list[Region]:
        torch = package("torch")
        net, device = self._net
        pixels = torch.tensor(np.ascontiguousarray(picture.pixels), device=device)
        with torch.inference_mode():
            [found] = net([pixels.permute(2, 0, 1).float() / 255])
        rows, columns = picture.pixels.shape[:2]
        scale = np.array([picture.width / columns, picture.height / rows] * 2)
        corners = (found["boxes"].cpu().numpy() * scale).tolist()
        names = [self.weights.meta["categories"][at] for at in found["labels"].tolist()]
        told = zip(corners, names, found["scores"].tolist(), strict=True)
        return [
            Region((left, top, right - left, bottom - top), label, confidence)
            for (left, top, right, bottom), label, confidence in told
            if label not in NO_LABELS
        ]

    @cached_property
    def _net(self) -> tuple[Any, Any]:
        models = _import_torchvision()
        limit_threads()
        with watch.get().during(f"loading {self.name}"):
            state = _read_file(self.file) if self.file else _read_published(self.weights)
            # Weights of the backbone would be fetched as well, and then be replaced.
            net = models.get_model(self.name, weights=None, weights_backbone=None)
            what = f"the weights of {self.name}"
            with refuse_broken(what, "take those of that very model", error=CheckpointError):
                net.load_state_dict(state)
        # As a checkpoint of transformers finds its device.
        device = Checkpoint(Path(), self.name, device=self.device).torch_device
        return net.to(device).eval(), device


def load(
    name: str = "fasterrcnn_resnet50_fpn", *, weights: str | None = None, device: str = "auto"
) -> TorchvisionDetector:
    """Take a detector of torchvision by its name.

    `weights` is a file of yours (.pth or .safetensors); without one, the weights that torchvision
    published are taken from its cache or fetched.
    """
    models = _import_torchvision()
    known = models.list_models(models.detection)
    if name not in known:
        raise UnknownName(f"torchvision has no detector {name!r}", closest(name, known))
    published = models.get_model_weights(name).DEFAULT
    if weights is None:
        identity = published.url.rpartition("/")[2].rpartition(".")[0]
        return TorchvisionDetector(
            name, f"torchvision,{identity},fp32,detector", published, device=device
        )
    file = Path(weights).expanduser()
    if not file.is_file():
        raise SettingError(f"torchvision: there is no file {weights}", "give weights, or none")
    pinned = f"{file.name}@sha256:{file_sha256(file)[:16]}"
    signature = f"torchvision,{name},{pinned},fp32,detector"
    return TorchvisionDetector(name, signature, published, file, device)


def _import_torchvision() -> Any:
    """Give `torchvision.models`; a build for another torch fails in the midst of its import."""
    package("torch")
    try:
        return importlib.import_module("torchvision.models")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "torchvision":
            raise
        remedy = f"run: {spell_python()} -m pip install torchvision ({_FIT})"
        raise UserError("torchvision is not installed", remedy) from None
    except (RuntimeError, ImportError, OSError, AttributeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UserError(f"torchvision does not run here ({reason})", _FIT) from error


def _read_published(weights: Any) -> Any:
    """Weights that torchvision published: out of torch's cache, or fetched where one may."""
    torch = package("torch")
    here = Path(torch.hub.get_dir()) / "checkpoints" / weights.url.rpartition("/")[2]
    by_hand = f"get {weights.url} elsewhere and name the file: weights='…'"
    if not here.is_file() and is_offline():
        raise CheckpointError(f"{here.name} is not here, and FABULA_OFFLINE is set", by_hand)
    if not here.is_file():
        print(f"{here.name}: getting it from where torchvision keeps it", file=sys.stderr)
    try:
        # torch would say the same again, in some versions on stdout, where results go.
        with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
            return weights.get_state_dict(progress=False, check_hash=True)
    except (OSError, RuntimeError) as error:
        raise CheckpointError(f"{here.name} could not be had ({error})", by_hand) from error


def _read_file(file: Path) -> Any:
    with refuse_broken(str(file), "get it again", error=CheckpointError):
        if file.suffix == ".safetensors":
            return package("safetensors.torch").load_file(file)
        # Nothing but tensors is read of a pickle, so that it cannot run code.
        return package("torch").load(file, map_location="cpu", weights_only=True)
