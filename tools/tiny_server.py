"""An OpenAI-compatible server with a tiny random model, to try a judge's plumbing without weights, GPU or key.

    python tools/tiny_server.py --port 8000

The model is two layers of random weights over the pictures' brightness and the words' letters. It answers in the form
that a judge is asked for, and **its scores mean nothing**: a real model takes its place by the address alone.
"""

import argparse
import base64
import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import cv2
import numpy as np

NAME = "tiny-random"
#: A question shows the tags that it is to be answered in.
TAG = re.compile(r"<(\w+)>([^<]*)</\1>")
SCORES = ("0", "1", "2")
#: What is said where the words are not free.
WORDS = {"change_identified": "yes"}


class TinyRandom:
    """Reads up to eight pictures and all words; the same question gets the same answer."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.first, self.second = rng.normal(size=(128 + 32, 64)), rng.normal(size=(64, 3 * 16))

    def answer(self, pictures: list[np.ndarray], words: str) -> str:
        seen = np.zeros((8, 16))
        for row, picture in zip(seen, pictures, strict=False):
            row[:] = cv2.resize(picture, (4, 4), interpolation=cv2.INTER_AREA).mean(-1).ravel() / 255 - 0.5
        letters = np.bincount(np.frombuffer(words.encode(), np.uint8) % 32, minlength=32) / max(len(words), 1)
        drawn = np.tanh(np.concatenate([seen.ravel(), letters]) @ self.first) @ self.second
        chosen = [SCORES[i] for i in drawn.reshape(16, 3).argmax(1)]
        tags = dict.fromkeys(tag for tag, _ in TAG.findall(words) if tag != "thinking")
        scored = iter(chosen)
        return "\n".join(
            f"<{tag}>{next(scored, '0') if tag.endswith('_score') else WORDS.get(tag, 'drawn at random')}</{tag}>"
            for tag in tags
        )


class Handler(BaseHTTPRequestHandler):
    """``GET /v1/models`` and ``POST /v1/chat/completions``."""

    model = TinyRandom()

    def do_GET(self) -> None:
        self._send({"object": "list", "data": [{"id": NAME, "object": "model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        pictures, words = read(asked["messages"])
        text = self.model.answer(pictures, words)
        usage = {"prompt_tokens": len(words) // 4, "completion_tokens": len(text) // 4}
        usage["total_tokens"] = sum(usage.values())
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        self._send(
            {
                "id": "tiny",
                "object": "chat.completion",
                "created": 0,
                "model": NAME,
                "choices": [choice],
                "usage": usage,
            }
        )

    def _send(self, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Says nothing of each request."""


def read(messages: list[dict[str, Any]]) -> tuple[list[np.ndarray], str]:
    """The pictures and the words of a question."""
    pictures, words = [], []
    for message in messages:
        content = message["content"]
        for part in [{"text": content}] if isinstance(content, str) else content:
            if "text" in part:
                words.append(part["text"])
            elif "image_url" in part:
                data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                pictures.append(cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR))
    return pictures, "\n".join(words)


def serve(port: int = 0) -> ThreadingHTTPServer:
    """A server on loopback; port 0 takes a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=8000)
    server = serve(parser.parse_args().port)
    print(
        f"{NAME} (random weights: its scores mean nothing) on http://localhost:{server.server_port}/v1",
        flush=True,
    )
    server.serve_forever()
