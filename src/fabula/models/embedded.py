"""Models whose files are assets of the store: nothing else is needed, and no hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from fabula.core.errors import SettingError, UnknownName, closest
from fabula.core.model import MeanGuess, Model
from fabula.core.settings import AtLeast, check_settings
from fabula.models._runtime import limit_threads
from fabula.models.networks.adapter import CONFIG as ADAPTER_CONFIG
from fabula.models.networks.adapter import read_adapter
from fabula.models.networks.bert import load_bert
from fabula.models.networks.causal import CausalModel
from fabula.models.networks.checkpoint import Checkpoint
from fabula.models.networks.encoder import SURROGATE, Encoder, check_layer, load_tokenizer
from fabula.models.networks.masked import FillsGaps, GapNet, MaskedLanguageModel
from fabula.models.networks.seq2seq import OnnxT5
from fabula.models.networks.vision import MobileNet, SsdDetector, read_imagenet_classes
from fabula.models.store.asset import get_asset
from fabula.models.store.folder import path_of
from fabula.models.word_vectors import VectorTable, open_folder

Dtype = Literal["fp32", "bf16", "int8"]
Window = Annotated[int, AtLeast(16)] | None
Count = Annotated[int, AtLeast(0)] | None
Side = Annotated[int, AtLeast(32)] | None

# The story encoder was trained on windows of so many tokens.
_USUAL_WINDOWS = {"story_encoder": 256}
# Opened without torch.
_WITHOUT_TORCH = {"glove_50d", "ssd_mobilenet", "mobilenet_v2"}
# Pixels either way: of 224, as it was trained, twice the time and little more is seen in crops.
_USUAL_SIDE = 160
# Tokens this far apart are masked in one go.
_APART = 8


@dataclass(frozen=True)
class _Settings:
    dtype: Dtype
    window: Window
    overlap: Count
    layer: Count
    size: Side = None


@dataclass(frozen=True)
class _Opening:
    """An asset that is here, and how it is to be read."""

    name: str
    folder: Path
    settings: _Settings

    @property
    def digest(self) -> str:
        """The beginning of the pinned digest."""
        return get_asset(self.name).tree_sha256[:12]

    @property
    def identity(self) -> str:
        """What the signature of an encoder begins with."""
        return f"embedded,{self.name}@{self.digest},{self.settings.dtype}"

    @property
    def checkpoint(self) -> Checkpoint:
        """The asset as transformers reads it; of a difference, the model that it belongs to."""
        folder, pinned, adapter = self.folder, self.digest, None
        if (self.folder / ADAPTER_CONFIG).is_file():
            adapter = read_adapter(self.folder)
            folder = path_of(adapter.model)
            pinned += f"+{adapter.model}@{get_asset(adapter.model).tree_sha256[:12]}"
        dtype = self.settings.dtype
        if dtype == "int8":
            problem = f"embedded: {self.name} is not read in int8"
            raise SettingError(problem, "take dtype='bf16', or an encoder such as minilm")
        return Checkpoint(folder, self.name, pinned, dtype, backend="embedded", adapter=adapter)

    def overlap(self, room: int, usual: int) -> int:
        """Tokens that neighbouring windows share, of `room` in each."""
        overlap = usual if self.settings.overlap is None else self.settings.overlap
        if overlap >= room:
            raise SettingError(
                f"embedded: overlap={overlap} does not fit windows of {room} tokens of a text",
                f"take at most {room - 1}",
            )
        return overlap


@dataclass(frozen=True)
class MaskedEncoder(FillsGaps, Encoder):
    """An encoder that has kept the head it was trained with, which fills gaps."""

    masked: MaskedLanguageModel | None = None

    @property
    def gaps(self) -> GapNet:
        """The net with its head; its weights load when a gap is to be filled."""
        assert self.masked is not None
        return self.masked.gaps

    @property
    def room(self) -> int:
        """Tokens that are read at once; to ask what a model offers must not load its head."""
        return self.window - len(self.edges.ids)

    def mean_guesses(
        self, texts: Sequence[str], weights: Sequence[Sequence[float]], *, temperature: float = 1.0
    ) -> Iterator[MeanGuess]:
        """Mask every token in turn; give the mean of the guesses by the tokens' weights."""
        # As this encoder's own tokens are counted, which the weights go with.
        sound = [SURROGATE.sub("\ufffd", text) for text in texts]
        return super().mean_guesses(sound, weights, temperature=temperature)


