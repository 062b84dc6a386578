"""Made-up stories of a tiny language, examples of every kind of task, and a tiny encoder."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fabula.learned.training.batches import bert_frame
from fabula.learned.training.examples import ExampleSet, Prepared, example_set
from fabula.learned.training.recipe import ReaderRecipe, read_recipe
from fabula.text.features import feature_row

CONFIG = {
    "vocab_size": 1100,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
    "max_position_embeddings": 34,
}
FRAME = bert_frame(34)
GOOD, BAD = "bright kind brave", "dull rude cold"
PLAIN = "the old king queen dog cat rode sang home river night tower".split()
WORDS = [*GOOD.split(), *BAD.split(), *PLAIN, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ".lower()]
MARKS = {".": 1012, "?": 1029, "!": 999, ",": 1010}
FIRST = 1040


def write_tiny_encoder(folder: Path) -> Path:
    """Write two layers with random weights, and a tokeniser of few words."""
    from safetensors.torch import save_file

    from fabula.learned.training.bert import Shape, new_weights

    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG))
    weights = new_weights(Shape(**CONFIG), seed=1)
    save_file({k: w * (1 if "Norm" in k else 5) for k, w in weights.items()},
              folder / "model.safetensors")  # fmt: skip
    tokeniser().save(str(folder / "tokenizer.json"))
    return folder


def tiny_body(folder: Path) -> Any:
    """Give the encoder of a folder as readers are trained on it."""
    from fabula.learned.training.bert import BertBody, read_shape

    return BertBody(read_shape(folder), FRAME)


def tokeniser() -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocabulary = {"[PAD]": 0, "[UNK]": 100, "[CLS]": 101, "[SEP]": 102, "[MASK]": 103, **MARKS}
    vocabulary |= {word: FIRST + number for number, word in enumerate(WORDS)}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 101), ("[SEP]", 102)]
    )
    return made


def cut(texts: Sequence[str]) -> list[list[int]]:
    """Cut texts as the tokeniser does."""
    return [one.ids for one in tokeniser().encode_batch(list(texts), add_special_tokens=False)]


def tale(seed: int, *, good: float = 0.5, sentences: int = 3) -> str:
    """Make a story up: the better, the more of its words are good ones."""
    rng = random.Random(seed)
    told = []
    for _ in range(sentences):
        some = [rng.choice((GOOD if rng.random() < good else BAD).split()) for _ in range(3)]
        words = [*rng.sample(PLAIN, 4), *some]
        rng.shuffle(words)
        told.append(" ".join(words).capitalize() + ".")
    return " ".join(told)


def pair_examples(count: int = 24, items: int = 12) -> ExampleSet:
    """Make pairs of which the better has the good words."""
    texts = [tale(i, good=0.9 if i % 2 == 0 else 0.1) for i in range(2 * count)]
    return example_set(
        cut(texts),
        [[2 * i, 2 * i + 1] for i in range(count)],
        [[1.0]] * count,
        items=[f"pairs:{i % items}" for i in range(count)],
        ids=[f"p{i}" for i in range(2 * count)],
        features=[feature_row(text) for text in texts],
    )


def rating_examples(count: int = 30, items: int = 10) -> ExampleSet:
    """Make ratings on two aspects: the share of good words, and its opposite."""
    shares = [(i * 7 % count) / (count - 1) for i in range(count)]
    texts = [tale(100 + i, good=one) for i, one in enumerate(shares)]
    return example_set(
        cut(texts),
        [[i] for i in range(count)],
        [[1 + 4 * one, 5 - 4 * one] for one in shares],
        items=[f"rated:{i % items}" for i in range(count)],
        ids=[f"r{i}" for i in range(count)],
        features=[feature_row(text) for text in texts],
    )


def label_examples(count: int = 40) -> ExampleSet:
    """Make labels: 1 for stories of good words."""
    texts = [tale(300 + i, good=float(i % 2)) for i in range(count)]
    return example_set(
        cut(texts), [[i] for i in range(count)], [[float(i % 2)] for i in range(count)],
        items=[f"story:{i // 2}" for i in range(count)], ids=[],
    )  # fmt: skip


PLAIN_RECIPE: dict[str, Any] = {
    "kind": "storyer",
    "encoder": "tiny",
    "window": 24,
    "seed": 3,
    "warmup": 0.2,
    "report_every": 2,
    "checkpoint_every": 2,
    "evaluate_every": 2,
    "tasks": {
        "labels": {"kind": "labels", "data": ["made_up"], "head": "labels", "aspects": ["fine"]},
        "preference": {"kind": "pairs", "data": ["made_up"], "head": "preference"},
        "rated": {
            "kind": "ratings", "data": ["made_up"], "head": "rated", "aspects": ["good", "bad"],
        },
    },
    "stages": [
        {"rate": 2e-3, "steps": 6, "groups": [{"tasks": ["labels"], "rows": 6}]},
        {
            "rate": 2e-3, "steps": 6,
            "groups": [{"tasks": ["preference"], "rows": 4}, {"tasks": ["rated"], "rows": 6}],
        },
    ],
    "scales": {
        "preference": {
            "terms": {"preference": 0.5}, "to": ["preference"], "surface": 0.5,
            "link": "logistic", "people": "preference", "also": ["rated.good"],
        },
        "criteria.good": {"terms": {"rated.good": 1.0}, "to": ["rated.good"], "link": "clipped"},
    },
}  # fmt: skip


def tiny_recipe(**changes: Any) -> ReaderRecipe:
    """Give the recipe with some top-level settings changed."""
    return read_recipe(ReaderRecipe, {**json.loads(json.dumps(PLAIN_RECIPE)), **changes})


def tiny_prepared() -> Prepared:
    """Give examples of the recipe's tasks."""
    return Prepared(
        {"labels": label_examples(), "preference": pair_examples(), "rated": rating_examples()}, {}
    )
