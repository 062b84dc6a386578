"""Models of pictures that transformers reads: encoders, classifiers and detectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.model import Picture, Region
from fabula.models._runtime import package, refuse_broken, silence
from fabula.models.networks.checkpoint import Checkpoint, CheckpointError
from fabula.models.networks.vision import CACHED_CROPS, digest_crop
from fabula.models.reading.pictures import detect_each, to_pillow
from fabula.models.reading.state_cache import LruCache
from fabula.models.reading.windows import run_batches

if TYPE_CHECKING:
    from fabula.core.model import Array

PREPROCESSOR = "preprocessor_config.json"
BATCH = 16
# A first token that stands for the whole picture.
FIRST_TOKENS = ("cls_token", "class_embedding")
# COCO's numbers leave gaps, which detectors of transformers call so.
NO_LABEL = "N/A"
_REMEDY = "get it again, or name a folder that save_pretrained wrote"


@dataclass(frozen=True)
class VisionEncoder:
    """Vectors of crops: CLIP's joint space, a trained pooler, else the first token or the mean.

    A pooler that the checkpoint does not hold would be random, and is not used.
    """

    checkpoint: Checkpoint
    cache: LruCache[Array] = field(
        default_factory=lambda: LruCache(CACHED_CROPS), repr=False, compare=False
    )

    @property
    def signature(self) -> str:
        """What the values depend on."""
        return f"{self.checkpoint.identity},images"

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        shape = self.checkpoint.shape
        if getattr(shape, "vision_config", None) is not None:
            return int(shape.projection_dim)
        return int(getattr(shape, "hidden_size", None) or shape.hidden_sizes[-1])

    def encode(self, crops: Sequence[Array]) -> Array:
        """Give one vector a crop; one that was seen before is not looked at again."""
        keys = [digest_crop(crop) for crop in crops]
        rows = self.cache.get(keys, lambda new: self._encode([crops[at] for at in new]))
        return np.array(rows, np.float32).reshape(len(crops), self.width)

    def _encode(self, crops: Sequence[Array]) -> list[Array]:
        torch = package("torch")

        def run(batch: list[int]) -> list[Array]:
            given = self.reader.prepare([crops[at] for at in batch])["pixel_values"]
            with torch.inference_mode():
                return list(self.pool(given).float().cpu().numpy())

        return run_batches(run, [1] * len(crops), budget=BATCH)

    def pool(self, given: Any) -> Any:
        """Give the vectors of prepared crops, with gradients where they are wanted: (B, W)."""
        net = self.net
        if hasattr(net, "get_image_features"):
            found = net.get_image_features(pixel_values=given)
            # Older versions give the vectors themselves.
            return getattr(found, "pooler_output", found)
        found = net.base_model(pixel_values=given)
        pooled = getattr(found, "pooler_output", None)
        if pooled is not None and self._holds_pooler:
            return pooled.flatten(1)
        states = found.last_hidden_state
        if states.ndim == 4:
            return states.mean(dim=(2, 3))
        return states[:, 0] if self._has_first_token else states.mean(dim=1)

    @cached_property
    def net(self) -> Any:
        """The network; its weights load when they are needed."""
        return self.checkpoint.model("AutoModel", unused="pooler")

    @cached_property
    def reader(self) -> PictureFeed:
        """What brings crops into the form that the network takes."""
        return PictureFeed(self.checkpoint)

    @cached_property
    def _has_first_token(self) -> bool:
        return any(name.endswith(FIRST_TOKENS) for name, _ in self.net.named_parameters())

    @cached_property
    def _holds_pooler(self) -> bool:
        """Whether pooling is as it was trained: it has no weights, or the checkpoint holds them."""
        pooler = getattr(self.net.base_model, "pooler", None)
        if pooler is None or not any(True for _ in pooler.parameters()):
            return True
        opened = package("safetensors").safe_open
        for file in self.checkpoint.folder.glob("*.safetensors"):
            with opened(str(file), framework="np") as weights:
                if any("pooler." in name for name in weights.keys()):  # noqa: SIM118
                    return True
        return False


@dataclass(frozen=True)
class JointModel(VisionEncoder):
    """CLIP and those like it: words have vectors in the space of the pictures."""

    @property
    def signature(self) -> str:
        """What the values depend on."""
        return f"{self.checkpoint.identity},joint"

    def encode_texts(self, texts: Sequence[str]) -> Array:
        """Give one vector a text; of one longer than the model reads, that of its beginning."""
        torch, tokenizer = package("torch"), self.checkpoint.tokenizer
        room = int(self.checkpoint.shape.text_config.max_position_embeddings)

        def run(batch: list[int]) -> list[Array]:
            given = tokenizer(
                [texts[at] for at in batch],
                padding="max_length",
                truncation=True,
                max_length=room,
                return_tensors="pt",
            )
            wanted = {name: given[name] for name in ("input_ids", "attention_mask")}
            on_device = {name: ids.to(self.checkpoint.torch_device) for name, ids in wanted.items()}
            with torch.inference_mode():
                found = self.net.get_text_features(**on_device)
                return list(getattr(found, "pooler_output", found).float().cpu().numpy())

        rows = run_batches(run, [1] * len(texts), budget=BATCH)
        return np.array(rows, np.float32).reshape(len(texts), self.width)


@dataclass(frozen=True)
class VisionClassifier(VisionEncoder):
    """An encoder that has kept the classes it was trained on."""

    @property
    def signature(self) -> str:
        """What the values depend on."""
        return f"{self.checkpoint.identity},classes"

    @property
    def classes(self) -> tuple[str, ...]:
        """What it knows, in the order of its numbers."""
        return tuple(_read_labels(self.checkpoint))

    def classify(self, crops: Sequence[Array]) -> Array:
        """Give the probability of every class."""
        torch = package("torch")

        def run(batch: list[int]) -> list[Array]:
            given = self.reader.prepare([crops[at] for at in batch])["pixel_values"]
            with torch.inference_mode():
                logits = self.net(pixel_values=given).logits.double()
                return list(logits.softmax(dim=-1).cpu().numpy())

        rows = run_batches(run, [1] * len(crops), budget=BATCH)
        return np.array(rows).reshape(len(crops), len(self.classes))

    @cached_property
    def net(self) -> Any:
        """The network with its head."""
        return self.checkpoint.model("AutoModelForImageClassification")


@dataclass(frozen=True)
class VisionDetector:
    """A detector of transformers: DETR, YOLOS and those like them."""

    checkpoint: Checkpoint
    cache: LruCache[list[Region]] = field(
        default_factory=lambda: LruCache(CACHED_CROPS), repr=False, compare=False
    )

    @property
    def signature(self) -> str:
        """What the values depend on."""
        return f"{self.checkpoint.identity},detector"

    @property
    def labels(self) -> tuple[str, ...]:
        """What it knows."""
        return tuple(label for label in _read_labels(self.checkpoint) if label != NO_LABEL)

    def detect(self, pictures: Sequence[Picture], *, most: int = 10) -> list[list[Region]]:
        """Give the regions of every picture that it is surest of; each picture is seen once."""
        return detect_each(pictures, self.cache, lambda new: [*map(self._find, new)], most)

    def _find(self, picture: Picture) -> list[Region]:
        torch = package("torch")
        given = self._reader.prepare([picture.pixels])
        with torch.inference_mode():
            said = self._net(**given)
        [found] = self._reader.processor.post_process_object_detection(
            said, threshold=0.0, target_sizes=[(picture.height, picture.width)]
        )
        names = _read_labels(self.checkpoint)
        rows = zip(
            *(found[part].float().tolist() for part in ("scores", "labels", "boxes")), strict=True
        )
        return [
            Region((left, top, right - left, bottom - top), names[int(label)], confidence)
            for confidence, label, (left, top, right, bottom) in rows
            if names[int(label)] != NO_LABEL
        ]

    @cached_property
    def _net(self) -> Any:
        return self.checkpoint.model("AutoModelForObjectDetection")

    @cached_property
    def _reader(self) -> PictureFeed:
        reader = PictureFeed(self.checkpoint)
        if not hasattr(reader.processor, "post_process_object_detection"):
            raise CheckpointError(
                f"{self.checkpoint.name}: its processor finds no boxes in what the model says",
                "take a detector such as facebook/detr-resnet-50",
            )
        return reader


@dataclass(frozen=True)
class PictureFeed:
    """Brings pictures into the form that a checkpoint asks for: size, mean and spread."""

    checkpoint: Checkpoint

    def prepare(self, crops: Sequence[Array]) -> dict[str, Any]:
        """Give what the network takes, on its device and in its precision."""
        torch, kinds = package("torch"), {"bf16": "bfloat16", "fp16": "float16"}
        made = self.processor(images=[to_pillow(crop) for crop in crops], return_tensors="pt")
        dtype = getattr(torch, kinds.get(self.checkpoint.dtype, "float32"))
        wanted = {name: made[name] for name in ("pixel_values", "pixel_mask") if name in made}
        device = self.checkpoint.torch_device
        return {
            name: value.to(device, dtype) if value.is_floating_point() else value.to(device)
            for name, value in wanted.items()
        }

    @cached_property
    def processor(self) -> Any:
        """What transformers makes of the checkpoint's settings, computed with Pillow.

        One of torchvision's would be taken where that is installed, and give other pixels.
        """
        transformers = package("transformers")
        name = self.checkpoint.name
        if not (self.checkpoint.folder / PREPROCESSOR).is_file():
            raise CheckpointError(
                f"{name} has no {PREPROCESSOR}, which says how it reads pictures", "put it there"
            )
        is_new = int(transformers.__version__.split(".")[0]) >= 5
        way: dict[str, Any] = {"backend": "pil"} if is_new else {"use_fast": False}
        what = f"{PREPROCESSOR} of {name}"
        with refuse_broken(what, _REMEDY, error=CheckpointError), silence(transformers):
            return transformers.AutoImageProcessor.from_pretrained(
                str(self.checkpoint.folder), local_files_only=True, trust_remote_code=False, **way
            )


def _read_labels(checkpoint: Checkpoint) -> list[str]:
    """Labels by number; a number without one is called so."""
    told = {int(number): str(label) for number, label in checkpoint.shape.id2label.items()}
    return [told.get(number, NO_LABEL) for number in range(max(told, default=-1) + 1)]
