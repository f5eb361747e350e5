"""The colours of each kind of animal: linear albedo over its body, pale below and darker above."""

import numpy as np
from body.beast import DARK, Beast, Colour, ramp
from body.beasts import BOAR, HORSE
from body.parts import Rgb, blend
from body.sdf import Array, noise
from body.skeleton import turn

WHITE: Rgb = (0.62, 0.57, 0.5)


def _plain(p: Array, rgb: Rgb, vary: float = 0.2, scale: float = 5.0, seed: int = 0) -> Array:
    """One colour, mottled."""
    return np.tile(np.array(rgb, np.float32), (len(p), 1)) * (1 + vary * noise(p * scale, seed))[:, None]


def _step(x: Array, start: float, end: float) -> Array:
    """0 at start, 1 at end, in between straight."""
    return np.clip((x - start) / (end - start), 0, 1)


def _inner(p: Array, n: Array) -> Array:
    """Weight (n,) of what faces the animal's middle: the inside of legs."""
    return _step(-n[:, 1] * np.sign(p[:, 1]), 0.0, 0.6)


def _nose(beast: Beast, p: Array, rgb: Array, start: float = 0.93) -> Array:
    return blend(rgb, _step(beast.along_head(p), start, start + 0.04), DARK)


def deer(beast: Beast, seed: int) -> Colour:
    """Grey-brown in winter, darker along the back, with white throat, belly, rump and muzzle."""
    knots: list[tuple[float, Rgb]] = [
        (0.0, (0.062, 0.043, 0.03)),
        (0.2, (0.1, 0.068, 0.045)),
        (0.5, (0.115, 0.08, 0.055)),
        (0.68, (0.105, 0.076, 0.055)),
        (0.82, (0.07, 0.052, 0.038)),
        (0.9, (0.042, 0.032, 0.025)),
        (1.0, (0.09, 0.066, 0.048)),
        (1.5, (0.085, 0.062, 0.045)),
    ]

    def colour(p: Array, n: Array) -> Array:
        x, z = p[:, 0], p[:, 2]
        t, _, up = beast.head_axes(p).T
        head = (beast.along_head(p) > 0.05) & (up > -0.2)
        rgb = (
            ramp(z, knots)
            * (1 + 0.25 * noise(p * (4, 6, 7), seed) + 0.22 * noise(p * (13, 20, 20), seed + 1))[:, None]
        )
        body = (x < 0.42) & (z > 0.3) & (z < 0.95)
        belly = _step(-n[:, 2] + 0.15 * noise(p * 8, seed + 2), 0.35, 0.8) * body * (z > 0.5)
        groin = _inner(p, n) * _step(z, 0.34, 0.5) * (z < 0.72) * (x < 0.4)
        behind = np.hypot(x + 0.58, 0.75 * (z - 0.7)) + 0.04 * noise(p * 8, seed)
        rump = _step(0.17 - behind, 0.0, 0.04)
        throat = ~head * (n[:, 0] > 0.45) * (x > 0.45) * _step(z, 0.93, 0.98) * 0.85
        rgb = blend(rgb, np.maximum.reduce([belly * 0.9, groin * 0.75, rump, throat]), WHITE)
        rgb = blend(rgb, head * _step(up, 0.02, 0.05) * _step(-t, -0.6, -0.4) * 0.4, (0.13, 0.085, 0.055))
        rgb = blend(rgb, head * _step(-up, 0.005, 0.03) * _step(t, 0.1, 0.3) * 0.85, WHITE)
        rgb = blend(rgb, head * _step(t, 0.72, 0.8) * (t < 0.9) * 0.7, WHITE)
        ear = beast.on_ear(p)
        rgb = blend(rgb, ear * _step(n[:, 0], 0.1, 0.4) * 0.8, (0.5, 0.42, 0.36))
        rgb = blend(rgb, ear * _step(-n[:, 0], 0.0, 0.4) * 0.7, (0.13, 0.1, 0.08))
        tail = (x < -0.55) & (z < 0.85)
        rgb = blend(rgb, tail * _step(-n[:, 0], 0.2, 0.5) * 0.8, (0.13, 0.085, 0.055))
        return _nose(beast, p, rgb, 0.92)

    return colour


