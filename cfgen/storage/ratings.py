"""Where what people decided lies in a benchmark directory."""

from pathlib import Path

from cfgen.core.files import read_record, write_record
from cfgen.records import RatingFile, ReviewFile


class PeoplesRecords:
    """The part of :class:`cfgen.storage.store.Store` that raters and reviewers fill."""

    root: Path
    work: Path

    def rating_path(
        self, rater: str, planner: str, case_id: str, arm: str = "hazard", repeat: int = 0
    ) -> Path:
        which = "" if (arm, repeat) == ("hazard", 0) else f".{arm}.{repeat}"
        return self.root / "ratings" / rater / planner / f"{case_id}{which}.json"

    def campaign_log_path(self, campaign: str, rater: str) -> Path:
        return self.root / "campaigns" / campaign / f"{rater}.json"

    def edge_rating_path(
        self, rubric: str, rater: str, planner: str, case_id: str, arm: str, repeat: int = 0
    ) -> Path:
        return self.root / "edge_ratings" / rubric / rater / planner / f"{case_id}.{arm}.{repeat}.json"

    def review_path(self, rater: str, case_id: str) -> Path:
        return self.root / "reviews" / rater / f"{case_id}.json"

    def write_rating(self, file: RatingFile) -> None:
        path = self.rating_path(file.rater, file.planner, file.case_id, file.arm, file.repeat)
        write_record(path, file, self.work)

    def write_review(self, file: ReviewFile) -> None:
        write_record(self.review_path(file.rater, file.case_id), file, self.work)

    def rating_paths(self) -> list[Path]:
        return sorted(self.root.glob("ratings/*/*/*.json"))

    def ratings(self) -> list[RatingFile]:
        return [read_record(p, RatingFile) for p in self.rating_paths()]

    def reviews(self) -> list[ReviewFile]:
        return [read_record(p, ReviewFile) for p in sorted(self.root.glob("reviews/*/*.json"))]
