"""Cross-sections of the kinds of place: lanes, lines, kerbs, land."""

# fmt: off
PLACES = {  # pavement edges (t, m), the ego's lane, lane centres, lines as (t, kind), and the kit's own numbers
    "rural": {
        "left": 4.1, "right": -4.1, "ego_t": -1.75, "lanes": (-1.75, 1.75),
        "lines": ((0.11, "yy"), (-0.11, "yy"), (3.45, "w"), (-3.45, "w")), "soil": "mixed",
        "hills": 1.0,
    },
    "lane": {
        "left": 3.3, "right": -3.3, "ego_t": -1.6, "lanes": (-1.6, 1.6), "lines": ((0.0, "yd"),),
        "soil": "green", "hills": 0.8,
    },
    "residential": {
        "left": 5.2, "right": -5.2, "ego_t": -1.75, "lanes": (-1.75, 1.75), "lines": (),
        "soil": "lawn", "kerb": True, "strip": 1.6, "walk": 1.5, "built": 8.0, "hills": 0.15,
        "flat": 40.0, "ridges": ((700, 40, (0.05, 0.07, 0.04)),),
    },
    "urban": {
        "left": 9.2, "right": -9.2, "ego_t": -1.75, "lanes": (-5.0, -1.75, 1.75, 5.0),
        "lines": ((0.11, "yy"), (-0.11, "yy"), (3.4, "wd"), (-3.4, "wd"), (6.9, "w"), (-6.9, "w")),
        "soil": "lawn", "kerb": True, "walk": 3.6, "built": 4.0, "yards": False, "hills": 0.05,
        "flat": 60.0, "ridges": (),
    },
    "street": {
        "left": 6.0, "right": -6.0, "ego_t": -1.75, "lanes": (-1.75, 1.75),
        "lines": ((0.11, "yy"), (-0.11, "yy"), (3.75, "w"), (-3.75, "w")), "soil": "lawn",
        "kerb": True, "walk": 3.0, "built": 3.4, "yards": False, "hills": 0.05, "flat": 60.0,
        "ridges": (),
    },
    "arterial": {
        "left": 8.9, "right": -8.9, "ego_t": -3.5, "lanes": (-3.5, -7.0, 3.5, 7.0),
        "lines": ((1.65, "yy"), (1.85, "yy"), (-1.65, "yy"), (-1.85, "yy"), (5.25, "wd"), (-5.25, "wd")),
        "soil": "lawn", "kerb": True, "strip": 2.0, "walk": 1.8, "built": 9.0, "hills": 0.3,
        "flat": 45.0,
    },
    "highway": {
        "left": 5.2, "right": -6.8, "ego_t": -1.85, "lanes": (-1.85, 1.8),
        "lines": ((3.65, "y"), (0.0, "wd"), (-3.65, "w")), "soil": "golden",
        "hills": 1.8, "flat": 16.0, "beyond": 10.5,
    },
    "freeway": {
        "left": 7.4, "right": -9.6, "ego_t": -0.2, "lanes": (3.5, -0.2, -3.9),
        "lines": ((5.35, "y"), (1.65, "wd"), (-2.05, "wd"), (-5.75, "w")), "soil": "golden",
        "hills": 2.4, "flat": 14.0, "beyond": 13.5,
    },
    "forest": {
        "left": 4.0, "right": -4.0, "ego_t": -1.75, "lanes": (-1.75, 1.75),
        "lines": ((0.11, "yy"), (-0.11, "yy"), (3.45, "w"), (-3.45, "w")), "soil": "forest",
        "hills": 1.6, "edge": 1.4,
    },
}
# fmt: on