def labrador(beast: Beast, seed: int) -> Colour:
    """Fox-red, its back and neck bleached by the sun, its ears and all that faces down or inwards darker."""
    back_and_down = np.array([[0.8, 0, -0.6], [0, 1, 0], [0.6, 0, 0.8]])

    def colour(p: Array, n: Array) -> Array:
        x, z = p[:, 0], p[:, 2]
        locks = noise(p @ back_and_down.T * (12, 60, 60), seed + 1)
        rgb = _plain(p, (0.29, 0.122, 0.042), 0.14, 6, seed)
        rgb = rgb * (1 + 0.3 * locks + 0.12 * noise(p * (9, 16, 22), seed + 3))[:, None]
        above = _step(n[:, 2] + 0.3 * noise(p * 7, seed + 2), 0.1, 0.8) * (z > 0.2)
        rgb = blend(rgb, above, (0.42, 0.225, 0.095))
        rgb = blend(rgb, (n[:, 0] > 0.3) * (x > 0.2) * (z < 0.5) * 0.6, (0.4, 0.21, 0.09))
        below = np.maximum(_step(-n[:, 2], 0.0, 0.7) * (z > 0.25), _inner(p, n) * _step(0.46 - z, 0.0, 0.1))
        rgb = blend(rgb, below * 0.85, (0.11, 0.042, 0.016))
        rgb = blend(rgb, beast.on_ear(p) * 0.8, (0.16, 0.06, 0.022))
        return _mouth(beast, p, rgb)

    return colour


def _mouth(beast: Beast, p: Array, rgb: Array) -> Array:
    """Dark lips along the lower edge of the muzzle, and dark within an open jaw."""
    (x, z), (x2, z2) = beast.jaw[0][:2], beast.jaw[-1][:2]
    pivot = np.array([beast.neck[-1][0], 0, 0])
    q = (p - pivot) @ turn((0, 0, beast.look)) + pivot
    t = (q[:, 0] - x) / (x2 - x)
    above = q[:, 2] - (z + (z2 - z) * t)
    lips = (t > 0.35) & (t < 1.25) & (above > 0.008) & (above < 0.022 + 0.032 * np.clip(t, 0, 1))
    return blend(rgb, (lips & (beast.along_head(p) > 0)) * 0.9, (0.06, 0.03, 0.028))


def shepherd(beast: Beast, seed: int) -> Colour:
    """Tan with a black saddle and a dark mask."""
    tan: Rgb = (0.36, 0.19, 0.08)
    pale: Rgb = (0.6, 0.46, 0.3)

    def colour(p: Array, n: Array) -> Array:
        x, z, t = p[:, 0], p[:, 2], beast.along_head(p)
        ragged = 0.025 * noise(p * 9, seed)
        ends = 0.3 * np.clip(x - 0.16, 0, None) + 0.5 * np.clip(-x - 0.27, 0, None)
        rgb = _plain(p, tan, 0.12, 7, seed)
        rgb = blend(rgb, np.maximum(_step(-n[:, 2], 0.1, 0.6) * 0.7, _step(0.28 - z, 0.0, 0.12) * 0.7), pale)
        rgb = blend(rgb, _inner(p, n) * (z < 0.4) * 0.6, pale)
        rgb = blend(rgb, (n[:, 0] > 0.3) * (x > 0.2) * (z < 0.55) * (z > 0.3) * 0.6, pale)
        saddle = _step(z - 0.4 - ragged - ends, 0.0, 0.05) * (t == 0) * (x < 0.33)
        tail = _step(-x, 0.36, 0.45) * 0.85 * (z > 0.2)
        rgb = blend(rgb, np.maximum(saddle * 0.95, tail), (0.022, 0.02, 0.019))
        rgb = blend(rgb, _step(t, 0.5, 0.72) * 0.93, (0.028, 0.025, 0.022))
        rgb = blend(rgb, beast.on_ear(p) * _step(-n[:, 0], -0.2, 0.3) * 0.8, (0.04, 0.033, 0.028))
        return _mouth(beast, p, rgb)

    return colour


