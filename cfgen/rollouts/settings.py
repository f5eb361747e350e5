"""The tuned numbers of rollouts, in one place: unit, what each was tuned on, what changes when it moves."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FollowingSettings:
    """When a plan follows a trace that was swapped."""

    #: m, mean distance: two plans nearer than this cannot show which of them is followed
    telling_m: float = 0.5


FOLLOWING = FollowingSettings()
