"""What a model is told: the hazard in words, and the light of the scene it goes into."""

from cfgen.inpaint.composite.light import estimate
from cfgen.inpaint.protocol import InpaintRequest, Setting
from cfgen.perception.colour import LUMA

_LIGHTS = {
    "sun": "in direct sunlight with a clear shadow on the road",
    "sun from an unknown side": "in direct sunlight",
    "shade": "in open shade on a sunny day",
    "overcast": "in soft even daylight",
}
#: Linear level of the road below which it is night, and extinction per metre from which the air is hazy.
_NIGHT, _HAZY = 0.008, 0.004


def light_words(setting: Setting) -> str:
    """The scene's light where the hazard stands."""
    light = estimate(setting)
    if float(light.ground @ LUMA) < _NIGHT:
        return "at night, lit by headlights and street lamps"
    words = _LIGHTS[str(light.report["light"])]
    return f"{words}, in hazy air" if light.haze_per_m > _HAZY else words


def description(request: InpaintRequest) -> str:
    """For models that continue a caption."""
    words = light_words(request.setting)
    return f"{request.hazard.prompt}, {words}, plain photo from the front camera of a car"


def instruction(request: InpaintRequest) -> str:
    """For models that follow an order."""
    hazard, words = request.hazard, light_words(request.setting)
    if hazard.kind == "null":
        return f"Show {hazard.prompt}, {words}."
    if request.guide is not None:
        return (
            f"Make this look like a real photo: {hazard.prompt}, {words}. "
            "Keep its place, size, outline and shadow, and everything around it."
        )
    return (
        f"Add this to the road, as a real photo would show it, {words}: {hazard.prompt}. Change nothing else."
    )


def negative(request: InpaintRequest, extra: str) -> str:
    """What is not wanted: the hazard's own words and ``more``."""
    return ", ".join(words for words in (request.hazard.negative_prompt.strip(), extra.strip()) if words)
