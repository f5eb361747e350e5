"""Model providers by name: what is here can judge, plan and verify."""

import inspect
from collections.abc import Mapping
from typing import Any

from cfgen.core.registry import Extra, Registry
from cfgen.models.base import Model
from cfgen.models.limits import Limits

#: A factory takes the provider's own options and returns a :class:`cfgen.models.base.Model`.
MODELS = Registry(
    "model provider",
    "cfgen.models",
    {
        "gemini": "cfgen.models.gemini:Gemini",
        "local": "cfgen.models.local:Local",
        "openai": "cfgen.models.openai:OpenAI",
        "scripted": "cfgen.models.scripted:scripted",
    },
    extras={
        "gemini": Extra("gemini", "google.genai"),
        "local": Extra("local", "transformers"),
        "openai": Extra("openai", "openai"),
    },
)


def create_model(
    provider: str, options: Mapping[str, Any], owner: str, cache: str = ""
) -> tuple[Model, Limits]:
    """The model and the limits that ``options`` describe: the provider's own, and those of :class:`Limits`.

    Args:
        owner: whose options these are, for messages: "judge". cache: the limits' unless the options name one.

    Raises:
        InputError: an unknown provider, an option that is not known, or one missing.
    """
    factory = MODELS.get(provider)
    takes = inspect.signature(factory).parameters
    own = {name: value for name, value in options.items() if name in takes}
    rest = {"cache": cache, **{name: value for name, value in options.items() if name not in takes}}
    limits = Limits.of(rest, owner, takes)
    model: Any = MODELS.create(provider, own)
    return model, limits
