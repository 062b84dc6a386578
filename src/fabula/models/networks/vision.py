"""The embedded models of pictures: SSD-MobileNet finds things, MobileNetV2 gives crops as vectors.

Both are small, were trained on photographs, and know little of drawings: what they say of one is
not to be trusted.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError, PackageMissing
from fabula.core.model import Picture, Region
from fabula.models._runtime import map_threads, package, refuse_broken, thread_limit
from fabula.models.reading.pictures import detect_each, resize
from fabula.models.reading.state_cache import LruCache

if TYPE_CHECKING:
    from fabula.core.model import Array

# Names in the detector's list that COCO never drew a box for: it cannot find them.
UNUSED_LABELS = frozenset(
    {
        "street sign", "hat", "shoe", "eye glasses", "plate", "mirror", "window", "desk", "door",
        "blender", "hair brush",
    }
)  # fmt: skip
SSD_SIDE = 320
# The mean and the spread of ImageNet's colours, of 1.
IMAGENET_MEAN = np.array([0.485, 0.456, 0.406], np.float32)
IMAGENET_SPREAD = np.array([0.229, 0.224, 0.225], np.float32)
POOLED = "mobilenetv20_features_pool0_fwd"
LOGITS = "mobilenetv20_output_flatten0_reshape0"
POOLED_WIDTH = 1280
BATCH = 4
# Crops whose vectors are remembered: those of some hundred stories.
CACHED_CROPS = 8192
_REMEDY = "get it again"


@dataclass(frozen=True)
class SsdDetector:
    """SSD-MobileNet-v3, trained on COCO, run by OpenCV."""

    folder: Path
    signature: str
    cache: LruCache[list[Region]] = field(
        default_factory=lambda: LruCache(CACHED_CROPS), repr=False, compare=False
    )
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The 80 kinds of things that COCO has boxes for."""
        return tuple(label for label in self._names if label not in UNUSED_LABELS)

    def detect(self, pictures: Sequence[Picture], *, most: int = 10) -> list[list[Region]]:
        """Give the regions of every picture that it is surest of; each picture is seen once."""
        return detect_each(pictures, self.cache, partial(map_threads, self._find), most)

    def _find(self, picture: Picture) -> list[Region]:
        opencv = _opencv()
        size, middle = (SSD_SIDE, SSD_SIDE), (127.5, 127.5, 127.5)
        blob = opencv.dnn.blobFromImage(picture.pixels, 1 / 127.5, size, middle, swapRB=False)
        # A net of OpenCV holds its input, so that two threads would read each other's.
        net = self._nets.get()
        try:
            net.setInput(blob)
            rows = net.forward().reshape(-1, 7).astype(float)
        finally:
            self._nets.put(net)
        # A row: picture, class, confidence, and left, top, right, bottom as shares.
        scale = np.array([picture.width, picture.height, picture.width, picture.height])
        regions = []
        for _, label, confidence, *corners in rows.tolist():
            left, top, right, bottom = (np.array(corners) * scale).tolist()
            box = (left, top, right - left, bottom - top)
            regions.append(Region(box, self._names[int(label) - 1], confidence))
        return regions

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(read_lines(self.folder / "labels.txt"))

    @property
    def _nets(self) -> SimpleQueue[Any]:
        """The nets that nobody uses just now, of as many as there may be threads."""
        with self.lock:
            return self._all_nets

    @cached_property
    def _all_nets(self) -> SimpleQueue[Any]:
        opencv = _opencv()
        # Each picture has a thread of its own.
        opencv.setNumThreads(1)
        weights, graph = self.folder / "model.pb", self.folder / "model.pbtxt"
        nets: SimpleQueue[Any] = SimpleQueue()
        with refuse_broken(str(weights), _REMEDY):
            for _ in range(thread_limit()):
                nets.put(opencv.dnn.readNetFromTensorflow(str(weights), str(graph)))
        return nets


