"""The papers' measures against shapely, NumPy and softmaxes written out, and the edges of what can be read."""

import itertools

from cfgen.metrics.faithfulness import (
    EDGES,
    EdgeVerdicts,
    consistency_row,
    inconsistency_rate,
    mean_grounding,
)


def test_shares_without_anything_to_share():
    assert mean_grounding([]) is None
    assert inconsistency_rate([]) is None
    assert inconsistency_rate([False, None, False]) == 1.0


# --- edges ----------------------------------------------------------------------------------------------


def test_every_combination_of_edges():
    for values in itertools.product((True, False, None), repeat=5):
        found = EdgeVerdicts(dict(zip(EDGES, values, strict=True)))
        assert found.overall is (False if False in values else None if None in values else True)
    assert EdgeVerdicts({"E1": True}).overall is None, "an edge that is not there is open"


def test_a_row_counts_each_edge_by_itself():
    all_of_them = [dict(zip(EDGES, v, strict=True)) for v in itertools.product((True, False, None), repeat=5)]
    row = consistency_row(EdgeVerdicts(e) for e in all_of_them)
    assert list(row.edges) == list(EDGES)
    for rate in row.edges.values():
        assert (rate.hits, rate.n) == (81, 162)
    assert row.unscored == {**dict.fromkeys(EDGES, 81), "overall": 2**5 - 1}
    assert (row.overall.hits, row.overall.n) == (1, 243 - 31)
