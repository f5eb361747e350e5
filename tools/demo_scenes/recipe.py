"""What each demo scene was made from: `python -m tools.demo_scenes.recipe` lists the scenes with an older recipe."""

import hashlib
import json
from pathlib import Path

from .kinds_of_place import PLACES
from .scenes import SCENES

HERE = Path(__file__).resolve().parent
RECIPES = HERE.parents[1] / "scenarios" / "scenes" / "recipes.json"
NOT_RENDERING = {"__init__", "kinds_of_place", "recipe", "road_map", "scenes", "specs"}


def recipe_hash(name: str) -> str:
    """Changes with the scene's spec and with every file that takes part in rendering it."""
    spec = SCENES[name]
    recipe = [{**PLACES[spec["place"]], **spec}, _code()]
    return "sha256:" + hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def stored() -> dict[str, dict[str, str]]:
    """{scene: {"recipe": hash it was rendered by, "commit": where that recipe is, if it is not today's}}."""
    return json.loads(RECIPES.read_text())


def _code() -> dict[str, str]:
    return {
        path.stem: path.read_text() for path in sorted(HERE.glob("*.py")) if path.stem not in NOT_RENDERING
    }


if __name__ == "__main__":
    made = stored()
    for name in SCENES:
        if made[name]["recipe"] != recipe_hash(name):
            print(f"{name}: by the recipe of {made[name].get('commit', 'an unknown commit')}")