@dataclass(frozen=True)
class MobileNet:
    """MobileNetV2, trained on ImageNet, run by onnxruntime: vectors and classes in one pass.

    Crops are brought to `size` pixels either way, whatever their shape. A vector is what the last
    layer of 1,280 numbers holds before classes are made of it.
    """

    file: Path
    signature: str
    size: int
    class_names: Callable[[], tuple[str, ...]] = field(repr=False, compare=False)
    cache: LruCache[tuple[Array, Array]] = field(
        default_factory=lambda: LruCache(CACHED_CROPS), repr=False, compare=False
    )

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return POOLED_WIDTH

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The 1,000 classes of ImageNet, each with its synonyms: `cup`, `tench, Tinca tinca`."""
        return self.class_names()

    def encode(self, crops: Sequence[Array]) -> Array:
        """Give one vector a crop; one that was seen before is not looked at again."""
        rows = [vector for vector, _ in self._look(crops)]
        return np.array(rows, np.float32).reshape(len(crops), self.width)

    def classify(self, crops: Sequence[Array]) -> Array:
        """Give the probability of every class."""
        logits = np.array([row for _, row in self._look(crops)], np.float64)
        if not len(crops):
            return np.zeros((0, len(self.classes)))
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: Array = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def _look(self, crops: Sequence[Array]) -> list[tuple[Array, Array]]:
        keys = [digest_crop(crop) for crop in crops]
        return self.cache.get(keys, lambda new: self._run([crops[at] for at in new]))

    def _run(self, crops: Sequence[Array]) -> list[tuple[Array, Array]]:
        _ = self._session  # one for all threads
        batches = [crops[start : start + BATCH] for start in range(0, len(crops), BATCH)]
        return [row for rows in map_threads(self._run_batch, batches) for row in rows]

    def _run_batch(self, crops: Sequence[Array]) -> list[tuple[Array, Array]]:
        batch = np.stack([self._prepare(crop) for crop in crops])
        pooled, logits = self._session.run([POOLED, LOGITS], {"data": batch})
        return list(zip(pooled.reshape(len(batch), POOLED_WIDTH), logits, strict=True))

    def _prepare(self, crop: Array) -> Array:
        pixels = resize(crop, (self.size, self.size)).astype(np.float32) / np.float32(255)
        prepared: Array = ((pixels - IMAGENET_MEAN) / IMAGENET_SPREAD).transpose(2, 0, 1)
        return prepared

    @cached_property
    def _session(self) -> Any:
        runtime = package("onnxruntime")
        options = runtime.SessionOptions()
        # Batches have a thread each: two for one would cost twice the time of the processor.
        options.intra_op_num_threads = 1
        # It would warn that a batch is not the one picture that the file speaks of.
        options.log_severity_level = 4
        with refuse_broken(str(self.file), _REMEDY):
            graph = free_sizes(self.file.read_bytes()) + declare_output(POOLED)
            return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def declare_output(name: str) -> bytes:
    """Give what makes a tensor within an ONNX graph an output, put behind the file's bytes.

    ONNX is written in protocol buffers, where a message that comes twice is one: a second `graph`
    (field 7) that holds but an `output` (field 12) with a `name` (field 1) adds that output to the
    first. No package is needed for it, and the file stays as it is pinned.
    """
    said = name.encode("ascii")
    for number in (1, 12, 7):
        said = bytes([number << 3 | 2, len(said)]) + said
    return said


def free_sizes(graph: bytes) -> bytes:
    """Let an ONNX graph of one picture of 224 × 224 pixels take several, of any size.

    Its input says four sizes: 1, 3, 224, 224. A size is a number (field 1) or has a name (field 2);
    names of no letters and of one take the bytes of the numbers, so that nothing else moves.
    """
    fixed = b"\x0a\x02\x08\x01\x0a\x02\x08\x03\x0a\x03\x08\xe0\x01\x0a\x03\x08\xe0\x01"
    named = b"\x0a\x02\x12\x00\x0a\x02\x08\x03\x0a\x03\x12\x01h\x0a\x03\x12\x01w"
    if graph.count(fixed) != 1:
        raise ValueError("its input is not one picture of 224 × 224 pixels")
    return graph.replace(fixed, named)


def digest_crop(crop: Array) -> bytes:
    """Give a key for pixels: the same for the same crop, wherever it was cut from."""
    digest = hashlib.blake2b(repr(crop.shape).encode(), digest_size=16)
    digest.update(np.ascontiguousarray(crop).tobytes())
    return digest.digest()


def read_imagenet_classes(folder: Path) -> tuple[str, ...]:
    """Words for ImageNet's 1,000 classes, in the order of the networks trained on it."""
    words = dict(line.split("\t", 1) for line in read_lines(folder / "lemmas.txt"))
    return tuple(words[synset] for synset in read_lines(folder / "synsets.txt"))


def read_lines(path: Path) -> list[str]:
    """Lines of a small file that are not empty."""
    try:
        return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({error})", _REMEDY) from None


def _opencv() -> Any:
    try:
        return package("cv2")
    except PackageMissing:
        raise PackageMissing("opencv-python-headless", "vision") from None
