"""Networks in torch, in batches: the same views as cv2.dnn's, and what is missing told in one line before any work."""

import sys

import numpy as np
import pytest

from cfgen.core.errors import CfgenError, InputError, MissingExtraError, SetupError
from cfgen.perception.networks import RoadNetwork
from cfgen.perception.onnx_network import OpenCv, TorchNetwork
from cfgen.perception.registry import create_perceiver
from cfgen.perception.views import Views
from cfgen.scenes.folder import load_scene
from tests.benches import build_arguments, run
from tests.perception.seeing import view_of
from tests.perception.test_networks import LAYOUT, TINY, picture
from tests.perception.tiny_onnx import tiny_onnx

torch = pytest.importorskip("torch", reason='needs pip install ".[road-gpu]"')
pytest.importorskip("onnx2torch", reason='needs pip install ".[road-gpu]"')

FILE = tiny_onnx(LAYOUT.size, TINY)


def make(device="cpu", data=FILE, net=None) -> TorchNetwork:
    return TorchNetwork("perception 'tiny'", data, net or OpenCv(FILE), LAYOUT.size, device)


@pytest.fixture
def blobs() -> list[np.ndarray]:
    return list(np.random.default_rng(1).random((3, 1, 3, *LAYOUT.size[::-1]), np.float32))


@pytest.fixture
def batches(monkeypatch) -> list[int]:
    """Grows by the number of pictures of each batch."""
    sizes, was = [], TorchNetwork._run
    monkeypatch.setattr(
        TorchNetwork, "_run", lambda self, blobs: sizes.append(len(blobs)) or was(self, blobs)
    )
    return sizes


@pytest.mark.parametrize("order", [["road", "lanes"], ["lanes", "road"]])
def test_each_picture_of_a_batch_is_answered_in_the_order_asked_for(blobs, order):
    net = OpenCv(FILE)
    net.outputs = order
    together = np.array(make(net=net).forward(blobs))
    assert np.allclose(together, net.forward(blobs), atol=1e-5)
    assert not np.allclose(together[0], together[1])


def test_the_frames_of_a_real_scene_are_looked_at_together_and_seen_as_by_cv2(real, models, batches):
    folder = load_scene(real / "udacity_hmb3" / "scenes" / "hmb3_05139")
    images = {("front", t): folder.images_at("front", [t])[0] for t in (-0.5, 0.0)}
    options = {"things": str(models / "fastestdet.onnx")}
    torchs, opencvs = (create_perceiver("road-net", {**options, "device": device}) for device in ("cpu", ""))
    assert torchs.identity == opencvs.identity, "the device is no part of what keeps views"
    batches.clear()
    views = Views.of(torchs)
    now = views.scene(folder.scene, images).now
    assert batches[0] == 2, "the roads of all frames with that of the first one asked for"
    assert set(batches[1:-1]) == {8}, "windows of all frames"
    asked = len(batches)
    others = Views.of(opencvs).scene(folder.scene, images)
    assert {t: view.hash for t, view in views.scene(folder.scene, images).all().items()} == {
        t: view.hash for t, view in others.all().items()
    }
    assert len(batches) == asked
    assert now.things


def test_many_frames_are_looked_at_eight_at_a_time(batches):
    network = RoadNetwork("tiny", FILE, LAYOUT, "", device="cpu")
    batches.clear()
    assert network.at_once == 8
    assert len(network._net.forward([picture()[:36, :64]] * 3)) == 3
    assert view_of(network, picture()).hash == view_of(RoadNetwork("tiny", FILE, LAYOUT, ""), picture()).hash
    network.perceive([SimpleFrame] * 19)
    assert batches == [3, 1, 8, 8, 3]


class SimpleFrame:
    image = picture()


def test_what_memory_does_not_hold_together_is_looked_at_one_by_one(blobs, monkeypatch):
    network, sizes, room = make(), [], [1]
    expected, was = network.forward(blobs), network._run

    def scarce(given):
        sizes.append(len(given))
        if len(given) > room[0]:
            raise torch.OutOfMemoryError("tried to allocate 2 GiB\nand more words")
        return was(given)

    monkeypatch.setattr(network, "_run", scarce)
    assert np.allclose(network.forward(blobs), expected, atol=1e-5)
    assert sizes == [3, 1, 1, 1]
    room[0] = 0
    with pytest.raises(SetupError, match=r"device=cpu: expected room for one picture, .* 2 GiB\); end what"):
        network.forward(blobs)


@pytest.mark.parametrize("package", ["torch", "onnx", "onnx2torch"])
def test_a_package_that_is_missing_is_named(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as error:
        make()
    assert f"device=cpu needs the package '{package}', which is not installed; " in str(error.value)
    assert '".[road-gpu]"' in str(error.value)


def test_a_device_that_is_no_device_or_not_there_is_one_line(monkeypatch):
    for device in ("gpu", "cuda:", "cuda:x", "CPU", "mps", " "):
        with pytest.raises(InputError, match=f"expected cpu, cuda or cuda:N .*, found '{device}'"):
            make(device)
    for cards, device, said in (
        (0, "cuda", "no card that"),
        (1, "cuda:1", "1 card that"),
        (2, "cuda:7", "2 cards that"),
    ):
        monkeypatch.setattr(torch.cuda, "device_count", lambda cards=cards: cards)
        with pytest.raises(SetupError, match=f"expected card {device[5:] or 0}, found {said} torch"):
            make(device)


def test_a_build_without_the_card_writes_nothing(real, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    out = tmp_path / "b"
    scenes = ("--scenes", str(real / "udacity_lanelines" / "scenes"))
    eyes = ("--perception", "road-net", "--perception-options", "device=cuda")
    code, _, err = run(*build_arguments(real, out, 1, *scenes, *eyes))
    assert code == 2
    assert len(err.splitlines()) == 1, err
    assert "perception 'road-net': device=cuda: expected card 0, found no card that torch" in err
    assert not out.exists()


def test_a_device_that_answers_otherwise_or_fails_is_not_used(monkeypatch):
    other = tiny_onnx(LAYOUT.size, {**TINY, "lanes": (((0, 0, 0), (1.0, 1.0, 0.9)), (2.7, 0.0))})
    with pytest.raises(CfgenError, match=r"device=cpu: expected the answer of cv2.dnn .* off by 0\.0"):
        make(data=other)
    with pytest.raises(InputError, match="expected an ONNX file that onnx2torch converts, found DecodeError"):
        make(data=b"<html>")

    def fails(*_):
        raise RuntimeError("no kernel image is available\nfor this device")

    monkeypatch.setattr(TorchNetwork, "_run", fails)
    with pytest.raises(
        SetupError, match="to run the network there, found RuntimeError: no kernel image is available;"
    ):
        make()
