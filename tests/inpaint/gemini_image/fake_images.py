"""An image service on loopback: decodes the picture it is sent, draws what the words ask for, answers at its own size.

It knows no more than the real one does: the place comes out of the prompt.
"""

import base64
import io
import json
import re

import cv2
import numpy as np
from PIL import Image

from tests.judge.fake_gemini import FakeServer, Response

TOKENS = {"promptTokenCount": 800, "candidatesTokenCount": 1200}
ENDINGS = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
PLACE = r"from x=(\d+) to x=(\d+) and from y=(\d+) to y=(\d+)"


def pictures(request):
    """(H, W, 3) uint8 of each picture in a request."""
    parts = request.json["contents"][0]["parts"]
    data = [base64.urlsafe_b64decode(p["inlineData"]["data"]) for p in parts if "inlineData" in p]
    return [np.asarray(Image.open(io.BytesIO(d)).convert("RGB")) for d in data]


def prompt(request):
    return " ".join(p["text"] for p in request.json["contents"][0]["parts"] if "text" in p)


def draw(request, size=None, shift=(0.0, 0.0), tone=0.0):
    """The sent picture with a striped block in the rectangle that the words name, at another size, slightly off.

    Where a guide came along, that one is redrawn instead.
    """
    picture, *guide = (p.copy() for p in pictures(request))
    height, width = picture.shape[:2]
    if guide:
        picture = guide[0]
    elif found := re.search(PLACE, prompt(request)):
        x0, x1, y0, y1 = (int(v) / 1000 for v in found.groups())
        left, right, top, bottom = x0 * width, x1 * width, y0 * height, y1 * height
        for row, colour in enumerate([(250, 120, 10), (20, 20, 25)] * 3):
            rows = [round(top + share * (bottom - top) / 6) for share in (row, row + 1)]
            picture[rows[0] : rows[1], round(left) : round(right)] = colour
    high, wide = size or (height // 2, width // 2)
    moved = np.float64([[wide / width, 0, shift[0]], [0, high / height, shift[1]]])
    picture = cv2.warpAffine(
        picture, moved, (wide, high), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    grain = np.random.default_rng(0).normal(tone, 1.0, (64, 64, 3)).astype(np.float32)
    grain = np.tile(grain, (-(-high // 64), -(-wide // 64), 1))[:high, :wide]
    return np.clip(picture + grain + 0.5, 0, 255).astype(np.uint8)


def answer_with(picture, mime="image/png", finish="STOP", **counts):
    data = picture
    if not isinstance(picture, bytes):
        data = cv2.imencode(ENDINGS[mime], picture[..., ::-1])[1].tobytes()
    part = {"inlineData": {"mimeType": mime, "data": base64.b64encode(data).decode()}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": finish}
    body = {"candidates": [candidate], "usageMetadata": {**TOKENS, **counts}}
    return Response(json.dumps(body).encode())


def refusal(reason="IMAGE_SAFETY", words=""):
    candidate = {"finishReason": reason}
    if words:
        candidate["content"] = {"role": "model", "parts": [{"text": words}]}
    body = {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 800}}
    return Response(json.dumps(body).encode())


def blocked():
    return Response(b'{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}')


def opinion(added="an orange and black striped construction barrier", others=(), size="yes", place="yes"):
    found = {
        "added": added,
        "other_names": list(others),
        "size": size,
        "place": place,
        "why": "It stands there.",
    }
    parts = [{"text": json.dumps(found)}]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 600, "candidatesTokenCount": 60}
    return Response(json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode())


def is_critic(request):
    return "responseJsonSchema" in request.json.get("generationConfig", {})


def painted(request, number):
    """The plain good answer; a critic's question gets a plain good opinion."""
    return opinion() if is_critic(request) else answer_with(draw(request))


class ImageServer(FakeServer):
    """A :class:`FakeServer` that draws."""

    def __init__(self, answer=painted, **options):
        super().__init__(answer, **options)

    @property
    def asked(self):
        """The generate requests, in their order."""
        return [r for r in self.requests if "generateContent" in r.path]
