"""The clients of a soak: mixed traffic through the router, every answer compared with what it must be, to the byte.

usage: python3 -m bench.soak.clients ROUTER_PORT CONTROL_SOCKET WORKERS SECONDS SEED PAUSE

PAUSE: seconds that each worker rests between two requests, on average.

Prints its report as JSON. A request that fails is excused only by what a backend did to it (bench.soak.backends).
"""
import asyncio
import collections
import json
import random
import socket
import struct
import sys
import time

from . import http1, payload

PATIENCE = 60
CONVERSATIONS = 300
RESET = struct.pack("ii", 1, 0)


class Wrong(Exception):
    """Bytes that are not this request's answer."""


class Unasked(Wrong):
    """Bytes that a backend sent although nobody asked."""


class Failed(Exception):
    """No whole answer: the router's own error, or a cut."""


class Request:
    """A request and what its answer must be."""

    def __init__(self, method, path, body=b"", fields=b"", size=0, framing="sized", kind=""):
        self.method, self.path, self.body, self.fields = method, path, body, fields
        self.size, self.framing, self.kind = size, framing, kind or path
        self.tag = "%016x" % random.getrandbits(64)

    def head(self, framing_field):
        return (b"%s %s HTTP/1.1\r\nHost: soak\r\nX-Soak-Tag: %s\r\nX-Soak-Sum: %s\r\nX-Soak-Size: %d\r\n"
                b"X-Soak-Framing: %s\r\n%s%s\r\n" % (
                    self.method.encode(), self.path.encode(), self.tag.encode(), payload.checksum(self.body).encode(),
                    self.size, self.framing.encode(), self.fields, framing_field))

    def pieces(self):
        if self.method in ("GET", "HEAD"):
            return [self.head(b"")]
        if self.framing == "chunked":
            parts = [self.body[i:i + payload.BLOCK] for i in range(0, len(self.body), payload.BLOCK)]
            return [self.head(b"Transfer-Encoding: chunked\r\n"), *map(payload.chunk, parts), b"0\r\n\r\n"]
        return [self.head(b"Content-Length: %d\r\n" % len(self.body)), self.body]

    def check(self, head, body):
        tag = head.get("x-soak-tag")
        if tag != self.tag:
            raise (Wrong if tag else Unasked)("%s: the answer's tag is %r" % (self.kind, tag))
        if self.kind == "stream":
            self.check_stream(body)
        elif self.kind == "chat":
            told = json.loads(body)
            if body != payload.chat_answer(self.tag, self.size, told["usage"]):
                raise Wrong("chat: %r" % body[:200])
        elif self.kind == "head":
            if body or head.get("content-length") != str(self.size):
                raise Wrong("head: %r" % body[:200])
        elif body != payload.noise(self.tag, len(self.body) if self.kind == "upload" else self.size):
            raise Wrong("%s: %d bytes, wrong ones" % (self.kind, len(body)))

    def check_stream(self, body):
        told = json.loads(body.rsplit(b"data: ", 2)[1])["usage"]
        if body != b"".join(payload.chat_events(self.tag, self.size, told)):
            raise Wrong("stream: %r" % body[-300:])


def chat(dice, is_streamed):
    conversation = "conversation %d " % dice.randrange(CONVERSATIONS)
    text = conversation * dice.choice((10, 60, 400))
    body = {"model": payload.MODEL, "messages": [{"role": "user", "content": text},
                                                 {"role": "user", "content": "%x" % dice.getrandbits(64)}]}
    if is_streamed:
        body.update(stream=True, stream_options={"include_usage": True})
    return Request("POST", "/v1/chat/completions", json.dumps(body).encode(), b"Content-Type: application/json\r\n",
                   dice.choice((3, 20, 120)), kind="stream" if is_streamed else "chat")


def upload(dice):
    body = payload.noise("%x" % dice.getrandbits(64), dice.choice((100, 100_000, 3_000_000)))
    return Request("POST", "/upload", body, b"Content-Type: multipart/form-data; boundary=soak\r\n",
                   framing=dice.choice(("sized", "chunked")), kind="upload")


def make(dice):
    kind = dice.choices(("chat", "stream", "upload", "small", "big", "head"), (30, 30, 6, 20, 4, 6))[0]
    if kind in ("chat", "stream"):
        return chat(dice, kind == "stream")
    if kind == "upload":
        return upload(dice)
    if kind == "head":
        return Request("HEAD", "/file", size=dice.randrange(1 << 20), kind="head")
    size = dice.randrange(2000) if kind == "small" else dice.randrange(1 << 20, 6 << 20)
    return Request("GET", "/file", size=size, framing=dice.choice(("sized", "chunked")), kind=kind)


