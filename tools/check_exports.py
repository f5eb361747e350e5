"""Whether Label Studio's own package reads what cfgen writes for it.

Usage, in an environment with that package (cfgen need not be there):

    pip install label-studio-sdk
    python tools/check_exports.py RATINGS.json
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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("Label Studio:", label_studio(Path(sys.argv[1])))
