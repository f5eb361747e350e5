"""Whether Label Studio's and FiftyOne's own packages read what cfgen writes for them.

Usage, in an environment with those packages (cfgen need not be there):

    pip install label-studio-sdk fiftyone
    python tools/check_exports.py RATINGS.json FIFTYONE_FOLDER
"""

import csv
import json
import sys
import tempfile
from pathlib import Path

DIMENSIONS = ("reasoning", "waypoints", "overall")


def label_studio(file: Path) -> str:
    """The labelling interface takes every task and annotation; the converter gives back every score."""
    from label_studio_sdk.converter import Converter
    from label_studio_sdk.label_interface import LabelInterface

    config = file.with_suffix(".xml").read_text()
    interface, tasks = LabelInterface(config), json.loads(file.read_text())
    interface.validate()
    given = []
    for task in tasks:
        assert interface.validate_task({"data": task["data"]}), task
        for annotation in task["annotations"]:
            faults = interface._validate_object_logic(annotation)  # what validate_annotation finds, in words
            assert not faults, faults
            said = {r["from_name"]: r["value"] for r in annotation["result"]}
            given.append((task["data"]["item"], *(said[d]["choices"][0] for d in DIMENSIONS)))
    with tempfile.TemporaryDirectory() as folder:
        Converter(config, project_dir=None, download_resources=False).convert_to_csv(
            str(file), folder, is_dir=False, sep=",", header=True
        )
        found = [row for path in Path(folder).glob("*.csv") for row in csv.DictReader(path.open())]
    back = [(row["item"], *(row[d] for d in DIMENSIONS)) for row in found]
    assert sorted(back) == sorted(given), (back[:2], given[:2])
    return f"{len(tasks)} tasks, {len(given)} annotations"


NUMBERS = ("distance_m", "lateral_m", "required_decel")


def fiftyone(folder: Path) -> str:
    """FiftyOne's importer of a CSVDataset, without its database, gives both pictures of each case and its fields."""
    from fiftyone.utils.csv import CSVDatasetImporter

    rows = list(csv.DictReader((folder / "labels.csv").open()))
    fields = {name: float if name in NUMBERS else None for name in rows[0] if name != "filepath"}
    importer = CSVDatasetImporter(dataset_dir=str(folder), fields=fields)
    importer.setup()
    found = {Path(sample.filepath).name: sample for sample in importer}
    assert len(found) == len(rows), (len(found), len(rows))
    for row in rows:
        sample = found[row["filepath"]]
        assert Path(sample.filepath).read_bytes()[:4] == b"\x89PNG", sample.filepath
        for name in fields:
            assert sample[name] == (float(row[name]) if name in NUMBERS else row[name]), (name, sample)
    return f"{len(rows)} pictures, fields {', '.join(fields)}"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    print("Label Studio:", label_studio(Path(sys.argv[1])))
    print("FiftyOne:", fiftyone(Path(sys.argv[2])))
