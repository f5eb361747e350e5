"""One case from plan to record: placement, edit, gates, controls, masks."""
