import json
from pathlib import Path

from fabula.replication.checks import find_checks, metric_values
from fabula.replication.checks._result import compare_values


def test_equality_counts_pairs_within_the_tolerance() -> None:
    values = [(1.0, 1.0), (1.0, 1.0 + 1e-8), (1.0, 1.1), (100.0, 100.00001)]
    finding = compare_values("part", "claim", values, tolerance=1e-6, share=0.75)
    assert finding.found == "3 of 4 equal, largest difference 0.1"
    assert finding.outcome == "verified"
    assert compare_values("p", "c", values, tolerance=1e-6, share=0.8).outcome == "short"


def test_a_claim_without_a_single_value_falls_short() -> None:
    assert compare_values("p", "c", [], tolerance=1.0, share=0.0).outcome == "short"


def test_what_is_not_there_is_not_checked() -> None:
    found = [*find_checks()["hanna_columns"](None), *metric_values.check_golden(None)]
    assert {finding.outcome for finding in found} == {"not checked here"}
    assert len(found) >= 29 + 3


def test_wrong_printed_values_are_found_out(tmp_path: Path) -> None:
    rouge = {"cand": "a tale told", "ref": "a tale told twice"}
    rouge |= {
        f"rouge_{label}_{word}": 9.0
        for label in metric_values._ROUGE_LABELS
        for word in ("recall", "precision", "f_score")
    }
    printed = {
        "CANDS": ["A tale."],
        "REFS": ["A tale."],
        "bleu_sentence(lower(CANDS[0]),lower(REFS[0]))": 100.0,
        "chrf": {"cands": ["abc"], "refs": ["abc"], "first_pair": 0.5},
        "rouge(CAND_R,REF_R)": rouge,
        "cider_corpus(tokenize=False)": 3.0,
    }
    redundancy = {"case": {"story": "One two. Three four.", "paper_set_jaccard": 1.0}}
    kept = {"p": 1.0, "r": 1.0, "f": 0.5}
    user = {"X": "a tale", "Y1": "a tale", "Y2": "a tale", "Y1_result": kept, "Y2_result": kept}
    (tmp_path / "reference").mkdir()
    everything = {"summeval_tests": printed, "rovist": {"nr_derived": redundancy}}
    text = json.dumps(everything | {"storium": {"user_derived": user}})
    (tmp_path / "reference" / "user_stopwords.txt").write_text("a\n")
    (tmp_path / "reference" / "golden.json").write_text(text, encoding="utf-8")
    outcomes = [finding.outcome for finding in metric_values.check_golden(tmp_path)]
    assert outcomes == ["verified", "short", "short", "short", "verified", "short"]


def test_checks_are_found_by_their_names() -> None:
    assert list(find_checks()) == [
        "bertscore", "golden", "hanna_columns", "hanna_paper", "learned_aspects",
        "learned_coherence", "learned_criteria", "learned_large", "learned_order",
        "learned_preference", "learned_prompts", "learned_relevance", "learned_writers", "oracles",
        "perplexity", "raters", "released_scores", "rovist", "story_encoder",
    ]  # fmt: skip
