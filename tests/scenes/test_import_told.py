"""What an import tells: speeds from poses, and a contact sheet of what it made."""

import cv2
import numpy as np

from cfgen.scenes.contact_sheet import write_contact_sheet
from cfgen.scenes.drive import raised, speeds_of
from cfgen.scenes.importing import import_scenes, size_of
from tests.scenes.test_scene_import import _Source, drive


def test_noise_of_poses_that_lie_a_nanosecond_apart_is_no_speed():
    """Poses at the times of several sensors, as logs of Argoverse 2 and nuScenes have them, a centimetre off."""
    rng = np.random.default_rng(0)
    t = np.sort(
        np.concatenate([np.arange(0, 16, 0.05), np.arange(0, 16, 0.01), np.arange(0, 16, 0.05) + 1e-9])
    )
    t = np.unique(t)
    truth = 8.0 + 2.0 * np.sin(0.5 * t)  # up to 1 m/s²
    flat = np.column_stack([8.0 * t - 4.0 * np.cos(0.5 * t), np.zeros((len(t), 2))])
    flat[:, :2] += rng.normal(0, 0.01, (len(t), 2))
    found = speeds_of(t, raised(flat))
    assert np.abs(found - truth)[5:-5].max() < 0.3
    assert np.abs(found - truth).mean() < 0.06
    sparse = slice(None, None, 60)  # keyframes at 2 Hz and less
    assert np.abs(speeds_of(t[sparse], raised(flat[sparse])) - truth[sparse])[1:-1].max() < 0.1


def test_an_import_ends_with_a_contact_sheet_of_what_can_be_read(tmp_path):
    found = import_scenes(_Source(drive()), tmp_path, 1.0, quiet=True)
    assert size_of(found.folders) == sum(f.stat().st_size for f in tmp_path.rglob("*") if f.is_file())
    (found.folders[0] / "scene.json").write_text("{")
    assert write_contact_sheet(found.folders, tmp_path / "sheet.jpg") == len(found.folders) - 1
    sheet = cv2.imread(str(tmp_path / "sheet.jpg"))
    high, wide = sheet.shape[0] // -(-(len(found.folders) - 1) // 4), 400
    first = sheet[: high - 22, :wide].astype(int)
    teal = (first[..., 1] - first[..., 2] > 60).nonzero()  # BGR
    # 1 m to each side of a camera 1.5 m above a straight road: the corridor narrows upwards
    assert np.ptp(teal[1][teal[0] > np.quantile(teal[0], 0.8)]) > 2 * np.ptp(
        teal[1][teal[0] < np.quantile(teal[0], 0.2)]
    )
    assert write_contact_sheet([found.folders[0]], tmp_path / "none.jpg") == 0
    assert not (tmp_path / "none.jpg").exists()
