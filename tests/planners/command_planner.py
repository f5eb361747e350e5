"""A ``cmd:`` planner for the tests: its first argument says how it misbehaves."""

import json
import os
import sys
import time

mode = sys.argv[1]
print("ready to " + mode, file=sys.stderr)
for line in sys.stdin:
    question = json.loads(line)
    if question.get("ask") == "needs":
        if mode == "mute":
            sys.exit(4)
        needs = {"cameras": []} if mode != "greedy" else {"wheels": 4}
        print(json.dumps({"needs": needs | ({} if mode == "greedy" else {"frame_times": []})}), flush=True)
        continue
    answer = {"id": question["id"], "waypoints": [[k * question["speed"] * 0.25, 0] for k in range(1, 25)]}
    if mode == "hang":
        time.sleep(3600)
    if mode == "exit" and question["id"] == "b":
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(9)
    if mode == "half":
        sys.stdout.write('{"id": "a", "way')
        sys.stdout.flush()
        os._exit(0)
    if mode == "noise":
        print("loading...")
    if mode == "wrong-id":
        answer["id"] = "z"
    if mode == "error":
        answer = {"id": question["id"], "error": "no GPU"}
    print(json.dumps(answer), flush=True)
