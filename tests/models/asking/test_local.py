"""Models in this process answer as transformers would, with probabilities of their own logits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabula.models.asking.opening import open_respondent
from fabula.models.asking.question import Question, Respondent, Response
from fabula.models.networks.checkpoint import Checkpoint
from fabula.models.servers.wire import Wish
from fakes.tiny_models import save_bert, save_gpt2, save_llama, save_t5, torch

SAVERS: dict[str, Callable[..., Path]] = {"llama": save_llama, "gpt2": save_gpt2}
CHOICES = ("1", "4", "Q")
GREEDY = Wish(max_tokens=6, temperature=0.0, top_p=1.0)
TEMPLATE = "{% for m in messages %}[{{ m['role'] }}: {{ m['content'] }}]{% endfor %}>"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: Any) -> None:
    torch()
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))


@pytest.fixture(params=sorted(SAVERS))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made: Path = SAVERS[request.param](tmp_path / "tiny", positions=256)
    return made


def open_folder(folder: Path) -> Respondent:
    return open_respondent(f"huggingface({str(folder)!r})")


def ask(folder: Path, *questions: Question) -> list[Response]:
    return list(open_folder(folder).ask(questions))


def follow(folder: Path, text: str, steps: int) -> tuple[list[int], list[Any]]:
    """Take the likeliest token so many times, reading the whole text anew each time."""
    checkpoint = Checkpoint(folder, "tiny", device="cpu")
    net = checkpoint.model("AutoModelForCausalLM")
    ids = [*_beginning(checkpoint), *checkpoint.tokenizer(text, add_special_tokens=False).input_ids]
    drawn: list[int] = []
    shares = []
    for _ in range(steps):
        with torch().inference_mode():
            logits = net(input_ids=torch().tensor([[*ids, *drawn]])).logits[0, -1]
        shares.append(logits.softmax(-1))
        drawn.append(int(logits.argmax()))
    return drawn, shares


def _beginning(checkpoint: Checkpoint) -> list[int]:
    return [checkpoint.tokenizer.eos_token_id]


def test_answers_and_probabilities_are_those_of_the_whole_text_read_anew(folder: Path) -> None:
    story = "The old sailor saw a light at sea. "
    tokenizer = Checkpoint(folder, "tiny", device="cpu").tokenizer
    ids = {choice: tokenizer.convert_tokens_to_ids(choice) for choice in CHOICES}
    questions = [
        Question(name, f"{story}Rate its {name}.", wish=GREEDY, choices=CHOICES)
        for name in ("plot", "prose")
    ]
    for question, response in zip(questions, ask(folder, *questions), strict=True):
        drawn, shares = follow(folder, f"{question.prompt}\n", 6)
        if response.status == "cut":
            assert response.text == tokenizer.decode(drawn, skip_special_tokens=True)
        first = response.spots[0]
        place = next(at for at, t in enumerate(drawn) if tokenizer.decode([t]).strip())
        wanted = {choice: float(shares[place][at]) for choice, at in ids.items()}
        # The second question has read only what the first had not.
        assert dict(first.probabilities) == pytest.approx(wanted, rel=1e-4)
        assert response.tokens_out == (6 if response.status == "cut" else response.tokens_out)
        assert response.cost == 0.0


def test_an_assistant_is_asked_by_its_template_and_one_without_a_system_is_told_otherwise(
    tmp_path: Path,
) -> None:
    folder = save_llama(tmp_path / "chat", positions=256)
    tokenizer = Checkpoint(folder, "tiny").tokenizer
    question = Question("a", "Rate it.", "You rate.", wish=GREEDY)
    strict = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('none') }}{% endif %}"
    for number, (template, wanted) in enumerate(
        [
            (TEMPLATE, "[system: You rate.][user: Rate it.]>"),
            (strict + TEMPLATE, "[user: You rate.\n\nRate it.]>"),
        ]
    ):
        copy = save_llama(tmp_path / f"chat{number}", positions=256)
        tokenizer.chat_template = template
        tokenizer.save_pretrained(copy)
        (response,) = ask(copy, question)
        assert response.tokens_in == len(tokenizer(wanted, add_special_tokens=False).input_ids)


def test_what_is_drawn_by_chance_is_drawn_again_by_the_same_seed(folder: Path) -> None:
    def draw(seed: int, key: str) -> str:
        wish = Wish(max_tokens=12, temperature=1.0, top_p=0.9, seed=seed)
        respondent = open_respondent(f"huggingface({str(folder)!r})", journal=folder / key)
        (response,) = respondent.ask([Question("a", "Rate it.", wish=wish)])
        assert not response.is_recalled
        return response.text

    assert draw(1, "j1") == draw(1, "j2")
    assert len({draw(seed, "j3") for seed in range(2, 8)}) > 1


def test_a_question_that_does_not_fit_is_too_long_and_the_window_is_told(folder: Path) -> None:
    respondent = open_folder(folder)
    assert respondent.window == 256
    (response,) = respondent.ask([Question("a", "sea " * 300, wish=GREEDY)])
    assert response.status == "failed"
    assert response.problem.startswith("too long for the model (")
    assert respondent.count_tokens("sea") >= 1


def test_models_that_write_otherwise_answer_and_those_that_do_not_write_are_refused(
    tmp_path: Path,
) -> None:
    (response,) = ask(save_t5(tmp_path / "t5"), Question("a", "Rate it.", wish=GREEDY))
    assert (response.status, dict(response.probabilities)) == ("answered", {})
    with pytest.raises(Exception, match="answers no questions"):
        open_folder(save_bert(tmp_path / "bert"))


@pytest.mark.assets
def test_the_embedded_model_can_add_two_and_two(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("FABULA_HOME")
    prompt = "What is 2 + 2? Answer with the number alone."
    wish = Wish(max_tokens=7, temperature=0.0, top_p=1.0)
    respondent = open_respondent("embedded()", journal=tmp_path / "journal.jsonl")
    (response,) = respondent.ask([Question("a", prompt, wish=wish, choices=("3", "4", "5"))])
    assert response.text == "2 + 2 = 4"
    assert response.spots[-1].start == 8
    assert response.probabilities["4"] > 0.9
    assert (respondent.window, respondent.signature[:16]) == (8192, "embedded,smollm2")
