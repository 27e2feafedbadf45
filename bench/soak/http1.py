"""As much of HTTP/1.1 as both sides of a soak need, over asyncio streams; strict, so that a stray byte is seen."""
import asyncio
import re

HEAD_LIMIT = 1 << 16
STREAM_LIMIT = 1 << 18
_FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([^\r\n]*)\r\n")


class Malformed(Exception):
    """Bytes that are no message: never excused."""


class CutOff(Exception):
    """The connection ended inside a message."""


class Head:
    def __init__(self, first, fields):
        self.first, self.fields = first, fields

    def get(self, name, default=""):
        return self.fields.get(name, default)


def parse_head(text):
    line, _, rest = text.partition(b"\r\n")
    fields, place = {}, 0
    while rest[place:place + 2] != b"\r\n":
        field = _FIELD.match(rest, place)
        if not field:
            raise Malformed("head: %r" % text[:200])
        fields[field[1].decode().lower()] = field[2].decode("latin-1").strip()
        place = field.end()
    return Head(line.decode("latin-1"), fields)


async def read_head(reader):
    """The next head, or None where the connection ended before one began."""
    try:
        return parse_head(await reader.readuntil(b"\r\n\r\n"))
    except EOFError as end:
        if getattr(end, "partial", b""):
            raise CutOff("inside a head") from end
        return None
    except (OSError, asyncio.LimitOverrunError) as end:
        raise CutOff(str(end)) from end


async def read_exactly(reader, size):
    try:
        return await reader.readexactly(size)
    except (EOFError, OSError) as end:
        raise CutOff("inside a body") from end


async def read_body(reader, head, take):
    """Calls take(piece) for each piece of the body."""
    if head.get("transfer-encoding") == "chunked":
        while True:
            try:
                line = await reader.readuntil(b"\r\n")
            except (EOFError, OSError) as end:
                raise CutOff("inside a chunked body") from end
            if not re.fullmatch(rb"[0-9a-fA-F]+(;[^\r\n]*)?\r\n", line):
                raise Malformed("chunk size: %r" % line[:80])
            size = int(line.split(b";")[0], 16)
            piece = await read_exactly(reader, size + 2)
            if piece[-2:] != b"\r\n":
                raise Malformed("chunk end: %r" % piece[-2:])
            if size == 0:
                return
            take(piece[:-2])
    left = int(head.get("content-length", "0"))
    while left:
        try:
            piece = await reader.read(min(left, STREAM_LIMIT))
        except OSError as end:
            raise CutOff("inside a body") from end
        if not piece:
            raise CutOff("inside a body")
        left -= len(piece)
        take(piece)
