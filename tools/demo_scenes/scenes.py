"""The demo scenes by name."""

from .specs import scene

SCENES = {
    "rural_day_01": scene(
        "rural",
        "day",
        11,
        "right",
        profile=(0.0, 0.0, 0.0),
        lead=62,
        fence="post",
        signs=(("speed", "45", 34, -5.6),),
    ),
    "residential_day_01": scene("residential", "day", 12, busy=1, hedges=(1,)),
    "urban_morning_01": scene(
        "urban",
        "morning",
        13,
        lead=60,
        junction=46,
        zebra=True,
        signs=(("street", "MAPLE ST", 58, -9.9),),
        busy=2,
    ),
    "freeway_clear_01": scene("freeway", "clear", 14, "sweep_left", lead=70),
    "forest_overcast_01": scene(
        "forest", "overcast", 15, "in_right", lead=45, rail=((-50, 120, 1),), delineators=True
    ),
    "street_wet_01": scene("street", "wet", 16, lead=38, crossings=(34,), wet=0.55, busy=2),
    "rural_low_sun_01": scene(
        "rural", "low_sun", 17, "left", azimuth=35, soil="golden", fence="wire", trees=("oak", "oak", "scrub")
    ),
    "residential_dusk_01": scene("residential", "dusk", 18, lead=40),
    "highway_day_01": scene(
        "highway",
        "day",
        19,
        "sweep_right",
        lead=75,
        median="rail",
        signs=(("guide", "EXIT 24/Mill Road", 74, -11.5),),
    ),
    "arterial_overcast_01": scene("arterial", "overcast", 20, lead=48, junction=62, busy=2),
    "lane_day_01": scene(
        "lane", "day", 21, "bend_left", v=10.5, trees=("oak", "poplar", "shrub"), count=160, season="autumn"
    ),
    "freeway_wet_01": scene("freeway", "wet", 22, "sweep_right", lead=55, wet=0.45, soil="green"),
    "rural_overcast_02": scene(
        "rural",
        "overcast",
        31,
        "ess",
        lead=52,
        soil="green",
        rail=((20, 150, 1),),
        signs=(("warn", ">", 40, -5.4),),
    ),
    "residential_morning_02": scene(
        "residential", "morning", 32, "sweep_left", lead=44, season="autumn", hedges=(1, -1)
    ),
    "urban_overcast_02": scene("urban", "overcast", 33, lead=66, junction=52, zebra=True, low=True, busy=2),
    "freeway_morning_02": scene("freeway", "morning", 34, "left", lead=80, hills=3.2, age=0.8),
    "street_day_02": scene("street", "day", 35, lead=52, crossings=(44,), tree="oak", tree_step=16.0, busy=2),
    "forest_day_02": scene(
        "forest",
        "day",
        36,
        "ess",
        trees=("pine", "pine", "spruce"),
        lead=58,
        signs=(("speed", "40", 28, -5.3),),
    ),
    "highway_low_sun_02": scene("highway", "low_sun", 37, "sweep_left", lead=82, azimuth=150.0, hills=2.6),
    "rural_junction_03": scene(
        "rural",
        "day",
        38,
        lead=70,
        junction=48,
        soil="green",
        trees=("oak", "poplar", "shrub"),
        extra=(("pickup", "grey", -9.2, -1.75, None, 1, "side"),),
        signs=(("street", "COUNTY RD 9", 40, -6.0),),
    ),
    "arterial_day_02": scene("arterial", "day", 39, "sweep_right", lead=57, busy=2),
    "lane_overcast_02": scene(
        "lane", "overcast", 40, "right", v=12.0, fence="post", fence_sides=(-1, 1), poles=False, count=120
    ),
    "residential_wet_03": scene("residential", "wet", 41, lead=42, wet=0.4, busy=2),
    "rural_fog_04": scene(
        "rural", "fog", 42, "sweep_left", lead=46, soil="green", v=15.0, fence="wire", count=150
    ),
    "urban_dusk_03": scene("urban", "dusk", 43, lead=58, junction=64, zebra=True, busy=2),
    "freeway_overcast_03": scene("freeway", "overcast", 44, "sweep_right", lead=66, soil="green", count=140),
    "street_low_sun_03": scene("street", "low_sun", 45, lead=48, azimuth=22.0, elevation=12),
    "rural_golden_05": scene(
        "rural",
        "clear",
        46,
        "in_left",
        lead=68,
        soil="golden",
        hills=2.4,
        fence="wire",
        barns=((70, 34, -1.4),),
    ),
    "highway_overcast_03": scene("highway", "overcast", 47, "in_right", lead=60, soil="mixed", median="rail"),
    "residential_clear_04": scene(
        "residential", "clear", 48, "bend_right", v=8.0, poles=False, tree="oak", hedges=(-1,)
    ),
    "forest_wet_03": scene(
        "forest", "wet", 49, "left", wet=0.35, lead=50, rail=((-50, 160, -1),), delineators=True
    ),
    "arterial_dusk_03": scene("arterial", "dusk", 50, lead=52, junction=70, state="green", busy=2),
    "rural_winter_06": scene(
        "rural",
        "overcast",
        51,
        "right",
        lead=0,
        soil="forest",
        trees=("bare", "bare", "spruce"),
        homes=True,
        age=0.9,
    ),
    "lane_low_sun_03": scene(
        "lane",
        "low_sun",
        52,
        "in_right",
        v=11.5,
        azimuth=75.0,
        soil="green",
        trees=("oak", "poplar"),
        count=170,
    ),
    "urban_clear_04": scene(
        "urban", "clear", 53, lead=54, busy=2, gap=0.3, junction=88, zebra=True, profile=(1.0, -1.0, -2.5)
    ),
    "street_overcast_04": scene("street", "overcast", 54, "sweep_right", lead=44, low=True, gap=0.4, busy=1),
    "freeway_low_sun_04": scene(
        "freeway", "low_sun", 55, "sweep_left", lead=75, azimuth=-120.0, soil="mixed"
    ),
    "residential_day_05": scene(
        "residential",
        "day",
        56,
        "sweep_right",
        lead=50,
        junction=58,
        signs=(("stop", "STOP", 47, -8.8),),
        busy=2,
    ),
    "forest_morning_04": scene(
        "forest",
        "morning",
        57,
        "right",
        lead=62,
        trees=("oak", "oak", "pine"),
        season="autumn",
        count=560,
        azimuth=-50.0,
    ),
    "rural_dusk_07": scene("rural", "dusk", 58, "left", lead=48, soil="mixed", fence="post", homes=True),
    "highway_clear_04": scene(
        "highway",
        "clear",
        59,
        "in_left",
        lead=90,
        hills=3.0,
        signs=(("guide", "NORTH 101/Lakeside", 82, -11.5),),
    ),
    "arterial_wet_04": scene("arterial", "wet", 60, "sweep_left", lead=47, wet=0.5, busy=1),
    "lane_clear_04": scene(
        "lane",
        "clear",
        61,
        "ess",
        v=11.0,
        soil="golden",
        hills=2.2,
        fence="wire",
        trees=("oak", "scrub", "scrub"),
    ),
    "urban_wet_05": scene("urban", "wet", 62, lead=50, wet=0.5, junction=60, zebra=True, busy=2),
    "residential_overcast_06": scene(
        "residential", "overcast", 63, lead=0, crossings=(38,), busy=1, hedges=(1, -1)
    ),
    "street_dusk_05": scene("street", "dusk", 64, lead=40, crossings=(52,), busy=2),
    "rural_morning_08": scene(
        "rural",
        "morning",
        65,
        "sweep_right",
        lead=58,
        soil="green",
        fence="post",
        barns=((62, -30, 1.5),),
        count=140,
    ),
    "freeway_day_05": scene(
        "freeway", "day", 66, "sweep_right", lead=72, soil="green", count=120, age=0.2, tone=0.06
    ),
    "highway_wet_05": scene(
        "highway", "wet", 67, "sweep_left", lead=58, wet=0.45, soil="green", median="rail"
    ),
    "forest_clear_05": scene(
        "forest",
        "clear",
        68,
        "bend_left",
        v=12.5,
        trees=("pine", "spruce", "spruce"),
        rail=((-60, 140, -1),),
        hills=2.5,
    ),
    "residential_low_sun_07": scene(
        "residential", "low_sun", 69, "sweep_left", lead=46, azimuth=165.0, elevation=11, season="autumn"
    ),
    "urban_day_06": scene("urban", "day", 70, "sweep_left", lead=62, tree="oak", tree_step=18.0, busy=1),
    "rural_clear_09": scene(
        "rural",
        "clear",
        71,
        "straight",
        lead=88,
        soil="golden",
        hills=0.6,
        trees=("scrub", "scrub", "oak"),
        count=60,
        fence="wire",
        profile=(-0.6, 0.5, 0.8),
    ),
    "arterial_low_sun_05": scene(
        "arterial", "low_sun", 72, lead=60, azimuth=-35.0, elevation=13, junction=84
    ),
    "lane_wet_05": scene(
        "lane", "wet", 73, "left", v=11.0, wet=0.3, soil="green", trees=("oak", "oak", "poplar"), count=200
    ),
    "street_clear_06": scene(
        "street",
        "clear",
        74,
        "sweep_left",
        lead=46,
        junction=56,
        zebra=True,
        signals=False,
        signs=(("stop", "STOP", 45, -7.2),),
    ),
    "freeway_dusk_06": scene("freeway", "dusk", 75, "sweep_left", lead=62, soil="mixed"),
    "rural_wet_10": scene("rural", "wet", 76, "in_right", lead=54, wet=0.4, soil="green", homes=True, v=16.0),
    "residential_fog_08": scene("residential", "fog", 77, lead=0, v=8.0, haze=170, busy=2),
    "highway_morning_06": scene(
        "highway", "morning", 78, "sweep_right", lead=70, soil="mixed", season="autumn", count=120
    ),
    "urban_low_sun_07": scene(
        "urban", "low_sun", 79, lead=70, azimuth=-18.0, elevation=14, low=True, gap=0.35, busy=2
    ),
    "rural_day_11": scene(
        "rural",
        "day",
        80,
        "in_left",
        lead=60,
        junction=72,
        soil="mixed",
        fence="post",
        trees=("oak", "spruce", "shrub"),
        extra=(("suv", "white", 8.9, 1.75, None, -1, "side"),),
    ),
    "street_morning_07": scene(
        "street", "morning", 81, lead=0, crossings=(58,), season="autumn", busy=2, azimuth=40.0
    ),
    "forest_low_sun_06": scene(
        "forest",
        "low_sun",
        82,
        "sweep_right",
        azimuth=60.0,
        elevation=14,
        lead=55,
        count=520,
        trees=("oak", "pine", "oak"),
    ),
    "arterial_clear_06": scene("arterial", "clear", 83, "sweep_left", lead=64, junction=58, busy=1),
    "residential_day_09": scene(
        "residential", "day", 84, "bend_left", v=7.5, season="autumn", tree="oak", busy=2, junction=92
    ),
}
