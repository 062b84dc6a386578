from __future__ import annotations

from fabula.replication.storyer.variants import (
    ablate,
    own_tasks,
    storyer_recipe,
    vary_loss,
    without_tasks,
)


def test_every_part_is_left_out_once() -> None:
    recipe = own_tasks(storyer_recipe(), 4)
    assert set(recipe.tasks) == {"preference", "negatives", "aspects", "confidence", "comments"}
    found = {one.name: set(one.recipe.tasks) for one in ablate(recipe)}
    assert found["without ranking"] == {"negatives", "aspects", "confidence", "comments"}
    assert found["without aspects"] == {"preference", "negatives", "comments"}
    assert found["without comments"] == {"preference", "negatives", "aspects", "confidence"}
    assert found["without negatives"] == {"preference", "aspects", "confidence", "comments"}
    assert found["ranking alone"] == {"preference"}


def test_a_variant_is_a_recipe_that_can_be_trained() -> None:
    full = storyer_recipe()
    assert "comments" not in full.tasks and full.tasks["negatives"].negatives
    for one in ablate(full):
        named = {name for stage in one.recipe.stages for g in stage.groups for name in g.tasks}
        assert named == set(one.recipe.tasks)
    assert not any("augmentation" in one.name for one in ablate(full))


def test_losses_change_nothing_but_the_loss() -> None:
    found = vary_loss(storyer_recipe(), ["margin", "smoothed"])
    assert [one.recipe.tasks["preference"].loss for one in found] == ["margin", "smoothed"]
    assert without_tasks(found[0].recipe, ["nothing"]) == found[0].recipe
