"""What is made of an asset's files when it is pulled, so that nothing slow is left for later."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partialmethod
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fabula.core.errors import PackageMissing
from fabula.core.files import write_json
from fabula.core.plain import read_json
from fabula.core.protocols import watch
from fabula.models._runtime import silence
from fabula.models.store.asset import Asset, AssetError, WheelPlace
from fabula.models.store.content import check_converted, settle_texts

Report = Callable[[str], None]
GGUF = ".gguf"
CONTROL = 3
SPECIAL = {"bos": "bos", "eos": "eos", "unk": "unknown", "pad": "padding"}


@dataclass(frozen=True)
class Conversion:
    """How files become others: `run(source, target, say)`, with packages of an extra."""

    run: Callable[[Path, Path, Report], None]
    packages: tuple[str, ...]
    extra: str


def missing_package(wanted: Asset) -> PackageMissing | None:
    """Name a package that pulling the asset needs and that is not installed."""
    needs = [(package, "tables") for package in ("pyarrow",) if _has_columns(wanted)]
    if wanted.convert:
        needs += [(name, _conversion_of(wanted).extra) for name in _conversion_of(wanted).packages]
    absent = [PackageMissing(name, extra) for name, extra in needs if find_spec(name) is None]
    return absent[0] if absent else None


def convert(wanted: Asset, source: Path, target: Path, *, report: Report) -> dict[str, str]:
    """Fill the folder `target` with what is made of `source`; give the packages it was made with.

    Files that the conversion does not read, such as a licence, are taken over. What comes out must
    be what the asset pins.
    """
    if missing := missing_package(wanted):
        raise missing
    if shutil.disk_usage(target).free < wanted.converted_size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    conversion = _conversion_of(wanted)
    with watch.get().during(f"converting {wanted.name}"):
        conversion.run(source, target, lambda step: report(f"{wanted.name}: converting, {step}"))
    settle_texts(target, wanted)
    made_with = {name: version(name) for name in conversion.packages}
    check_converted(target, wanted, made_with)
    for path in target.rglob("*"):
        # safetensors lets only the owner read what it writes; a store may be shared.
        path.chmod(path.stat().st_mode | 0o444)
    return made_with


def _has_columns(wanted: Asset) -> bool:
    wheels = [place for place in wanted.places if isinstance(place, WheelPlace)]
    return any(member.column for place in wheels for member in place.members)


def _conversion_of(wanted: Asset) -> Conversion:
    return CONVERSIONS[wanted.convert]


def convert_gguf(source: Path, target: Path, say: Callable[[str], None]) -> None:
    """Write the causal model of a GGUF file as transformers keeps one; take other files over."""
    transformers = import_module("transformers")
    files = sorted(path for path in source.rglob("*") if path.is_file())
    gguf_files = [path for path in files if path.suffix == GGUF]
    if len(gguf_files) != 1:
        raise AssetError(f"there are {len(gguf_files)} GGUF files to convert, not one")
    with silence(transformers), _hide_bars():
        say("step 1 of 3: tokens")
        tokenizer = _read_tokenizer(gguf_files[0], transformers)
        say("step 2 of 3: weights (up to a minute)")
        model = transformers.AutoModelForCausalLM.from_pretrained(
            gguf_files[0].parent, gguf_file=gguf_files[0].name, local_files_only=True
        )
        _forget_quantization(model)
        say("step 3 of 3: writing")
        _save(tokenizer, model, target)
    for path in files:
        if path.suffix != GGUF:
            shutil.copyfile(path, target / path.name)


def _read_tokenizer(path: Path, transformers: Any) -> Any:
    """Build the tokenizer here: that of transformers may put a token before every text.

    Whether it does depends on its version, whatever the file says.
    """
    fields = import_module("gguf").GGUFReader(path).fields
    settings = {
        name.removeprefix("tokenizer."): field.contents()
        for name, field in fields.items()
        if name.startswith("tokenizer.")
    }
    words = settings["ggml.tokens"]
    ids = {name: settings.get(f"ggml.{key}_token_id") for name, key in SPECIAL.items()}
    special = {f"{name}_token": words[number] for name, number in ids.items() if number is not None}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=_split_bytes(settings), **special
    )
    tokenizer.chat_template = settings.get("chat_template")
    return tokenizer


def _split_bytes(settings: Mapping[str, Any]) -> Any:
    """Build the byte-pair tokenizer that the file describes; it adds no token to a text."""
    kind = (
        settings.get("ggml.model"),
        settings.get("ggml.pre"),
        settings.get("ggml.add_bos_token", False),
    )
    if kind != ("gpt2", "smollm", False):
        raise AssetError(f"the GGUF file has a tokenizer that is not known: {kind}")
    tokenizers = import_module("tokenizers")
    words = settings["ggml.tokens"]
    merges = [tuple(pair.split(" ")) for pair in settings["ggml.merges"]]
    model = tokenizers.models.BPE({word: id for id, word in enumerate(words)}, merges)
    tokenizer = tokenizers.Tokenizer(model)
    split = tokenizers.pre_tokenizers
    tokenizer.pre_tokenizer = split.Sequence(
        [split.Digits(individual_digits=True), split.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    types = zip(words, settings["ggml.token_type"], strict=True)
    tokenizer.add_special_tokens([word for word, kind in types if kind == CONTROL])
    return tokenizer


def _forget_quantization(model: Any) -> None:
    """Let transformers save 32-bit weights, which it refuses for what it thinks is quantized."""
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    for name, value in {"hf_quantizer": None, "is_quantized": False}.items():
        if hasattr(model, name):
            setattr(model, name, value)
    if hasattr(model, "quantization_method"):
        del model.quantization_method
    # Older versions would write the folder of this process into the configuration.
    model.config._name_or_path = ""


def _save(tokenizer: Any, model: Any, target: Path) -> None:
    failure = import_module("safetensors").SafetensorError
    try:
        model.save_pretrained(target)
        tokenizer.save_pretrained(target)
        _tell_every_version(target)
    except failure as error:
        if "No space left" in str(error):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise


def _tell_every_version(folder: Path) -> None:
    """Say things as all versions know them: an older one would use another tokenizer and theta."""
    for name in ("tokenizer_config.json", "config.json"):
        config = read_json(folder / name)
        if name == "tokenizer_config.json":
            config["tokenizer_class"] = "PreTrainedTokenizerFast"
        elif "rope_theta" in (rope := config.get("rope_parameters") or {}):
            config["rope_theta"] = rope["rope_theta"]
        write_json(folder / name, dict(sorted(config.items())), indent=2)


@contextmanager
def _hide_bars() -> Iterator[None]:
    """Keep every bar back: one asks neither the settings of transformers nor anything else."""
    tqdm = import_module("tqdm.auto").tqdm
    begin = tqdm.__init__
    tqdm.__init__ = partialmethod(begin, disable=True)
    try:
        yield
    finally:
        tqdm.__init__ = begin


CONVERSIONS: Mapping[str, Conversion] = {
    "gguf": Conversion(
        run=convert_gguf,
        packages=("torch", "transformers", "tokenizers", "safetensors", "gguf", "accelerate"),
        extra="models",
    ),
}
