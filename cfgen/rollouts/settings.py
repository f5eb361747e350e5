"""The tuned numbers of rollouts, in one place: unit, what each was tuned on, what changes when it moves."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FollowingSettings:
    """When a plan follows a trace that was swapped; by the words of the papers' vocabulary."""

    #: m/s, or share of the speed at t0: a plan that gets as slow as this stops
    standing_mps: float = 0.7
    stopping_share: float = 0.3
    #: m/s, or share of the speed at t0: a plan that ends no slower by more keeps its speed
    keeps_mps: float = 2.0
    keeps_share: float = 0.15
    #: m aside from where the lane goes: half a change of lanes
    aside_m: float = 1.0
    #: m, mean distance: two plans nearer than this cannot show which of them is followed
    telling_m: float = 0.5


FOLLOWING = FollowingSettings()
