"""Tiny backbones with random weights, and a few made-up pairs and comments, for StoryER."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabula.core.story import Story
from fabula.learned.training.joint_data import JointData, JointSampler, RatedItem
from fabula.learned.training.joint_recipe import JointRecipe
from fabula.learned.training.pairs import Pair
from fakes.tiny_models import save_bart, save_bytes, save_llama, save_t5, torch

BETTER = (
    "The old sailor saw a light at sea.\nShe said never again. The night ran.",
    "The sailor went home in winter.\nThe light at sea ran away. She saw it.",
    "A light!\nThe old sailor saw the winter sea. They went home.",
    "She saw the sea at night.\nThe sailor ran. A light went away from the house.",
)
WORSE = (
    "cat dog cat dog.\nThe mat sat. The mat sat on the mat.",
    "The dog sat on a mat.\nThe cat sat on a dog. mat, mat!",
    "mat dog mat!\nThe cat and the dog sat. A dog sat.",
    "The cat sat.\nThe cat sat on the cat. The dog and a mat.",
)
COMMENTS = ("The light at sea!", "They never went home.", "a dog on a mat", "")


def save_led(folder: Path) -> Path:
    """Save a LED of one layer, whose attention looks at four tokens to either side."""
    torch().manual_seed(6)
    import transformers

    config = transformers.LEDConfig(
        vocab_size=save_bytes(folder, end=True, begin=True), d_model=16, encoder_layers=1,
        decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
        decoder_ffn_dim=32, max_encoder_position_embeddings=64, max_decoder_position_embeddings=32,
        attention_window=8, decoder_start_token_id=1, pad_token_id=0, bos_token_id=2,
        eos_token_id=1, init_std=0.3,
    )  # fmt: skip
    transformers.LEDForConditionalGeneration(config).save_pretrained(folder)
    return folder


def save_calm_t5(folder: Path) -> Path:
    """Save a T5 without dropout, which would drown what so small a one has learned."""
    file = save_t5(folder) / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"dropout_rate": 0.0}))
    return folder


BACKBONES: dict[str, Callable[[Path], Path]] = {
    "led": save_led,
    "bart": save_bart,
    "t5": save_calm_t5,
    "llama": save_llama,
}


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: on a busy machine, threads wait longer than they compute."""
    count = torch().get_num_threads()
    torch().set_num_threads(1)
    yield
    torch().set_num_threads(count)


def made_up_pairs(prompts: int = 4) -> tuple[Pair, ...]:
    return tuple(
        Pair(
            Story(f"{n}.1", BETTER[n % 4], prompt=f"Prompt {n}", item=str(n)),
            Story(f"{n}.2", WORSE[n % 4], prompt=f"Prompt {n}", item=str(n)),
        )
        for n in range(prompts)
    )


def made_up_items(prompts: int = 4) -> tuple[RatedItem, ...]:
    return tuple(
        RatedItem(
            BETTER[n % 4],
            f"prompt {n}",
            n % 9,
            (n % 5) / 4,
            COMMENTS[n % 4],
            (n % 9, 9),
            ((n % 5) / 4, 0.75),
        )
        for n in range(prompts)
    )


def made_up_data(prompts: int = 4) -> JointData:
    return JointData(made_up_pairs(prompts), made_up_items(prompts))


def joint_recipe(backbone: Path, **changes: object) -> JointRecipe:
    settings: dict[str, object] = {
        "max_tokens": 48, "comment_tokens": 16, "rows": 4, "rate": 0.02, "epochs": 12.0,
        "warmup": 0.1, "held_out": 0.0, "report_every": 1, "evaluate_every": 2,
        "checkpoint_every": 5,
    }  # fmt: skip
    return JointRecipe(str(backbone), **settings | changes)  # type: ignore[arg-type]


def open_joint_model(backbone: Path, **changes: object) -> Any:
    """A joint model that has learned nothing yet, on the processor."""
    from fabula.learned.training.joint_model import begin_joint

    model = begin_joint(joint_recipe(backbone, **changes), torch().device("cpu"))
    model.network.net.eval()
    return model


def sum_losses(model: Any, step: int = 0, data: JointData | None = None) -> dict[str, float]:
    """What a step loses, by name."""
    batch = JointSampler(data or made_up_data(), model.recipe).batch(step)
    found: dict[str, float] = {}
    with torch().no_grad():
        for part in ("pairs", "aspects", "comments"):
            for some in model.losses(batch, part):
                for name, loss in some.items():
                    found[name] = found.get(name, 0.0) + float(loss)
    return found
