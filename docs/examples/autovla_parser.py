"""AutoVLA's answers: ``<action_17><action_4>...``, each half a second of motion in a codebook of its own.

The codebook comes from AutoVLA's ``agent_vocab.pkl``; saved once, where that file may be trusted, as
``np.save("agent_vocab.npy", pickle.load(open("agent_vocab.pkl", "rb"))["token_all"]["veh"])``.
"""

import re

import numpy as np

#: (tokens, steps, 4 corners of the car, x and y), m, in the frame of the car before the step
CODEBOOK = "agent_vocab.npy"


def parse(answers, observation):
    text = list(answers.values())[-1]
    tokens = [int(number) for number in re.findall(r"<action_(\d+)>", text)]
    corners = np.load(CODEBOOK)[tokens][:, -1]  # where the car is at the end of each step
    x = y = theta = 0.0
    points = []
    for box in corners:
        turn = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
        box = box @ turn.T + (x, y)
        x, y = box.mean(0)
        theta = np.arctan2(*(box[0] - box[3])[::-1])  # from the left rear corner to the left front one
        points.append((x, y, theta))
    reasons = re.sub(r"<[^>]+>", " ", text).strip()
    return {"text": reasons, "waypoints": np.array(points), "t": 0.5 * np.arange(1, len(points) + 1)}