class Line:
    """One connection to the router."""

    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port, limit=http1.STREAM_LIMIT)
        self.is_last = False
        return self

    async def send(self, request):
        try:
            for piece in request.pieces():
                self.writer.write(piece)
                await self.writer.drain()
        except OSError:
            pass  # the answer may be there even so

    async def answer(self, request):
        head = await http1.read_head(self.reader)
        if head is None:
            raise Failed("closed without an answer")
        status = head.first.split(" ")[1]
        while status.startswith("1"):
            head = await http1.read_head(self.reader)
            status = head.first.split(" ")[1] if head else "1"
        body = bytearray()
        if request.method != "HEAD":
            await http1.read_body(self.reader, head, body.extend)
        self.is_last = head.get("connection") == "close"
        if status == "418":
            raise Wrong("%s: the backend got a corrupted body" % request.kind)
        if status != "200":
            raise Failed("%s %s" % (status, bytes(body)))
        request.check(head, bytes(body))

    def close(self):
        self.writer.close()

    def reset(self):
        if not self.writer.transport.is_closing():
            self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.writer.transport.abort()


class Crowd:
    def __init__(self, port, control, seed, pause):
        self.port, self.control, self.seed, self.pause = port, control, seed, pause
        self.counts = collections.Counter()
        self.wrong, self.lost = [], []

    async def run(self, workers, seconds):
        self.end = time.monotonic() + seconds
        await asyncio.gather(*(self.work(random.Random(self.seed * 1000 + i)) for i in range(workers)))

    async def work(self, dice):
        line = None
        while time.monotonic() < self.end:
            if self.pause:
                await asyncio.sleep(dice.expovariate(1 / self.pause))
            if line is None or line.is_last or dice.random() < 0.15:
                if line:
                    line.close()
                line = await Line().open(self.port)
            act = dice.choices((self.ask, self.pipeline, self.leave), (85, 7, 8))[0]
            if not await act(line, dice):
                line.reset()
                line = None
        if line:
            line.close()

    async def ask(self, line, dice):
        request = make(dice)
        return await self.converse(line, [request], time.monotonic())

    async def pipeline(self, line, dice):
        """Requests sent before the answers are read, which must come in their order."""
        requests = [chat(dice, dice.random() < 0.5) for _ in range(dice.randrange(2, 6))]
        return await self.converse(line, requests, time.monotonic())

    async def converse(self, line, requests, began):
        """Whether the connection is good for more. An answer that ends it takes the requests behind it along."""
        sending = asyncio.ensure_future(self.send_all(line, requests))
        try:
            for i, request in enumerate(requests):
                self.counts["requests"] += 1
                await asyncio.wait_for(line.answer(request), PATIENCE)
                self.counts[request.kind] += 1
                if line.is_last:
                    self.counts["dropped_behind_last"] += len(requests) - i - 1
                    return len(requests) == i + 1
            return True
        except Unasked as unasked:
            if await self.fate(request, 0) != "crossed":
                self.wrong.append("%s %s: %r" % (request.tag, request.kind, unasked))
            else:
                self.counts["failed_by_crossed"] += 1
        except (Wrong, http1.Malformed, ValueError, KeyError, IndexError) as wrong:
            self.wrong.append("%s %s: %r" % (request.tag, request.kind, wrong))
        except (Failed, http1.CutOff, asyncio.TimeoutError) as failure:
            await self.judge(request, repr(failure), time.monotonic() - began + 1)
            return isinstance(failure, Failed) and len(requests) == 1 and not line.is_last
        finally:
            await sending
        return False

    @staticmethod
    async def send_all(line, requests):
        for request in requests:
            await line.send(request)

    async def fate(self, request, age):
        reader, writer = await asyncio.open_unix_connection(self.control)
        writer.write(b"fate %s %f\n" % (request.tag.encode(), age))
        fate = (await reader.readline()).decode().strip()
        writer.close()
        return fate

    async def judge(self, request, failure, age):
        fate = await self.fate(request, age)
        if fate == "-":
            self.lost.append("%s %s: %s" % (request.tag, request.kind, failure))
        else:
            self.counts["failed_by_" + fate] += 1

    async def leave(self, line, dice):
        """A client that goes in the middle: of its request, before or inside the answer; closing or resetting."""
        request = make(dice)
        pieces = request.pieces()
        self.counts["left"] += 1
        try:
            if dice.random() < 0.3:
                line.writer.write(b"".join(pieces)[:dice.randrange(1, 2000)])
            else:
                await line.send(request)
                if dice.random() < 0.7:
                    await asyncio.wait_for(line.reader.read(dice.randrange(1, 5000)), dice.random() / 2)
            await asyncio.sleep(dice.random() / 20)
        except (OSError, asyncio.TimeoutError):
            pass
        if dice.random() < 0.5:
            line.close()
            line.is_last = True
            return True
        return False


async def run(port, control, workers, seconds, seed, pause):
    crowd = Crowd(port, control, seed, pause)
    await crowd.run(workers, seconds)
    print(json.dumps({"counts": crowd.counts, "wrong": crowd.wrong, "lost": crowd.lost}))


if __name__ == "__main__":
    asyncio.run(run(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]),
                    float(sys.argv[6])))
