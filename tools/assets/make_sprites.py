"""Renders models to sprites: python tools/assets/make_sprites.py [MODEL[/VARIANT] ...] (needs bpy)."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import inspect
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
ASSETS = HERE.parents[1] / "scenarios" / "assets"
FORMAT = 2  # raise it when render.py or pack.py change what every sprite looks like
TOOLS = {"make_sprites", "render", "pack", "sheet", "recognize"}
Jobs = dict[tuple[str, str], tuple[Any, dict[str, Any], str]]


def find_models() -> Jobs:
    """{(model, variant): (Model, its parameters, recipe hash)} over every model file here."""
    jobs: Jobs = {}
    for path in sorted(HERE.glob("*.py")):
        if path.stem in TOOLS:
            continue
        module = importlib.import_module(path.stem)
        for name, model in getattr(module, "MODELS", {}).items():
            for variant, params in model.variants.items():
                jobs[name, variant] = (model, params, recipe_hash(model, params))
    return jobs


def recipe_hash(model: Any, params: dict[str, Any]) -> str:
    """Changes with the builder, whatever it calls in its own file, its parameters and what each view looks like."""
    settings = [model.symmetry, model.pixels, model.volume, model.decal]
    recipe = [FORMAT, params, settings, model.samples, _sources(model.build)]
    return "sha256:" + hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()


def _sources(function: FunctionType) -> list[str]:
    """Source of a function and of what it reaches in its module, values of module constants included."""
    module, found, todo = inspect.getmodule(function), {}, [function.__name__]
    while todo:
        name = todo.pop()
        value = getattr(module, name, None)
        if (
            name in found
            or name == "MODELS"
            or value is None
            or isinstance(value, ModuleType)
            or inspect.isclass(value)
        ):
            continue
        if isinstance(value, FunctionType):
            if value.__module__ == module.__name__:
                found[name] = inspect.getsource(value)
                todo += _names(value.__code__)
        else:
            found[name] = re.sub(r" at 0x[0-9a-f]+", "", repr(value))
    return [found[name] for name in sorted(found)]


def _names(code: Any) -> list[str]:
    inner = [name for const in code.co_consts if hasattr(const, "co_names") for name in _names(const)]
    return [*code.co_names, *inner]


def views_of(model: Any) -> list[tuple[int, float]]:
    """(azimuth, elevation) in degrees of every view that the model's sprites need."""
    stop = {"round": 1, "mirror": 181}.get(model.symmetry, 360)
    azimuths = [turn for turn in model.azimuths or range(0, 360, model.step) if turn < stop]
    return [] if model.decal else [(azimuth, rise) for rise in model.elevations for azimuth in azimuths]


def already_made(folder: Path, variant: str, recipe: str) -> dict[str, Any] | None:
    """The description of what was rendered by the same recipe, if there is any."""
    try:
        made = json.loads((folder / f"{variant}.json").read_text())
    except (OSError, ValueError):
        return None
    return made if made.get("recipe") == recipe and (folder / f"{variant}.zip").exists() else None


def is_current(made: dict[str, Any] | None, model: Any) -> bool:
    there = {(view["azimuth_deg"], view["elevation_deg"]) for view in made["views"]} if made else set()
    return made is not None and there >= set(views_of(model))


def make(
    model: Any, params: dict[str, Any], identity: dict[str, str], folder: Path, draft: bool, threads: int
) -> int:
    """Builds one variant, renders the layers that are not there yet, packs them. Returns the bytes written."""
    import common
    import render
    from pack import Pack

    common.reset_scene()
    model.build(params.get("seed", 0), **{key: value for key, value in params.items() if key != "seed"})
    render.setup(6 if draft else model.samples, threads, model.volume)
    points = render.surface_points(0.02)
    made = already_made(folder, identity["variant"], identity["recipe"])
    pack = Pack(made or _describe(model, params, identity, points))
    wanted = views_of(model)[:: 4 if draft else 1]
    if made:
        pack.take_over(folder / f"{identity['variant']}.zip")
    else:
        _add_ground(pack, model, points)
    for azimuth, elevation in wanted:
        if not pack.has_view(azimuth, elevation):
            pack.add_view(
                azimuth, elevation, render.render_view(points, azimuth, elevation, pack.meta["ppm"])
            )
    return pack.write(folder)