def collie(beast: Beast, seed: int) -> Colour:
    """Black with a white blaze, collar, breast, legs and tip of the tail."""

    def colour(p: Array, n: Array) -> Array:
        x, z, t = p[:, 0], p[:, 2], beast.along_head(p)
        _, left, up = beast.head_axes(p).T
        ragged = 0.02 * noise(p * 9, seed)
        rgb = _plain(p, (0.024, 0.022, 0.021), 0.2, 7, seed)
        low = np.where(x > 0, 0.33, 0.2) + ragged
        collar = (np.abs(x + 0.55 * (z - 0.55) - 0.25 + ragged) < 0.05) & (t == 0)
        breast = (n[:, 0] > 0.1 + 8 * ragged) & (x > 0.2) & (z < 0.56) & (t == 0)
        muzzle = (t > 0.62) | (t > 0.05) & (np.abs(left) < 0.016) & (up > 0)
        belly = (n[:, 2] < -0.5 + 8 * ragged) & (z < 0.45) & (t == 0)
        white = (z < low) | collar | breast | muzzle | belly | (x < -0.52 + ragged)
        rgb = blend(rgb, white * 0.96, (0.68, 0.65, 0.6))
        return _mouth(beast, p, blend(rgb, beast.on_ear(p) * 0.95, (0.024, 0.022, 0.021)))

    return colour


def cat(beast: Beast, seed: int, back: Rgb, stripe: Rgb, white: float) -> Colour:
    """A striped cat, its face, breast and belly white, and its legs as far up as `white` (metres)."""

    def colour(p: Array, n: Array) -> Array:
        x, z = p[:, 0], p[:, 2]
        wave = np.sin(x * 150 + 3.5 * noise(p * 14, seed)) + 0.7 * noise(p * 24, seed + 2)
        ring = np.sin(z * 190 + 1.5 * noise(p * 20, seed))
        limb = (x < -0.23) | (z < 0.13)
        rgb = _plain(p, back, 0.2, 12, seed)
        rgb = blend(rgb, _step(np.where(limb, ring, wave), 0.0, 0.9) * 0.6, stripe)
        rgb = blend(
            rgb, _step(z, 0.215, 0.235) * (np.abs(p[:, 1]) < 0.014) * (x > -0.2) * (x < 0.14) * 0.8, stripe
        )
        low = white + 0.02 * noise(p * 13, seed + 1)
        _, left, up = beast.head_axes(p).T
        face = (beast.along_head(p) > 0.3) & (up < 0.005 + 0.03 * (np.abs(left) < 0.008))
        breast = (x > 0.14) & (n[:, 0] > 0.15) & (z < 0.24) & (z > 0.1)
        belly = _step(-n[:, 2], 0.2, 0.5) * (z > 0.1) * (x > -0.2)
        pale = np.maximum.reduce([_step(low - z, 0, 0.01), face * 1.0, breast * 1.0, belly]) * (
            (x > -0.24) | (z < 0.15)
        )
        rgb = blend(rgb, pale * 0.95, WHITE)
        return blend(rgb, beast.on_ear(p) * _step(n[:, 0], 0.3, 0.6) * 0.6, (0.42, 0.28, 0.23))

    return colour


#: Hide of each kind of cattle: its middle, and where the sun has bleached its back. None is near black: a herd has to
#: come apart before a dark wood and against the light.
HIDES: dict[str, tuple[Rgb, Rgb]] = {
    "patched": ((0.075, 0.036, 0.02), (0.12, 0.064, 0.036)),
    "red": ((0.19, 0.07, 0.03), (0.27, 0.12, 0.056)),
    "tan": ((0.29, 0.175, 0.092), (0.4, 0.27, 0.16)),
}


