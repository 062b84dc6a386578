"""What the pulled assets are good for; values from assets.md, NLTK 3.10 and WordNet 3.0."""

from __future__ import annotations

import json
import struct
from random import Random

import pytest

from fabula.models import asset_names, get_asset, verify
from fakes.assets import need_asset

pytestmark = pytest.mark.assets


@pytest.mark.parametrize("name", asset_names())
def test_a_pulled_asset_has_its_pinned_content_and_size(name: str) -> None:
    need_asset(name)
    check = verify(name)
    assert check.state == "ok", check.detail
    assert check.path is not None
    files = [path for path in check.path.rglob("*") if path.is_file()]
    sizes = [path.stat().st_size for path in files if path.name != "fabula-manifest.json"]
    # What was converted depends a little on the packages that did it.
    slack = 0.01 if get_asset(name).convert else 0
    assert sum(sizes) == pytest.approx(get_asset(name).size_here, rel=slack, abs=0)


@pytest.mark.parametrize("name", asset_names())
def test_no_asset_holds_a_pickle(name: str) -> None:
    pickles = {".pickle", ".pkl", ".joblib", ".pt", ".pth", ".ckpt"}
    assert not [path for path in need_asset(name).rglob("*") if path.suffix in pickles]


@pytest.mark.filterwarnings("ignore:The multilingual functions are not available")
def test_wordnet_knows_the_senses_of_dog(monkeypatch: pytest.MonkeyPatch) -> None:
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [str(need_asset("wordnet"))])
    found = nltk.data.find("corpora/wordnet")
    wordnet = nltk.corpus.reader.WordNetCorpusReader(found, None)
    assert len(wordnet.synsets("dog")) == 8
    dog, cat = wordnet.synset("dog.n.01"), wordnet.synset("cat.n.01")
    assert dog.wup_similarity(cat) == pytest.approx(0.857, abs=0.001)


def test_punkt_does_not_split_after_an_abbreviation(monkeypatch: pytest.MonkeyPatch) -> None:
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [str(need_asset("punkt_tab"))])
    splitter = nltk.tokenize.PunktTokenizer("english")
    assert splitter.tokenize("Mr. Fox met Dr. Hare. They ran. Was it far?") == [
        "Mr. Fox met Dr. Hare.",
        "They ran.",
        "Was it far?",
    ]


def test_spacy_loads_its_folder() -> None:
    spacy = pytest.importorskip("spacy")
    words = spacy.load(need_asset("spacy_small"))("Alice met a rabbit in Oxford.")
    assert [word.pos_ for word in words] == [
        "PROPN",
        "VERB",
        "DET",
        "NOUN",
        "ADP",
        "PROPN",
        "PUNCT",
    ]
    assert ("Oxford", "GPE") in [(name.text, name.label_) for name in words.ents]


def test_glove_puts_dog_near_puppy_and_far_from_tax() -> None:
    import numpy as np

    folder = need_asset("glove_50d")
    vectors = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)  # (400000, 50)
    words = (folder / "words.txt").read_text("utf-8").split("\n")[:-1]
    assert vectors.shape == (len(words), 50) == (400_000, 50)
    dog, puppy, tax = (vectors[words.index(word)] for word in ("dog", "puppy", "tax"))
    norm = np.linalg.norm
    assert dog @ puppy / norm(dog) / norm(puppy) == pytest.approx(0.775, abs=0.001)
    assert dog @ tax / norm(dog) / norm(tax) == pytest.approx(0.226, abs=0.001)


def test_the_header_of_minilm_is_that_of_a_small_bert() -> None:
    folder = need_asset("minilm")
    with (folder / "model.safetensors").open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    words = header["embeddings.word_embeddings.weight"]
    assert (words["dtype"], words["shape"]) == ("F32", [30522, 384])
    assert json.loads((folder / "config.json").read_text())["num_hidden_layers"] == 6


TALE = (
    "Once upon a time there was a little girl who lived with her mother in a small house at the"
    " edge of the forest. Every morning she walked to the village to buy bread and milk. One day,"
    " on her way home, she met an old man who was sitting by the side of the road. He looked very"
    " tired and hungry. The girl gave him some of her bread, and the old man smiled and thanked"
    " her."
)


def test_smollm2_reads_a_tale_more_easily_than_its_words_in_any_order() -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = need_asset("smollm2")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    assert model.dtype == torch.float32
    words = TALE.split()
    Random(0).shuffle(words)
    perplexity = []
    for text in (TALE, " ".join(words)):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        assert tokenizer.decode(ids[0]) == text
        with torch.no_grad():
            perplexity.append(float(model(ids, labels=ids).loss.exp()))
    assert perplexity[0] < 12
    assert perplexity[1] > 30 * perplexity[0]


def test_t5_finds_a_paraphrase_likelier_than_another_text() -> None:
    import numpy as np

    onnxruntime = pytest.importorskip("onnxruntime")
    tokenizers = pytest.importorskip("tokenizers")
    folder = need_asset("t5_titles")
    encoder, decoder = (
        onnxruntime.InferenceSession(folder / f"{name}.onnx", providers=["CPUExecutionProvider"])
        for name in ("encoder", "decoder")
    )
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    # As it comes it cuts texts after 48 tokens.
    tokenizer.no_truncation()

    def mean_log(source: str, target: str) -> float:
        ids = np.array([tokenizer.encode(source).ids])
        mask = np.ones_like(ids)
        states = encoder.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        said = tokenizer.encode(target).ids
        begun = np.array([[0, *said[:-1]]])
        given = {"encoder_hidden_states": states, "encoder_attention_mask": mask}
        logits = decoder.run(None, {"input_ids": begun, **given})[0][0].astype(float)
        logs = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
        return float(logs[np.arange(len(said)), said].mean())

    source = "A keeper stayed in her lighthouse through the storm and saved a boat from the rocks."
    near = mean_log(source, "The lighthouse keeper saved a boat in a storm.")
    far = mean_log(source, "Interest rates rose again as the bank met on Tuesday.")
    assert near > far + 3
