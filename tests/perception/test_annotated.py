"""An annotated road in frames: against shapely's polygons, the renderer's own masks, and what must hide it."""

from pathlib import Path

import cv2
import numpy as np
import pytest
import shapely

from cfgen.core.paths import scenarios_dir
from cfgen.geometry.camera import ground_points, project
from cfgen.perception.annotated import AnnotatedRoad, traffic_at
from cfgen.perception.networks import RoadNet
from cfgen.perception.road_by_colour import ColourGround
from cfgen.perception.view import SceneView, Thing
from cfgen.perception.views import Views
from cfgen.records import RoadUser, Scene
from cfgen.scenes.folder import load_scene
from tests.hazards import drawn

MASKS = sorted((Path(__file__).parent / "road_masks").glob("*.png"))
#: A bend, a road that crosses it, and one that lies elsewhere; the first two overlap.
AREAS = (
    ((-20, -3), (30, -3), (60, 4), (60, 11), (29, 4), (-20, 4)),
    ((20, -15), (27, -15), (27, 15), (20, 15)),
    ((40, 20), (60, 20), (60, 30)),
)


class Looks(ColourGround):
    """Colours that also see things."""

    things: tuple[Thing, ...] = ()

    def perceive(self, frames):
        return [SceneView(v.road, v.lanes, v.size, self.things, v.by) for v in super().perceive(frames)]


def annotated(areas=AREAS, traffic=None, **extra) -> Scene:
    told = extra | {"drivable": areas} | ({} if traffic is None else {"traffic": traffic})
    return drawn.scene().model_copy(update={"extra": told})


def view_of(scene: Scene, *things: Thing, t: float = 0.0) -> SceneView:
    looks = Looks()
    looks.things = things
    views = Views.of(looks).scene(scene, {("front", t): drawn.road(), ("front", 0.0): drawn.road()})
    view = views.at(t)
    assert view is not None
    return view


def test_road_is_where_a_cells_ray_meets_a_polygon():
    view, road = view_of(annotated()), shapely.union_all([shapely.Polygon(area) for area in AREAS])
    rows, columns = np.mgrid[: view.road.shape[0], : view.road.shape[1]]
    px = (np.column_stack([columns.ravel(), rows.ravel()]) + 0.5) / view.scale - 0.5
    ground, valid = ground_points(drawn.CAMERA, px)
    ground[~valid] = 1e5
    inside = shapely.contains_xy(road, *ground.T)
    border = shapely.distance(road.boundary, shapely.points(ground)) < 0.11  # a cell of the ground
    hood = rows.ravel() > 0.9 * view.road.shape[0]
    assert inside.sum() > 5000
    assert (view.road.ravel() == inside)[~border & ~hood].all()
    assert not view.road[-1].any(), "the own hood, where no past frame tells of it"


def test_nothing_annotated_is_no_road():
    assert not view_of(annotated(())).road.any()


@pytest.mark.parametrize("mask", MASKS, ids=lambda path: path.stem)
def test_the_demo_scenes_roads_are_those_of_the_renderer(mask: Path):
    """Its masks leave the gutter out, half a metre of concrete by the kerb."""
    folder = load_scene(scenarios_dir() / "scenes" / mask.stem)
    images = {(f.camera, f.t): folder.image(f) for f in folder.scene.frames}
    view = Views.of(ColourGround()).scene(folder.scene, images).now
    exact = cv2.imread(str(mask), 0) > 127
    seen = cv2.resize(view.road.astype(np.uint8), exact.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0
    assert (seen & exact).sum() > 0.93 * (seen | exact).sum()


def test_annotated_vehicles_hide_the_road_behind_them_also_where_they_were():
    car = {"x": 20.0, "y": 0.0, "theta": 0.0, "v": 10.0, "length_m": 4.5}
    scene = annotated(traffic=[car])
    spots = np.array([[14.0, 0, 0], [20, 0, 0], [24, 0, 0], [20, 3.2, 0]])
    road = view_of(scene).is_road(project(drawn.CAMERA, spots)[0])
    assert road.tolist() == [True, False, False, True]
    [(_, pose)] = traffic_at(scene, -1.0)
    assert pose == pytest.approx((10.0, 0.0, 0.0), abs=0.05)


def test_a_vehicle_beside_the_camera_is_cut_out_as_far_as_it_is_in_view():
    user = RoadUser(x=3.0, y=2.2, theta=0.0, v=10.0, length_m=12.0)
    road = AnnotatedRoad([((-50, -10), (80, -10), (80, 10), (-50, 10))])
    clear = road.visible(drawn.CAMERA, [], 1e4)
    seen = road.visible(drawn.CAMERA, [(user, (3.0, 2.2, 0.0))], 1e4)
    half = clear.shape[1] // 2
    assert (clear & ~seen)[:, :half].sum() > 300
    assert (clear == seen)[:, half:].all()


def test_what_a_detector_sees_hides_it_but_vehicles_only_where_nobody_annotates_them():
    person, car = Thing("person", (300, 180, 330, 260), 0.9), Thing("car", (100, 200, 200, 300), 0.9)
    inside = np.array([[315, 250], [150, 290]])
    unannotated, known = view_of(annotated(), person, car), view_of(annotated(traffic=[]), person, car)
    assert view_of(annotated()).is_road(inside).all()
    assert unannotated.is_road(inside).tolist() == [False, False]
    assert known.is_road(inside).tolist() == [False, True]
    assert [thing.kind for thing in known.things] == ["person"]


def test_it_is_sure_and_the_record_says_whence_it_is():
    scene = annotated()
    views = Views.of(RoadNet()).scene(scene, {("front", 0.0): drawn.road()})
    assert views.now.likely is None
    assert views.likely is views.now
    assert views.lanes_known
    assert views.provenance["road"] == "annotated"
    assert views.provenance["name"] == "road-net"
    from_map = annotated(road_from="map")
    assert Views.of(RoadNet()).scene(from_map, views.images).provenance["road"] == "map"


def test_who_measures_the_camera_sees_the_frames_alone():
    scene, images = annotated(), {("front", 0.0): drawn.road()}
    bare = drawn.scene()
    views, expected = Views.of(RoadNet()), Views.of(RoadNet()).scene(bare, images).now
    perceived = views.scene(scene, images).perceived
    if perceived.provenance["road"] == "network":
        assert np.array_equal(perceived.now.road, expected.road)
    assert not np.array_equal(views.scene(scene, images).now.road.shape, perceived.now.road.shape)
