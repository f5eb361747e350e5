"""NAVSIM's own agents through cfgen's adapter, in NAVSIM's own environment; weights are random.

    python tools/navsim_agents.py BENCH NAVSIM_PYTHON

NAVSIM_PYTHON is the Python of an environment with navsim and nuplan-devkit (Python 3.9, NumPy 1.23); cfgen is not
needed there. It prints, for each agent, how many answers were plans, how long one took and where the plans end. As a
module it is what that environment imports: ``--planner-options agent=navsim_agents:transfuser``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

AGENTS = ("constant_velocity", "ego_status_mlp", "transfuser")


def constant_velocity() -> Any:
    from navsim.agents.constant_velocity_agent import ConstantVelocityAgent

    return ConstantVelocityAgent()


def ego_status_mlp(seed: int = 0) -> Any:
    import torch
    from navsim.agents.ego_status_mlp_agent import EgoStatusMLPAgent

    torch.manual_seed(seed)
    return EgoStatusMLPAgent(hidden_layer_dim=512, lr=1e-4)


def transfuser(seed: int = 0, latent: bool = True) -> Any:
    """TransFuser; latent: it sees by cameras alone. Its image encoder is not fetched but random as well."""
    import timm
    import torch
    from navsim.agents.transfuser.transfuser_agent import TransfuserAgent
    from navsim.agents.transfuser.transfuser_config import TransfuserConfig

    create = timm.create_model
    timm.create_model = lambda name, **more: create(name, **{**more, "pretrained": False})
    torch.manual_seed(seed)
    return TransfuserAgent(TransfuserConfig(latent=latent), lr=1e-4)


def main() -> int:
    """Score each agent, then ask for one that needs lidar points, which has to be refused by name."""
    bench, python = Path(sys.argv[1]), sys.argv[2]
    for name in AGENTS:
        begun = time.perf_counter()
        done = _score(bench, python, name)
        if done.returncode:
            print(f"{name}: {done.stderr.strip()}")
            return 1
        _tell(bench, f"navsim-{name}", time.perf_counter() - begun)
    refused = _score(bench, python, "transfuser", "--planner-options", 'agent_options={"latent": false}')
    print(f"transfuser with lidar: {refused.stderr.strip().splitlines()[-1]}")
    return 0 if refused.returncode == 2 and "needs lidar points" in refused.stderr else 1


def _score(bench: Path, python: str, name: str, *more: str) -> subprocess.CompletedProcess[str]:
    weights = "true" if name == "constant_velocity" else "false"
    options = [f"agent=navsim_agents:{name}", f"initialize={weights}", 'cameras={"cam_l0": "", "cam_r0": ""}']
    words = [word for option in options for word in ("--planner-options", option)]
    command = [
        sys.executable,
        "-m",
        "cfgen",
        "score",
        str(bench.absolute()),
        "--planner",
        "navsim",
        "--python",
        python,
    ]
    command += ["--name", f"navsim-{name}", "--judge", "none", "--quiet", *words, *more]
    return subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)


def _tell(bench: Path, name: str, took_s: float) -> None:
    from cfgen.storage.store import Store

    answers = Store(bench).rollouts(name)
    plans = [r.plan for r in answers if r.plan is not None]
    ends = [plan.waypoints[-1][:2] for plan in plans]
    latency = sorted(r.latency_s for r in answers)[len(answers) // 2]
    print(
        f"{name}: {len(plans)} of {len(answers)} answers are plans of {len(plans[0].waypoints) * 0.25:g} s, median "
        f"{1000 * latency:.0f} ms an answer, {took_s:.0f} s in all, ends from x {min(x for x, _ in ends):.1f} to "
        f"{max(x for x, _ in ends):.1f} m"
    )


if __name__ == "__main__":
    sys.exit(main())