def _describe(model: Any, params: dict[str, Any], identity: dict[str, str], points: Any) -> dict[str, Any]:
    """The part of the sprite's JSON that does not depend on its views."""
    import numpy as np
    import render

    low, high = points.min(0), points.max(0)
    if low[2] < -0.04:
        raise SystemExit(
            f"{identity['model']}: reaches {-low[2]:.2f} m below the ground, where the camera would see it"
        )
    low[2] = min(low[2], 0.0)
    size = high - low
    return {
        **identity,
        "licence": "Apache-2.0, made by tools/assets",
        "size_m": size.tolist(),
        "low_m": low.tolist(),
        "symmetry": model.symmetry,
        "ppm": model.pixels / float(size.max()),
        "depth_m": float(np.linalg.norm(np.maximum(abs(low), abs(high))[:2])) + 0.05,
        "distance_m": render.DISTANCE,
        "params": params,
        **({"fur_m": model.fur} if model.fur else {}),
    }


def _add_ground(pack: Any, model: Any, points: Any) -> None:
    """What does not depend on the view: the decal, or the hull for shadows and the contact shadow."""
    import numpy as np
    import render

    low, high = points.min(0), points.max(0)
    low[2] = min(low[2], 0.0)
    size = high - low
    if model.decal:
        pack.meta["water"] = model.water
        pack.add_decal(render.render_decal(low[:2] - 0.1, high[:2] + 0.1, 1 / pack.meta["ppm"]))
        return
    solid = render.surface_points(0.02, airy=False)
    if len(solid):
        pack.add_voxels(solid, max(float(size.max()) / 128, 0.008))
    rim = min(max(0.35, 0.5 * float(size[2])), 1.6)
    grid = max(float(size[:2].max() + 2 * rim) / 128, 0.01)
    low2, high2 = low[:2] - rim, high[:2] + rim
    high2 = low2 + np.ceil((high2 - low2) / grid) * grid
    pack.add_contact(render.render_contact(low2, high2, grid), low2, high2, grid)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Blender prints a line a frame from C: send the process's standard output away meanwhile."""
    sys.stdout.flush()
    kept, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(null)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="MODEL or MODEL/VARIANT; none lists what is out of date")
    parser.add_argument(
        "--out", type=Path, default=ASSETS, help="where sprites go (default scenarios/assets)"
    )
    parser.add_argument("--draft", action="store_true", help="few views, few samples")
    parser.add_argument("--force", action="store_true", help="render even what is current")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sheet", type=Path, help="draw the named (or all) sprites to this PNG")
    args = parser.parse_args()
    jobs = find_models()
    chosen = list(jobs) if not args.names else []
    for name in args.names:
        found = [key for key in jobs if name in (key[0], "/".join(key))]
        if not found:
            parser.error(f"no such model: {name}; there are {', '.join(sorted({m for m, _ in jobs}))}")
        chosen += [key for key in found if key not in chosen]
    for name, variant in chosen:
        model, params, recipe = jobs[name, variant]
        folder = args.out / name
        if args.force:
            (folder / f"{variant}.json").unlink(missing_ok=True)
        elif is_current(already_made(folder, variant, recipe), model):
            continue
        if not args.names:
            print(f"{name}/{variant}: out of date")
            continue
        begun = time.time()
        with quiet():
            size = make(
                model,
                params,
                {"model": name, "variant": variant, "recipe": recipe},
                folder,
                args.draft,
                args.threads,
            )
        print(f"{name}/{variant}: {size / 1024:.0f} KB, {time.time() - begun:.0f} s", flush=True)
    if args.sheet:
        import sheet

        sheet.draw(
            [key for key in chosen if (args.out / key[0] / f"{key[1]}.json").exists()], args.out, args.sheet
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
