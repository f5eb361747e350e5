"""The sun of a scene, asked for in one way by tags and by builds."""

from collections.abc import Iterable

from cfgen.perception.cast_shadows import scene_shadows
from cfgen.perception.foot_shade import foot_shade
from cfgen.perception.light_probe import LightProbe
from cfgen.perception.sun import Sun, SunSigns, find_sun
from cfgen.perception.views import SceneViews


def scene_sun(views: SceneViews, frame: LightProbe, others: Iterable[SunSigns] = ()) -> Sun:
    """By all that the frames of a scene show: its light, shadows on the road, the shade of vehicles.

    Args:
        frame: of the front frame at t0. others: what frames of other scenes of its drive say.
    """
    scene = views.scene
    feet = foot_shade(views.images[scene.front.name, 0.0], scene.front, views.now)
    return find_sun(frame, scene_shadows(views), scene.extra, scene.timestamp, others, feet)
