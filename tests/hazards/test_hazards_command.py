"""``cfgen list hazards``: what people see of the taxonomy."""

import cv2

from cfgen.build import _create_inpainters, _drawable_hazards
from cfgen.cli.main import main
from cfgen.hazards.taxonomy import load_taxonomy
from cfgen.options import BuildOptions


def test_list_names_every_entry_with_size_and_zones(capsys):
    assert main(["list", "hazards"]) == 0
    said = capsys.readouterr().out
    for entry in load_taxonomy():
        line = next(line for line in said.splitlines() if line.startswith(f"  {entry.id} "))
        assert f"{entry.size.length:g} x {entry.size.width:g} x {entry.size.height:g}" in line
        assert all(zone in line for zone in entry.zones)


def test_list_shows_own_hazards_beside_the_shipped_ones(tmp_path, capsys):
    mine = tmp_path / "mine.yaml"
    mine.write_text("hazards: {boar: {name: boars, size: {length: 1.5, width: 1, height: 1}}}")
    assert main(["list", "hazards", "--taxonomy", str(mine)]) == 0
    said = capsys.readouterr().out
    assert "\nOwn\n  boar " in said
    assert "\n  deer " in said
    assert main(["list", "hazards", "--taxonomy", str(mine), "--taxonomy-only"]) == 0
    assert "\n  deer " not in capsys.readouterr().out
    mine.write_text("hazards: {boar: {name: boars, sise: 1}}")
    assert main(["list", "hazards", "--taxonomy", str(mine)]) == 2
    said = capsys.readouterr().err
    assert "mine.yaml: boar: size: expected this field, found none; sise: unknown field (did you mean" in said


def test_what_nobody_recognizes_is_drawn_only_where_it_is_named(tmp_path, capsys):
    def drawn(*names):
        options = BuildOptions(tmp_path, hazards=names)
        return _drawable_hazards(options, _create_inpainters(options), load_taxonomy())[0]

    assert "cat" not in drawn()
    assert {"dog", "sheep_flock"} < {*drawn()}
    assert drawn("cat") == ["cat"]
    main(["list", "hazards", "cat"])
    assert "only where --hazards names it" in capsys.readouterr().out


def test_show_says_why_and_writes_the_thumbnail(tmp_path, capsys):
    png = tmp_path / "cones.png"
    assert main(["list", "hazards", "cone_line", "--png", str(png)]) == 0
    assert load_taxonomy().get("cone_line").why in capsys.readouterr().out
    picture = cv2.imread(str(png))
    assert picture.shape == (160, 160, 3)
    assert picture.std() > 8


def test_the_sheet_shows_what_has_sprites(tmp_path, capsys):
    png = tmp_path / "sheet.png"
    assert main(["list", "hazards", "--cluster", "Construction", "--png", str(png)]) == 0
    assert f"wrote {png}" in capsys.readouterr().out
    assert cv2.imread(str(png)).shape[1] == 8 * 168
