"""The tuned numbers of known traces."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RoomSettings:
    """Where there is room beside the recorded way; tuned on sixteen cases of one real drive (Udacity HMB_3)."""

    #: m beside the recorded way up to which a car is as good as on it, and beyond which it is in another lane
    own_m: float = 0.7
    other_m: float = 2.2
    #: m ahead: nearer the car's own ground is out of the frame, farther a car is a few pixels
    nearest_m: float = 6.0
    farthest_m: float = 45.0
    #: share of the ground under the car that is seen as road, at every place that is looked at
    road: float = 0.75
    #: places that have to be seen
    least_places: int = 3
    #: m: half of a lane's width
    half_lane_m: float = 1.75
    #: m beside the car's way: what has its near side farther off stands plainly beside the lane
    beside_lane_m: float = 2.0


@dataclass(frozen=True)
class PoolSettings:
    """How known traces are drawn."""

    #: m beside the lane's middle while passing something, and after a change of lanes
    nudge_m: float = 1.9
    lane_change_m: float = 3.4
    #: for every known answer that is wanted; more find no more
    tries: int = 30
    #: known answers of either verdict about one edge that a case gives at most: more would say the same again
    most_per_case: int = 15
    #: donors drawn until one is as near or far as wanted
    donor_draws: int = 8
    #: of the drives, held out for a critic's test; splits drawn until one is balanced
    held_out: float = 0.25
    split_draws: int = 20
    #: of all words of two answers, shared by both: under it reasoning counts as changed, where nobody labelled it
    same_words: float = 0.5


ROOM = RoomSettings()
POOL = PoolSettings()
