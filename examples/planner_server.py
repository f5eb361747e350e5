"""A planner behind HTTP, to copy from: ``python examples/planner_server.py 8100``. Keeps its speed."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply({"cameras": ["front"], "frame_times": [0.0], "max_pixels": 196608})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.reply({"answers": [self.plan(o) for o in body["observations"]]})

    def plan(self, o: dict) -> dict:
        points = [[o["speed"] * 0.25 * k, 0.0] for k in range(1, 25)]
        return {"id": o["id"], "text": "I keep my speed and my lane.", "waypoints": points}

    def reply(self, content: dict) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8100
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
