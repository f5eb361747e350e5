"""Tiny checkpoints, made once."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random weights: paints noise."""
    from tests.inpaint.diffusion.tiny_sdxl import tiny_sdxl

    return tiny_sdxl(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="session")
def clear(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Random UNet, and a VAE that gives back what it is given: with hardly any noise, the picture itself."""
    from tests.inpaint.diffusion.tiny_sdxl import clear_vae, tiny_sdxl

    return tiny_sdxl(tmp_path_factory.mktemp("clear"), clear_vae())
