"""Made-up releases in the form of the published ones: by data set, the text of each file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def lines(*rows: Any) -> str:
    """Write rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def put(folder: Path, files: dict[str, str]) -> Path:
    """Write the files of a release into a folder, which is given back."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder


UNUSED = [-1, -1, float("nan")]
LAMP = "[WP] A lamp that grants half a wish ."
HALF = r"She asked for a boat. <\newline>  <\newline> She got a bow."
GOLD = "He asked for gold and got a go."
SHRUG = "The lamp shrugged."


def pair(prompt: str, good: str, poor: str) -> dict[str, Any]:
    """Make a row of StoryER's ranking file."""
    return {"prompt": prompt, "good": good, "poor": poor, "c3": 1, "c4": 1}


def submission(story: str, votes: float, *comments: Any, prompt: str = LAMP) -> dict[str, Any]:
    """Make a row of StoryER's rating file; slots that are not given are unused."""
    slots = [*comments, *[UNUSED] * (5 - len(comments))]
    return {"story": story, "score": votes, "prompt": prompt, "comments": slots}


def task(name: str) -> dict[str, Any]:
    """Make an item of MANS with two systems."""
    return {
        "prompt": f"{name} opened the door .",
        "gold_response": "outside stood spring .",
        "gen": {
            "gpt": {"text": "the door said no .", "score": [1, 2, 3, 4, 5]},
            "fusion": {"text": "door door door .", "score": [1, 1, 1, 2, 2]},
        },
    }


def told(album: str, photos: list[str], text: str) -> dict[str, Any]:
    """Make a story of the VIST challenge."""
    return {"album_id": album, "photo_sequence": photos, "story_text_normalized": text}


TEA = "ann made tea . </s> it was cold . </s> she made it again . </s>"
KITE = "bo flew a kite . </s> the kite was a spoon . </s> </s>"
AMT = f"""WorkerId,Input.text1,Input.text2,Answer.text1,Answer.text2
W1,"{TEA}\x20
","{KITE}\x20
",5,0
W2,"{TEA}\x20
","{KITE}\x20
",4,
"""
SAMPLES: dict[str, dict[str, str]] = {
    "storyer": {
        "train_rank_small.jsonl": lines(
            pair(LAMP, HALF, GOLD), pair(LAMP, HALF, SHRUG), pair("[WP]: A second sun", GOLD, SHRUG)
        )
    },
    "storyer_ratings": {
        "train_rate_reason_small.json": json.dumps(
            [
                submission("A lamp.<br><br>A wish.", 7.0, [1, 4, "Bright."], [3, 2, "Abrupt."]),
                submission("A lamp.<br><br>A wish.", 7.0, [1, 5, "Lovely."], [-1, 3, "Hm."]),
                submission("No lamp.", 0.0, [10, 1, "Old hat."], prompt="[WP] A dark room"),
            ]
        )
    },
    "mans": {
        "mans_roc.json": json.dumps({"7": task("[MALE]"), "9": task("[FEMALE]")}),
        "mans_wp.json": json.dumps({"7": task("The king")}),
    },
    "union": {
        "ant_data/ant_data.txt": "1 ||| ann slept . she woke . ||| 1 1 1 0 1 1 0\n"
        "0 ||| bo ran . bo ran . ||| 0 0 0 0 0 0 1\n",
        "ant_data/ant_data_all.txt": "1 ||| ann slept . she woke . ||| 0 0 0 3 0 0 5\n"
        "0 ||| bo ran . bo ran . ||| 1 1 1 1 1 2 0\n",
        "ant_data/reference.txt": "bo ran . he won . \nann slept . she dreamt . \n",
        "ant_data/reference_ipt.txt": "bo ran .\nann slept .\n",
        "metric_output/bleu.txt": "0.5\n0.25\n",
        "metric_output/ppl.txt": "1.5\n2.5\n",
    },
    "coherence": {
        "AMT_ROC.CSV": AMT,
        "Pred_advROC_roberta.txt": f"{KITE}\t0.125\n{TEA}\t0.875\n",
    },
    "manplts": {
        "AF_ManPlts_valid.tsv": "0\t1\t0\tann ran . she won .\n1\t0\t1\tann ran . a fish won .\n",
        "AF_ManPlts_test.tsv": "0\t1\t0\tbo sat .\n1\t0\t1\tbo sat .\n2\t0\t2\tthe chair sat .\n"
        "3\t1\t3\tcy sang .\n4\t0\t4\tcy sank .\n",
    },
    "rocstories": {
        "rocstories.jsonl": lines(
            {"src": "a", "form": "cased", "title": "Tea", "sentences": ["Ann made tea.", "Good."]},
            {"src": "b", "form": "lower-tok", "title": "", "sentences": ["bo ran . "]},
        )
    },
    "writingprompts": {
        "writingprompts.jsonl": lines(
            {"src": "a", "prompt": "[ WP ] A quiet bell", "story": r"Dong. <\newline> Silence."},
            {"src": "b", "prompt": "[WP] A quiet bell", "story": "No dong."},
            {"src": "c", "prompt": "", "story": "Alone."},
            {"src": "c", "prompt": "", "story": "Alone too.", "label": "good"},
        )
    },
    "vist": {
        "vist_test_reference.json": json.dumps({"11": ["we sat . ", "a boat ."], "12": ["hi ."]}),
        "vist_test_desc_reference.json": json.dumps({"501": ["a boat", "a red boat"]}),
        "arel_prediction_test.json": json.dumps({"11": [" it was fun ."], "12": [" so it was ."]}),
        "bart_pre.json": json.dumps({"11": ["  the sea ."], "12": ["  the end ."]}),
        "mcsm_bart_results.csv": "image1,image2,story\n"
        "https://photos.example/x/501.jpg,https://photos.example/x/502.jpg,we saw the sea .\n",
        "arel_challenge.json": json.dumps(
            {
                "team_name": "made up",
                "output_stories": [
                    told("11", ["501", "502"], " it was grand ."),
                    told("11", ["503", "502"], " it was fun ."),
                    told("12", ["601", "602"], " so it was ."),
                    told("12", ["603", "602"], " so it was ."),
                ],
            }
        ),
    },
    "rovist": {
        "stories.json": json.dumps({"4": "a fair . a stall .", "5": "the end ."}),
        "rovist_c.csv": "story_id,C_score\n4,0.5\n",
        "rovist_nr.csv": "story_id,R_score\n4,0.75\n",
        "groovist.json": json.dumps({"4": 0.25, "5": -0.5}),
    },
}
FOLDERS = {name: name for name in SAMPLES} | {
    "storyer_ratings": "storyer",
    "union": "union_roc",
    "rovist": "rovist_scores",
}
