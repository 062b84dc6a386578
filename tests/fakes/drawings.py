"""Pictures that tests draw and real models know: a stop sign, a clock on a wall."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pytest

from fabula.core.model import Picture


def draw_stop_sign() -> Picture:
    """A red octagon on a post; it takes the pixels 120 to 275 across and 42 to 196 down."""
    image, pen = _canvas((140, 180, 220))
    pen.rectangle((0, 220, 400, 300), fill=(90, 110, 70))
    pen.rectangle((196, 150, 204, 300), fill=(120, 120, 120))
    for radius, colour in ((80, (255, 255, 255)), (75, (190, 20, 30))):
        turns = [math.pi / 8 + part * math.pi / 4 for part in range(8)]
        edge = [(200 + radius * math.cos(a), 120 + radius * math.sin(a)) for a in turns]
        pen.polygon(edge, fill=colour)
    pen.text((140, 95), "STOP", fill=(255, 255, 255), font_size=50)
    return to_picture(image, "stop.png")


def draw_clock() -> Picture:
    """A round clock; it takes the pixels 110 to 290 across and 60 to 240 down."""
    image, pen = _canvas((200, 190, 170))
    pen.ellipse((110, 60, 290, 240), fill=(250, 250, 245), outline=(20, 20, 20), width=8)
    for hour in range(12):
        x, y = math.cos(hour * math.pi / 6), math.sin(hour * math.pi / 6)
        mark = (200 + 70 * x, 150 + 70 * y, 200 + 80 * x, 150 + 80 * y)
        pen.line(mark, fill=(0, 0, 0), width=4)
    pen.line((200, 150, 200, 90), fill=(0, 0, 0), width=4)
    pen.line((200, 150, 245, 170), fill=(0, 0, 0), width=6)
    return to_picture(image, "clock.png")


def to_picture(image: Any, name: str = "drawn.png") -> Picture:
    """A picture of Pillow's as ours, without a file."""
    pixels = np.array(image)
    digest = hashlib.sha256(pixels.tobytes()).hexdigest()
    return Picture(name, image.width, image.height, digest, pixels)


def _canvas(colour: tuple[int, int, int]) -> tuple[Any, Any]:
    image = pytest.importorskip("PIL.Image").new("RGB", (400, 300), colour)
    return image, pytest.importorskip("PIL.ImageDraw").Draw(image)