def load(
    name: str,
    *,
    dtype: Dtype = "fp32",
    window: Window = None,
    overlap: Count = None,
    layer: Count = None,
    size: Side = None,
) -> Model:
    """Open the model that an asset holds.

    With `dtype='int8'` an encoder multiplies in 8 bits, on a processor, and fills no gaps.
    `window` is how many tokens it reads at once (as many as it was trained for), `overlap` how many
    of them neighbouring windows share (a quarter), `layer` whose mean an encoder's vectors are (the
    last), `size` to how many pixels either way crops of pictures are brought (160).
    """
    settings = _Settings(dtype, window, overlap, layer, size)
    check_settings(settings, "embedded")
    if name not in _OPENERS:
        raise UnknownName(f"no embedded model is called {name!r}", closest(name, _OPENERS))
    if size is not None and name != "mobilenet_v2":
        raise SettingError(f"embedded: {name} brings no crops to a size", "leave size out")
    opening = _Opening(name, path_of(name), settings)
    if name not in _WITHOUT_TORCH:
        limit_threads()
    return _OPENERS[name](opening)


def _open_encoder(opening: _Opening) -> Encoder:
    return Encoder(**_encoder_fields(opening))


def _open_masked(opening: _Opening) -> Encoder:
    if opening.settings.dtype == "int8":
        return _open_encoder(opening)  # what fills gaps is read by transformers
    fields = _encoder_fields(opening)
    stride = fields["window"] - 2 - fields["overlap"]
    masked = MaskedLanguageModel(opening.checkpoint, fields["window"], stride, apart=_APART)
    fields["signature"] += f",apart={_APART}"
    return MaskedEncoder(**fields, masked=masked)


def _open_causal(opening: _Opening) -> CausalModel:
    if opening.settings.layer is not None:
        raise SettingError(f"embedded: {opening.name} gives no vectors", "leave layer out")
    window = opening.checkpoint.window(opening.settings.window, usual=2048)
    return CausalModel(opening.checkpoint, window, window - opening.overlap(window, window // 2))


def _open_onnx(opening: _Opening) -> OnnxT5:
    settings = opening.settings
    if settings.layer is not None:
        raise SettingError(f"embedded: {opening.name} gives no vectors", "leave layer out")
    if settings.dtype != "fp32":
        raise SettingError(f"embedded: {opening.name} comes in 8 bits", "leave dtype out")
    # Places are relative in a T5, so that any window would do; as huggingface(…) does.
    window = settings.window or 512
    stride = window - opening.overlap(window - 1, window // 4)
    identity = f"embedded,{opening.name}@{opening.digest},int8"
    return OnnxT5(opening.folder, identity, window, stride)


def _open_detector(opening: _Opening) -> SsdDetector:
    _refuse_text_settings(opening)
    return SsdDetector(opening.folder, f"embedded,{opening.name}@{opening.digest},detector")


def _open_images(opening: _Opening) -> MobileNet:
    _refuse_text_settings(opening)
    size = opening.settings.size or _USUAL_SIDE
    return MobileNet(
        opening.folder / "model.onnx",
        f"embedded,{opening.name}@{opening.digest},images,size={size}",
        size,
        lambda: read_imagenet_classes(path_of("imagenet_labels")),
    )


def _refuse_text_settings(opening: _Opening) -> None:
    if replace(opening.settings, size=None) != _Settings("fp32", None, None, None):
        raise SettingError(f"embedded: {opening.name} reads no texts", "leave their settings out")


def _open_words(opening: _Opening) -> VectorTable:
    if opening.settings != _Settings("fp32", None, None, None):
        raise SettingError(f"embedded: {opening.name} has no settings", "give its name alone")
    return open_folder(opening.folder, f"embedded,{opening.name}@{opening.digest},words")


def _encoder_fields(opening: _Opening) -> dict[str, Any]:
    settings = opening.settings
    bert = load_bert(opening.folder, dtype=settings.dtype)
    tokenizer, edges = load_tokenizer(opening.folder, len(bert.words))
    window = settings.window or _USUAL_WINDOWS.get(opening.name, bert.longest)
    if window > bert.longest:
        raise SettingError(
            f"embedded: {opening.name} reads at most {bert.longest} tokens, not {window}",
            f"take a window of at most {bert.longest}; longer texts are read by several",
        )
    # As huggingface(…) does, so that one model gives one set of numbers.
    overlap = opening.overlap(window - 2, window // 4 - 2)
    layer = len(bert.stack) if settings.layer is None else settings.layer
    check_layer(layer, len(bert.stack) + 1)
    signature = f"{opening.identity},encoder,window={window},overlap={overlap}"
    return {
        "bert": bert,
        "tokenizer": tokenizer,
        "edges": edges,
        "signature": f"{signature},layer={layer}",
        "window": window,
        "overlap": overlap,
        "layer": layer,
    }


_OPENERS: dict[str, Callable[[_Opening], Model]] = {
    "minilm": _open_encoder,
    "story_encoder": _open_masked,
    "smollm2": _open_causal,
    "smollm2_stories": _open_causal,
    "t5_titles": _open_onnx,
    "glove_50d": _open_words,
    "ssd_mobilenet": _open_detector,
    "mobilenet_v2": _open_images,
}
