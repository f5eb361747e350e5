"""Each demo scene tells what it was made from."""

from pathlib import Path

import pytest

from tools.demo_scenes.recipe import recipe_hash, stored
from tools.demo_scenes.scenes import SCENES

FOLDERS = sorted(p.parent.name for p in (Path(__file__).parents[2] / "scenarios/scenes").glob("*/scene.json"))


def test_every_scene_has_a_spec_and_a_recipe():
    assert FOLDERS == sorted(SCENES) == sorted(stored())


@pytest.mark.parametrize("name", FOLDERS)
def test_the_recipe_is_todays_or_says_where_it_is(name: str):
    made = stored()[name]
    assert (made["recipe"] == recipe_hash(name)) != ("commit" in made), (
        f"{name}: render it again (tools/demo_scenes/README.md), or name in recipes.json the commit that made it"
    )


def test_the_recipe_follows_the_spec_and_the_code(monkeypatch: pytest.MonkeyPatch):
    from tools.demo_scenes import recipe

    name = FOLDERS[0]
    before = recipe_hash(name)
    with monkeypatch.context() as patch:
        patch.setitem(recipe.SCENES, name, {**SCENES[name], "seed": SCENES[name]["seed"] + 1})
        assert recipe_hash(name) != before
    monkeypatch.setattr(recipe, "_code", lambda: {"make": "other"})
    assert recipe_hash(name) != before
