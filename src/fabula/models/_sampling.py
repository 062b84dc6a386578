"""Drawing a text from a model of transformers, the same for the same prompt and seed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fabula.core.errors import SettingError
from fabula.core.settings import AtLeast, Between, check_settings
from fabula.models._checkpoint import Checkpoint, hushed
from fabula.models._packages import package


@dataclass(frozen=True)
class Draw:
    """How to draw a text; a temperature of 0 takes the likeliest token each time."""

    max_tokens: Annotated[int, AtLeast(1)]
    temperature: Annotated[float, AtLeast(0)]
    top_p: Annotated[float, Between(0, 1)]
    seed: int

    def __post_init__(self) -> None:
        """Refuse settings that will not do."""
        check_settings(self, "generate")

    def room_in(self, limit: int | None, name: str) -> int | None:
        """Tokens that a prompt may have beside the text to be written; None if any number."""
        if limit is None:
            return None
        if limit - self.max_tokens < 2:
            raise SettingError(
                f"{name} reads {limit} tokens at once and cannot write {self.max_tokens}",
                f"take max_tokens of at most {limit - 2}",
            )
        return limit - self.max_tokens

    def settings(self, net: Any, tokenizer: Any) -> dict[str, Any]:
        """The same in transformers' words, with the signs that the checkpoint ends texts by."""
        drawn = {"do_sample": True, "temperature": self.temperature, "top_p": self.top_p}
        end = net.generation_config.eos_token_id
        filler = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else end
        return {
            "max_new_tokens": self.max_tokens,
            "eos_token_id": end,
            "pad_token_id": filler[0] if isinstance(filler, list) else filler,
            "decoder_start_token_id": net.generation_config.decoder_start_token_id,
            "top_k": 0,
            **(drawn if self.temperature else {"do_sample": False}),
        }


def sample(
    net: Any,
    checkpoint: Checkpoint,
    ids: Sequence[int],
    *,
    key: str,
    draw: Draw,
    stop: Sequence[str],
) -> list[int]:
    """Let a model write on after tokens; `key` and seed decide what chance brings.

    A decoder repeats what it was given before what it writes.
    """
    torch, transformers = package("torch"), package("transformers")
    device, tokenizer = checkpoint.torch_device, checkpoint.tokenizer
    given = torch.tensor([list(ids)], device=device)
    ending = {"stop_strings": list(stop), "tokenizer": tokenizer} if stop else {}
    with (
        torch.random.fork_rng(devices=[device] if device.type == "cuda" else []),
        torch.inference_mode(),
        hushed(transformers),
    ):
        torch.manual_seed(_seed_of(key, draw.seed))
        config = transformers.GenerationConfig(**draw.settings(net, tokenizer))
        mask = torch.ones_like(given)
        drawn = net.generate(given, attention_mask=mask, generation_config=config, **ending)
    return [int(one) for one in drawn[0]]


def _seed_of(key: str, seed: int) -> int:
    digest = hashlib.blake2b(f"{seed}|{key}".encode(errors="surrogatepass"), digest_size=7)
    return int.from_bytes(digest.digest(), "big")