def cow(beast: Beast, kind: str, seed: int) -> Colour:
    """A brown cow with white patches and dark stripes in the brown, a red one with a white face, or a tan one with dark
    points and a pale ring about its muzzle; white feet on the first two."""
    hide, bleached = HIDES[kind]

    def colour(p: Array, n: Array) -> Array:
        x, z, t = p[:, 0], p[:, 2], beast.along_head(p)
        ragged = 0.08 * noise(p * 5, seed) + 0.03 * noise(p * 17, seed)
        rgb = _plain(p, hide, 0.3, 4, seed) * (1 + 0.25 * noise(p * (9, 14, 20), seed + 1))[:, None]
        rgb = blend(rgb, _step(n[:, 2] + 4 * ragged, 0.3, 1.0) * 0.8, bleached)
        below = np.maximum(_step(-n[:, 2], 0.2, 0.9) * (z > 0.5), _inner(p, n) * _step(0.85 - z, 0.0, 0.2))
        rgb *= (1 - 0.35 * below)[:, None]
        _, left, up = beast.head_axes(p).T
        face = t > (0.22 if kind == "red" else 0.5) + ragged
        low = z < 0.4 + 0.9 * ragged
        breast = (x > 0.6) & (n[:, 0] > 0.45) & (z < 0.95 + ragged)
        belly = (n[:, 2] < -0.72 + 2 * ragged) & (z < 0.8)
        crest = (x > 0.45) & (x < 1.0) & (n[:, 2] > 0.55 + 2 * ragged) & (t == 0)
        white = (face | low | belly | breast | crest) & (kind == "red")
        if kind == "patched":
            stripes = np.sin(x * 34 + 6 * noise(p * (3, 3, 1.5), seed + 7)) + 0.8 * noise(p * 12, seed + 8)
            rgb = blend(rgb, _step(stripes, 0.1, 0.8) * 0.7, (0.042, 0.026, 0.018))
            blaze = (t > 0.08) & (np.abs(left) < 0.05 + 0.3 * ragged) & (up > 0)
            patch = (noise(p * (2.0, 1.7, 1.7), seed + 5) + ragged > 0.02) & (x < 0.75) & (t == 0)
            muzzle = (face & (t < 0.85)) & (np.abs(left) < 0.07)
            white = muzzle | blaze | low | belly | patch | (x < -0.97) & (z < 0.6)
        rgb = blend(rgb, white * 0.95, (0.56, 0.52, 0.46))
        rgb = blend(rgb, beast.on_ear(p), hide)
        rgb = blend(rgb, _step(0.4 - z, 0, 0.35) * (0.45 + 0.4 * noise(p * 9, seed)), (0.15, 0.115, 0.085))
        if kind == "tan":
            points = np.maximum(_step(0.62 - z, 0.0, 0.3) * 0.6, _step(t, 0.15, 0.6) * 0.65)
            rgb = blend(rgb, points, (0.085, 0.055, 0.036))
            rgb = blend(rgb, _step(t, 0.76, 0.84) * 0.85, (0.5, 0.44, 0.36))
        return blend(rgb, _step(t, 0.9, 0.96), (0.07, 0.05, 0.045) if kind == "tan" else (0.22, 0.13, 0.11))

    return colour


def sheep(beast: Beast, face: Rgb, seed: int) -> Colour:
    """Cream wool, dirty below; face and legs bare."""

    def colour(p: Array, n: Array) -> Array:
        wool = _plain(p, (0.66, 0.6, 0.5), 0.14, 5, seed)
        wool = blend(
            wool, _step(0.6 - p[:, 2], 0, 0.25) * (0.5 + 0.4 * noise(p * 6, seed)), (0.42, 0.35, 0.26)
        )
        bare = np.maximum(1.0 * (beast.along_head(p) > 0.12), _step(0.34 - p[:, 2], 0, 0.04))
        return blend(wool, np.maximum(bare, beast.on_ear(p)), face)

    return colour


