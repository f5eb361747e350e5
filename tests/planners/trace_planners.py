"""Planners for interventions: one plans from its reasoning, one from the image alone."""

from cfgen.planners.baselines import constant_turn, stopping_path, write_text
from cfgen.planners.protocol import Requirements


class _Base:
    needs = Requirements(accepts_trace=True)

    def plan(self, observations):
        return [self.one(o) for o in observations]

    def sees_something(self, observation) -> bool:
        """Orange in the picture: what the tests' hazards are painted in."""
        pixels = observation.images["front"][-1].pixels.astype(int)
        orange = (pixels[..., 0] > pixels[..., 2] + 45) & (pixels[..., 0] > pixels[..., 1] + 25)
        return bool(orange.sum() > 25)

    def path(self, observation, stop: bool, aside: bool = False):
        speed, yaw_rate = observation.speed, observation.yaw_rate
        path = (
            stopping_path(speed, yaw_rate / max(speed, 1.0), 25.0) if stop else constant_turn(speed, yaw_rate)
        )
        if aside:
            path[:, 1] += 3.7 * path[:, 0] / path[-1, 0]
        return path


class Mediated(_Base):
    """Acts on what it (or the trace it is given) says."""

    def one(self, observation):
        given = observation.trace
        if given is None:
            stop = self.sees_something(observation)
            action, words = (
                ("stop", "It brakes for the works.") if stop else ("set speed tracking", "The way is free.")
            )
            return write_text("A road.", words, action, "lane keeping", self.path(observation, stop))
        action = given.longitudinal or ("stop" if "brake" in given.justification else "set speed tracking")
        path = self.path(observation, action == "stop", given.lateral == "lane change left")
        return write_text(given.scene, given.justification, action, given.lateral or "lane keeping", path)


class Rationalizing(_Base):
    """Acts on the image and repeats whatever it is told to say."""

    def one(self, observation):
        given = observation.trace
        stop = self.sees_something(observation)
        action, words = (
            ("stop", "It brakes for the works.") if stop else ("set speed tracking", "The way is free.")
        )
        path = self.path(observation, stop)
        if given is None:
            return write_text("A road.", words, action, "lane keeping", path)
        return write_text(given.scene, given.justification, given.longitudinal, given.lateral, path)
