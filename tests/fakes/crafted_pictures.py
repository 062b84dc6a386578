"""Pictures, and what only looks like one, made byte by byte or with Pillow."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import pytest

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 128, 0), (0, 0, 255), (255, 255, 255)
SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj <<>> endobj\n%%EOF\n"
HEIC = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(64)


def pillow() -> Any:
    """Pillow's Image, or a skipped test where it is not installed."""
    return pytest.importorskip("PIL.Image")


def quarters(width: int = 40, height: int = 20) -> Any:
    """A picture of four colours: red, green above; blue, white below."""
    image = pillow().new("RGB", (width, height), RED)
    image.paste(GREEN, (width // 2, 0, width, height // 2))
    image.paste(BLUE, (0, height // 2, width // 2, height))
    image.paste(WHITE, (width // 2, height // 2, width, height))
    return image


def png_of(width: int, height: int, data: bytes) -> bytes:
    """A PNG, eight bits of grey, whose header says what it likes."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, chunks))


def png_with_text(inflated: int) -> bytes:
    """A PNG of one pixel with a compressed comment that would fill memory."""
    packed = zlib.compress(bytes(inflated), 9)
    whole = png_of(1, 1, zlib.compress(b"\0\0"))
    comment = _chunk((b"zTXt", b"Comment\0\0" + packed))
    return whole[:33] + comment + whole[33:]


def save(path: Path, image: Any = None, **settings: Any) -> Path:
    """Save a picture, that of four colours unless another is given."""
    (quarters() if image is None else image).save(path, **settings)
    return path


def exif_with(orientation: int) -> Any:
    exif = pillow().Exif()
    exif[0x0112] = orientation
    return exif


def _chunk(chunk: tuple[bytes, bytes]) -> bytes:
    kind, data = chunk
    check = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + check