def horse(coat: Rgb, points: Rgb, seed: int) -> Colour:
    """Dappled, dark along its back, paler at belly and flanks; legs, muzzle and dock like `points`; a white blaze."""
    warm: Rgb = (coat[0] * 1.7, coat[1] * 1.95, coat[2] * 2.1)

    def colour(p: Array, n: Array) -> Array:
        x, z = p[:, 0], p[:, 2]
        t, left, up = HORSE.head_axes(p).T
        head = HORSE.along_head(p)
        rgb = _plain(p, coat, 0.3, 3.5, seed) * (1 + 0.22 * noise(p * (7, 11, 16), seed + 1))[:, None]
        barrel = _step(z, 0.85, 1.05) * (x < 0.5) * _step(1.42 - z, 0.0, 0.12)
        rgb *= (1 + 0.5 * barrel * (_step(noise(p * 17, seed + 2), -0.1, 0.3) - 0.5))[:, None]
        below = np.maximum(_step(-n[:, 2], 0.1, 0.8), _inner(p, n) * _step(0.95 - z, 0.0, 0.2))
        rgb = blend(rgb, below * (z > 0.6) * (head == 0) * 0.75, warm)
        flank = np.exp(-(((x + 0.27) / 0.13) ** 2) - ((z - 0.98) / 0.13) ** 2)
        elbow = np.exp(-(((x - 0.3) / 0.1) ** 2) - ((z - 0.9) / 0.1) ** 2)
        rgb = blend(rgb, (flank + elbow) * 0.5, warm)
        back = _step(n[:, 2] + 0.25 * noise(p * 6, seed + 3), 0.35, 0.95) * (z > 1.2)
        rgb = blend(rgb, back * 0.65, (coat[0] * 0.5, coat[1] * 0.5, coat[2] * 0.5))
        ragged = 0.06 * noise(p * (12, 12, 4), seed)
        rgb = blend(rgb, _step(0.66 + ragged - z, 0, 0.16) * 0.96, points)
        rgb = blend(rgb, (x < -0.87) * (z > 1.1) * (n[:, 2] > -0.6) * 0.95, points)
        sock = (z < 0.24 + 0.5 * ragged) & (x < 0) & (p[:, 1] > 0)
        blaze = (t > 0.1) & (t < 0.9) & (np.abs(left) < 0.026 + 0.3 * ragged) & (up > 0) & (head > 0)
        rgb = blend(rgb, (blaze | sock) * 0.95, (0.56, 0.51, 0.45))
        rgb = blend(rgb, _step(0.25 - z, 0, 0.25) * (0.12 + 0.3 * noise(p * 9, seed)), (0.15, 0.12, 0.09))
        rgb = blend(rgb, HORSE.on_ear(p) * _step(n[:, 0], 0.2, 0.6) * 0.6, DARK)
        return blend(rgb, _step(head, 0.8, 0.95) * 0.85, DARK)

    return colour


def boar(young: bool, seed: int) -> Colour:
    """Grey-brown bristles, darkest on legs and ears; the young are striped."""

    def colour(p: Array, n: Array) -> Array:
        rgb = _plain(p, (0.2, 0.125, 0.065) if young else (0.075, 0.06, 0.047), 0.3, 5, seed)
        z = p[:, 2]
        if young:
            band = (np.sin(z * 62 + 0.8 * noise(p * 6, seed)) > 0.2) & (z > 0.42) & (p[:, 0] < 0.45)
            rgb = blend(rgb, band * 0.85, (0.46, 0.34, 0.2))
        else:
            t, _, up = BOAR.head_axes(p).T
            head = BOAR.along_head(p) > 0
            grizzle = _step(noise(p * (3, 6, 6), seed + 2), -0.3, 0.5) * _step(z, 0.35, 0.55)
            rgb = blend(rgb, grizzle * 0.8, (0.17, 0.135, 0.1))
            rgb = blend(rgb, _step(z, 0.66, 0.76) * ~head * 0.85, (0.05, 0.04, 0.033))
            rgb = blend(rgb, _step(0.44 - z, 0, 0.14) * ~head * 0.9, (0.028, 0.023, 0.02))
            rgb = blend(rgb, head * _step(t, 0.25, 0.4) * (up < 0.03) * 0.75, (0.26, 0.21, 0.16))
            rgb = blend(rgb, head * _step(up, 0.0, 0.06) * 0.7, (0.05, 0.04, 0.032))
        rgb = blend(rgb, BOAR.on_ear(p) * 0.6, (0.04, 0.03, 0.025))
        return blend(rgb, _step(BOAR.along_head(p), 0.93, 0.97), (0.11, 0.075, 0.065))

    return colour
