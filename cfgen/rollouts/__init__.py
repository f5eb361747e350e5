"""What planners are asked: inputs, interventions, exports."""
