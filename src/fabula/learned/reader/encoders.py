"""Encoders of transformers that a reader's heads sit on: an asset, another reader's, its own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import InputError, SettingError
from fabula.learned.reader.config import ENCODER, REMEDY, Pin, ReaderConfig, read_config
from fabula.learned.reader.network import FILE as WEIGHTS
from fabula.learned.reader.network import (
    PooledEncoder,
    check_encoder,
    holds_reader,
    is_plain_bert,
    load_packed,
)
from fabula.models import path_of

if TYPE_CHECKING:
    from fabula.models.networks.hf_pooled import PooledHub


def open_encoder_of(folder: Path, config: ReaderConfig) -> PooledEncoder:
    """Open an encoder of transformers that the reader in a folder was trained on."""
    pin = config.encoder
    if pin.own:
        return _open_own(folder, pin)
    return open_hub_asset(pin.name, layer=config.layer, surprisal=config.surprisal)


def open_hub_asset(name: str, *, layer: int = 0, surprisal: bool = False) -> PooledHub:
    """Open an encoder of transformers that is an asset, or the layers of a reader that is one.

    Of a reader its heads are left out: what is given is the encoder that it learned.
    """
    from fabula.models.networks.hf_pooled import PooledHub, open_pooled

    folder, base = path_of(name), name
    if holds_reader(folder):
        base = _find_base(folder, name)
    how: Any = {"is_bert": False, "is_asset": True, "layer": layer, "surprisal": surprisal}
    encoder = open_pooled(path_of(base), base, **how)
    assert isinstance(encoder, PooledHub)
    if base != name:
        encoder.with_layers(load_packed(folder / WEIGHTS, encoder.layer_tensors()))
    count = encoder.encoder.checkpoint.shape.num_hidden_layers
    if layer > count:
        raise SettingError(f"{name} has no layer {layer}", f"it has {count}: take one of these")
    return encoder.drop_needless_layers()


def _find_base(folder: Path, name: str) -> str:
    """Name the asset whose layers the reader in a folder has changed."""
    pin = read_config(folder).encoder
    if pin.own or is_plain_bert(path_of(pin.name)):
        problem = f"the reader {name!r} is not on an encoder of transformers that is an asset"
        raise SettingError(problem, "take one that is, such as 'plausible', or an encoder")
    check_encoder(folder, pin)
    return pin.name


def _open_own(folder: Path, pin: Pin) -> PooledEncoder:
    """Open the encoder that lies in a reader's folder; one that is gone or changed is refused."""
    from fabula.models.networks.checkpoint import Checkpoint
    from fabula.models.networks.hf_pooled import open_pooled

    place = folder / ENCODER
    if not place.is_dir():
        problem = f"{folder} was trained on an encoder of its own ({pin.name}), and {place} is gone"
        raise InputError(problem, "copy the whole folder of the training, or train it again")
    checkpoint = Checkpoint(place, pin.name)
    if checkpoint.digest != pin.tree_sha256:
        problem = f"{place} is not as the training left it ({checkpoint.digest[:12]}, "
        raise InputError(f"{problem}it was {pin.tree_sha256[:12]})", REMEDY)
    return open_pooled(place, pin.name, is_bert=is_plain_bert(place))
