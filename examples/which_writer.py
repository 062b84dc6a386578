"""Score the example stories from Python and see which writer each metric likes best.

python examples/which_writer.py
"""

from fabula import evaluate, load_dataset
from fabula.scoring.catalogue import choose_metrics

stories = load_dataset("examples").stories
metrics = choose_metrics(["bleu", "rouge", "repetition", "baselines"])
summary = evaluate(stories, metrics).summary()

for metric in metrics:
    aspect = metric.card.aspects[-1]
    means = {system: cell.mean for system, cell in summary.cells[metric.spec, aspect].items()}
    if metric.card.direction == "descriptive":
        verdict = "describes: " + ", ".join(f"{name} {mean:.3g}" for name, mean in means.items())
    else:
        best = max if metric.card.direction == "higher" else min
        verdict = f"prefers {best(means, key=means.__getitem__)}"
    print(f"{metric.spec:18} {verdict}")
