"""Draws the five pictures of `late_train`: ours, and small enough to be kept.

python examples/pictures/draw.py [FOLDER]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

from PIL import Image, ImageDraw

SIZE = (400, 300)
BLACK, WHITE, GREY = (25, 25, 25), (250, 250, 245), (120, 120, 125)


def draw_clock(pen: ImageDraw.ImageDraw) -> None:
    """A round clock on a wall."""
    pen.ellipse((110, 60, 290, 240), fill=WHITE, outline=BLACK, width=8)
    for hour in range(12):
        x, y = math.cos(hour * math.pi / 6), math.sin(hour * math.pi / 6)
        mark = (200 + 70 * x, 150 + 70 * y, 200 + 80 * x, 150 + 80 * y)
        pen.line(mark, fill=BLACK, width=4)
    pen.line((200, 150, 200, 90), fill=BLACK, width=4)
    pen.line((200, 150, 245, 170), fill=BLACK, width=6)


def draw_stop_sign(pen: ImageDraw.ImageDraw) -> None:
    """A stop sign on its post, by a meadow."""
    pen.rectangle((0, 220, 400, 300), fill=(90, 110, 70))
    pen.rectangle((196, 150, 204, 300), fill=GREY)
    for radius, colour in ((80, WHITE), (75, (190, 20, 30))):
        turns = [math.pi / 8 + part * math.pi / 4 for part in range(8)]
        edge = [(200 + radius * math.cos(a), 120 + radius * math.sin(a)) for a in turns]
        pen.polygon(edge, fill=colour)
    pen.text((140, 95), "STOP", fill=WHITE, font_size=50)


def draw_traffic_light(pen: ImageDraw.ImageDraw) -> None:
    """Three lamps, of which the red one is lit."""
    pen.rectangle((194, 200, 206, 300), fill=GREY)
    pen.rounded_rectangle((160, 30, 240, 210), radius=14, fill=BLACK)
    for top, colour in ((42, (235, 40, 40)), (98, (70, 60, 20)), (154, (20, 60, 30))):
        pen.ellipse((176, top, 224, top + 48), fill=colour)


def draw_umbrella(pen: ImageDraw.ImageDraw) -> None:
    """A red umbrella in the rain."""
    for drop in range(40):
        x, y = (drop * 97) % 400, (drop * 61) % 300
        pen.line((x, y, x - 4, y + 14), fill=(150, 170, 200), width=2)
    pen.pieslice((70, 60, 330, 280), 180, 360, fill=(200, 30, 50), outline=(120, 10, 30), width=3)
    for left in (70, 157, 243):
        pen.ellipse((left, 155, left + 87, 185), fill=(170, 185, 205))
    for edge in (157, 243):
        pen.line((200, 60, edge, 168), fill=(120, 10, 30), width=3)
    pen.line((200, 156, 200, 240), fill=BLACK, width=6)
    pen.arc((172, 220, 202, 258), 0, 180, fill=BLACK, width=6)


def draw_train(pen: ImageDraw.ImageDraw) -> None:
    """A train at a platform, seen from its side."""
    pen.rectangle((0, 240, 400, 300), fill=(130, 120, 110))
    pen.rounded_rectangle((20, 90, 420, 235), radius=30, fill=(30, 90, 160))
    pen.rectangle((20, 180, 400, 192), fill=(240, 200, 40))
    for left in (60, 130, 270, 340):
        pen.rectangle((left, 115, left + 50, 160), fill=(190, 220, 235), outline=BLACK, width=3)
    pen.rectangle((200, 112, 250, 232), fill=(220, 225, 230), outline=BLACK, width=3)
    for left in (60, 120, 290, 350):
        pen.ellipse((left, 222, left + 34, 256), fill=BLACK, outline=GREY, width=5)


SCENES = (
    (draw_clock, (200, 190, 170)),
    (draw_stop_sign, (140, 180, 220)),
    (draw_traffic_light, (175, 200, 225)),
    (draw_umbrella, (170, 185, 205)),
    (draw_train, (190, 210, 225)),
)


def main() -> None:
    """Draw all of them, numbered."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "late_train"
    folder.mkdir(parents=True, exist_ok=True)
    for number, (draw, colour) in enumerate(SCENES, 1):
        image = Image.new("RGB", SIZE, colour)
        draw(ImageDraw.Draw(image))
        image.quantize(64).save(folder / f"{number}.png", optimize=True)


if __name__ == "__main__":
    main()
