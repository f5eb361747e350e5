"""The tuned numbers of planners, in one place: unit, what each was tuned on, what changes when it moves."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """How long a planner is waited for; by experience with models that load for minutes and with servers on the way."""

    #: s to start, each time: 10 GB of weights from a slow disk
    startup_s: float = 900.0
    #: s, the most that may be asked for: a week
    most_s: float = 604_800.0
    #: s between two lines that say what is waited for
    heartbeat_s: float = 10.0
    #: s before the first retry; each one after it waits ``growth`` times longer, up to ``longest_pause_s``
    first_pause_s: float = 2.0
    growth: float = 4.0
    longest_pause_s: float = 32.0
    #: s; a planner that asks to be left alone for longer is asked again by then
    longest_retry_after_s: float = 60.0
    #: rounds of retries after which a planner that cannot be reached is given up
    rounds: int = 5
    #: questions in a row that retries did not mend, after which a question is asked once, until one is answered
    hopeless_after: int = 3


@dataclass(frozen=True)
class AnswerLimits:
    """What is read of an answer; larger ones cost memory, smaller ones cut what real planners write."""

    #: bytes beside its text
    besides_text: int = 32 * 2**20
    #: m: a car does not get farther than this in 6 s
    range_m: float = 1000.0
    #: rad: no car turns more often; more is none that was given, and taken from the path
    heading_rad: float = 1000.0
    #: share of the machine's memory that a planner may take unless told otherwise: more leaves too little for cfgen,
    #: less ends planners that would have run
    memory_share: float = 0.8
    #: bytes of a planner's stderr that are kept in a run's log
    log_bytes: int = 16 * 2**20
    #: remarks on its format that a plan keeps
    remarks: int = 20


@dataclass(frozen=True)
class ReactiveSettings:
    """The baseline that brakes for what does not look like road; tuned on the demo scenes' free and blocked lanes."""

    #: m along the path that are looked at, and the step
    nearest_m: float = 4.0
    farthest_m: float = 70.0
    step_m: float = 0.5
    #: spreads of the road's colour beyond which a cell differs; lower: brakes for shadows
    different: float = 4.0
    #: share of a row's cells that differ where it is blocked; lower: brakes for what stands beside the lane
    blocked_share: float = 0.3
    #: m of the path that an obstacle hides: so much must stay blocked; lower: brakes for paint
    hidden_m: float = 6.0
    #: m before the obstacle at which it stands, and m/s^2 of its hardest braking
    margin_m: float = 4.0
    max_brake: float = 7.0


@dataclass(frozen=True)
class LookingSettings:
    """When baselines without understanding brake: for a fifth of the demo's original frames, the network for half."""

    #: m/s^2 of their braking
    brake: float = 3.0
    #: rows and columns of the frame, as shares, in which the own lane lies
    rows: tuple[float, float] = (0.5, 0.85)
    columns: tuple[float, float] = (0.38, 0.62)
    #: share of edge pixels in the lane beyond which it brakes; lower: more often, as of all below
    edges: float = 0.05
    #: grey levels (0 to 255) between the lane's darkest and brightest twentieth
    brightness: float = 70.0
    #: spread of the lane's colours, in Lab units
    colors: float = 6.0
    #: the lane's mean saliency (Hou and Zhang 2007) over the frame's
    saliency: float = 0.75
    #: units of a layer, and its seed, of the network that nobody trained
    units: int = 32
    seed: int = 3


@dataclass(frozen=True)
class ScriptedSettings:
    """How scripted responders move: what a driver would do, so that the right scores follow by construction."""

    #: m: half the car's width, and what a driver leaves beside it
    half_car_m: float = 0.95
    gap_m: float = 0.8
    #: m between the origin under the rear axle and a standing object: the car's front and some room
    stop_short_m: float = 5.0
    #: s before it brakes, and m/s^2 of braking that comes too late
    reaction_s: float = 0.25
    hard_brake: float = 4.0


PATIENCE = Patience()
LIMITS = AnswerLimits()
LOOKING = LookingSettings()
REACTIVE = ReactiveSettings()
SCRIPTED = ScriptedSettings()

#: that a planner should beat: they do not look, or look without understanding
BASELINES = {
    "brightness": "Brightness",
    "colors": "Colors",
    "cruise": "Cruise",
    "edges": "Edges",
    "logged": "Logged",
    "random-network": "RandomNetwork",
    "reactive": "Reactive",
    "saliency": "Saliency",
}
