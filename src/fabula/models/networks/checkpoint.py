"""A checkpoint that transformers reads: where it lies, what it holds, how it is to be read."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from fabula.core.errors import SettingError, UserError
from fabula.core.protocols import watch
from fabula.models._runtime import (
    limit_threads,
    package,
    refuse_broken,
    require_precision,
    silence,
)
from fabula.models.networks.adapter import Adapter
from fabula.models.store.asset import MANIFEST, file_sha256, tree_sha256

Dtype = Literal["fp32", "bf16", "fp16"]
POOLING = "1_Pooling/config.json"
READ = (".safetensors", ".json", ".txt", ".model")
# Positions of these count from after the padding sign, so that two of them are never used.
SHIFTED = ("roberta", "xlm-roberta", "camembert", "mpnet", "longformer", "xlm-roberta-xl")
VOCABULARIES = ("tokenizer.json", "vocab", "spiece", "sentencepiece", "tokenizer.model", "merges")
MOST_LAYERS = 10_000
# A vocabulary is the largest that there is: less than a million words.
MOST_SIZE = 10_000_000
_REMEDY = "get it again, or name a folder that save_pretrained wrote"
RELATIVE = ("t5", "mt5", "umt5", "longt5", "switch_transformers")


class CheckpointError(UserError):
    """A checkpoint that cannot be used as it stands."""


@dataclass(frozen=True)
class Checkpoint:
    """A folder with weights, and how to read with them; nothing is loaded before it is needed."""

    folder: Path
    name: str
    revision: str = ""
    dtype: Dtype = "fp32"
    device: str = "auto"
    backend: str = "huggingface"
    adapter: Adapter | None = None  # a difference that is added to the weights

    @cached_property
    def config(self) -> dict[str, Any]:
        """What the checkpoint says of itself."""
        try:
            config = json.loads((self.folder / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise CheckpointError(
                f"{self.folder} holds no config.json that can be read",
                "name a folder that transformers' save_pretrained wrote",
            ) from error
        if not isinstance(config, dict):
            raise CheckpointError(f"config.json of {self.name} is no object", _REMEDY)
        for name, value in config.items():
            if isinstance(value, int | float) and not _is_possible(name, value):
                raise CheckpointError(f"config.json of {self.name}: {name} is {value}", _REMEDY)
        return config

    @cached_property
    def digest(self) -> str:
        """SHA-256 over weights, configuration and tokeniser, in hexadecimal."""
        files = [path for path in self.folder.iterdir() if path.suffix in READ and path.is_file()]
        files += self.folder.glob(POOLING)
        return tree_sha256(
            {
                file.relative_to(self.folder).as_posix(): file_sha256(file)
                for file in files
                if file.name != MANIFEST
            }
        )

    @property
    def identity(self) -> str:
        """Backend, name, revision or digest, and dtype: what every signature begins with."""
        pinned = self.revision or f"sha256:{self.digest[:16]}"
        return f"{self.backend},{self.name}@{pinned},{self.dtype}"

    @cached_property
    def limit(self) -> int | None:
        """Most tokens that fit into one window, added ones counted; None if there is no bound."""
        kind = self.config.get("model_type")
        if kind in RELATIVE:
            return None
        most = self.config.get("max_position_embeddings") or self.config.get("n_positions")
        most = most or getattr(self.shape, "max_position_embeddings", None)
        if most is not None and (not isinstance(most, int) or most < 1):
            raise CheckpointError(f"config.json of {self.name}: {most!r} positions", _REMEDY)
        return most - 2 if most and kind in SHIFTED else most

    @cached_property
    def shape(self) -> Any:
        """The configuration as transformers fills it up: widths, layers, signs."""
        transformers = package("transformers")
        with refuse_broken(f"config.json of {self.name}", _REMEDY, error=CheckpointError):
            return transformers.AutoConfig.from_pretrained(
                str(self.folder), local_files_only=True, trust_remote_code=False
            )

    def window(self, wanted: int | None, *, usual: int) -> int:
        """Tokens a window: those wanted, else as many as usual and possible."""
        if wanted is None:
            return min(usual, self.limit or usual)
        if self.limit and wanted > self.limit:
            raise SettingError(
                f"{self.name} reads at most {self.limit} tokens, not {wanted}",
                f"take a window of at most {self.limit}; longer texts are read by several",
            )
        return wanted

    @cached_property
    def torch_device(self) -> Any:
        """The device to run on."""
        torch = package("torch")
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        try:
            device = torch.device(self.device)
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as error:
            raise SettingError(
                f"there is no device {self.device!r} here", "take 'auto' or 'cpu'"
            ) from error
        return device

    def model(self, kind: str, *, unused: str = "\0") -> Any:
        """Load the weights as that class of transformers, such as `AutoModelForCausalLM`.

        Weights that the checkpoint lacks would be random: it is refused, unless their names begin
        with `unused`.
        """
        self.refuse_pickles()
        if self.torch_device.type == "cpu":
            require_precision(self.dtype)
        transformers = package("transformers")
        limit_threads()
        with silence(transformers), watch.get().during(f"loading {self.name}"):
            model, report = self._read(getattr(transformers, kind))
        absent = [key for key in report["missing_keys"] if not key.startswith(unused)]
        absent += [str(entry[0]) for entry in report.get("mismatched_keys", ())]
        if absent:
            more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
            raise CheckpointError(
                f"{self.name} does not hold {', '.join(sorted(absent)[:3])}{more},"
                f" which {type(model).__name__} needs",
                "they would be random: take a checkpoint with that head, or another task",
            )
        for name, weight in model.named_parameters():
            # A sum is no number where one of its parts is none.
            if not weight.detach().sum(dtype=package("torch").float64).isfinite():
                problem = f"the weights of {self.name} are damaged ({name} holds what is no number)"
                raise CheckpointError(problem, "get them again")
        if self.adapter:
            self.adapter.merge_into(model)
        return model.to(self.torch_device).eval()

    def _read(self, loader: Any) -> tuple[Any, dict[str, Any]]:
        torch, version = package("torch"), package("transformers").__version__.split(".")
        dtype = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[self.dtype]
        word = "dtype" if (int(version[0]), int(version[1])) >= (4, 56) else "torch_dtype"
        damaged = package("safetensors").SafetensorError
        try:
            with refuse_broken(self.name, _REMEDY, error=CheckpointError):
                loaded: tuple[Any, dict[str, Any]] = loader.from_pretrained(
                    str(self.folder),
                    local_files_only=True,
                    trust_remote_code=False,
                    use_safetensors=True,
                    output_loading_info=True,
                    **{word: dtype},
                )
        except CheckpointError as error:
            if isinstance(error.__cause__, damaged):
                problem = f"the weights of {self.name} are damaged ({error.__cause__})"
                raise CheckpointError(problem, "get them again") from error
            raise
        return loaded

    def refuse_pickles(self) -> None:
        """Refuse a folder without weights that are safe to read."""
        if any(self.folder.glob("*.safetensors")):
            return
        remedy = (
            "take one with safetensors; or, where you trust it, write it anew by transformers "
            f"(model and tokeniser: from_pretrained('{self.name}').save_pretrained('FOLDER')) and "
            "name FOLDER"
        )
        if any(self.folder.glob("*.bin")):
            problem = f"{self.name} has only pickled weights (.bin), which can run code"
            raise CheckpointError(problem, remedy)
        if self.revision:  # Of a hub's model nothing else is fetched.
            problem = f"{self.name} has no safetensors on the hub; pickled weights can run code,"
            raise CheckpointError(f"{problem} and are not read", remedy)
        raise CheckpointError(f"{self.name} has no weights (model.safetensors)")

    @cached_property
    def tokenizer(self) -> Any:
        """The fast tokeniser, which knows where in the text a token stands."""
        transformers = package("transformers")
        if not any(file.name.startswith(VOCABULARIES) for file in self.folder.iterdir()):
            # transformers would make one of no words, for which every text is unknown.
            raise CheckpointError(f"{self.name} has no tokeniser", "put its tokenizer.json there")
        what = f"the tokeniser of {self.name}"
        with refuse_broken(what, _REMEDY, error=CheckpointError), silence(transformers):
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                str(self.folder), local_files_only=True, trust_remote_code=False, use_fast=True
            )
            tokenizer("a")
        if not tokenizer.is_fast:
            raise CheckpointError(
                f"{self.name} has no fast tokeniser, so tokens have no place in the text",
                "take a checkpoint with a tokenizer.json",
            )
        return tokenizer


def _is_possible(name: str, value: float) -> bool:
    """Whether a setting may have that number; transformers would find out while it reads a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return False
    if "layer" in name and isinstance(value, int) and abs(value) > MOST_LAYERS:
        return False  # it would build as many as it is told, and never end
    if name.endswith(("layers", "n_layer", "_size", "_heads")):
        return 0 <= value <= MOST_SIZE
    if "dropout" in name:
        return 0 <= value <= 1
    return value >= 1 or not name.endswith(("_distance", "_buckets"))
