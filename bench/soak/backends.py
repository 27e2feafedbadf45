"""The chaos pool of a soak: inference servers that answer every request right, or fail it and remember that.

usage: python3 -m bench.soak.backends CONTROL_SOCKET BACKENDS SEED

Backend 0 never fails. The others fail a share of what they get, in every phase, and are now and then gone for a while.
CONTROL_SOCKET is a Unix socket: the line "ports" gives their ports; "fate TAG SECONDS" what was done to a request ("-": nothing;
"unread": nothing, but a backend died in the last SECONDS and may not have read what it was sent; "crossed": it met
bytes on their way that nobody asked for, which nothing tells from its answer); "calm" makes all of them good from then
on; "faults" counts them.
"""
import asyncio
import collections
import fcntl
import json
import random
import sys
import termios
import time

from . import http1, payload

FAULT_SHARE = 0.06
GONE_EVERY, GONE_FOR = 8.0, 1.0  # seconds, means
STALL = 3.0
CROSSING = 0.1  # seconds in which a request may have been sent before unasked bytes arrived
FATES_KEPT = 200_000
SURPLUS = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
REFUSAL = b"HTTP/1.1 %s\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nbusy"
PROBES = ("/metrics", "/v1/models", "/props", "/slots", "/get_server_info", "/ping")
# Before an answer, inside it, and after it. Only the last leave the request itself unharmed.
EARLY = ("reset", "close", "stall", "garbage", "bad_head", "half_head")
INSIDE = ("cut_reset", "cut_close", "cut_stall")
HARMLESS = ("refuse_503", "refuse_429", "surplus", "late_surplus", "close_after", "slow", "interim")


class Drop(Exception):
    """Ends the connection as the fault wants it."""


def is_idle(reader, writer):
    """Nothing of a next request is here. Bytes sent after it came are its answer for anybody who can only read."""
    if writer.transport.is_closing():
        return False
    waiting = fcntl.ioctl(writer.get_extra_info("socket").fileno(), termios.FIONREAD, bytes(4))
    return not any(waiting) and not reader._buffer


class Pool:
    def __init__(self, count, seed):
        self.random = random.Random(seed)
        self.fates = collections.OrderedDict()
        self.counts = collections.Counter()
        self.is_calm = False
        self.last_death = -1e9
        self.backends = [Backend(self, i) for i in range(count)]

    def mark(self, tag, fate):
        self.counts[fate] += 1
        self.fates[tag] = fate
        if len(self.fates) > FATES_KEPT:
            self.fates.popitem(last=False)

    async def control(self, reader, writer):
        try:
            await self.talk(reader, writer)
        except OSError:
            pass  # a killed client's
        writer.close()

    async def talk(self, reader, writer):
        while line := (await reader.readline()).decode().split():
            if line[0] == "ports":
                reply = " ".join(str(backend.port) for backend in self.backends)
            elif line[0] == "fate":
                is_near = time.monotonic() - self.last_death < float(line[2])
                reply = self.fates.get(line[1], "unread" if is_near else "-")
            elif line[0] == "calm":
                self.is_calm = True
                reply = "calm"
            else:
                reply = json.dumps(self.counts)
            writer.write(reply.encode() + b"\n")


class Backend:
    def __init__(self, pool, number):
        self.pool, self.number, self.port, self.server = pool, number, 0, None
        self.open = {}  # writer -> tag of the request in hand, or None
        self.surplus = {}  # writer -> when it got bytes that nobody asked for
        self.cached = set()

    async def listen(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", self.port, backlog=1024,
                                                 limit=http1.STREAM_LIMIT)
        self.port = self.server.sockets[0].getsockname()[1]

    async def come_and_go(self):
        """Now and then the process dies and comes back with an empty cache; meanwhile connecting is refused."""
        while self.number:
            await asyncio.sleep(self.pool.random.expovariate(1 / GONE_EVERY))
            if self.pool.is_calm:
                return
            self.server.close()
            self.pool.last_death = time.monotonic()
            for writer, tag in list(self.open.items()):
                if tag:
                    self.pool.mark(tag, "restart")
                writer.transport.abort()
            self.cached.clear()
            await asyncio.sleep(self.pool.random.uniform(0.1, 2 * GONE_FOR))
            await self.listen()

    async def serve(self, reader, writer):
        self.open[writer] = None
        try:
            while head := await http1.read_head(reader):
                if await self.answer(reader, writer, head) == "end":
                    break
        except Drop as drop:
            if drop.args[0] == "reset":
                writer.transport.abort()
        except (http1.CutOff, OSError):
            pass
        finally:
            self.open.pop(writer, None)
            self.surplus.pop(writer, None)
            writer.close()

    async def answer(self, reader, writer, head):
        method, target, _ = head.first.split(" ", 2)
        path = target.split("?")[0]
        if path == "/health" or path in PROBES:
            writer.write(b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n" % (b"200 OK" if path == "/health" else b"404 No"))
            return "next"
        tag = head.get("x-soak-tag", "none")
        self.open[writer] = tag
        if time.monotonic() - self.surplus.pop(writer, -CROSSING) < CROSSING:
            self.pool.mark(tag, "crossed")
            raise Drop("reset")  # or the next request would get this one's answer
        fault = self.choose_fault()
        if fault in EARLY or fault in INSIDE:
            self.pool.mark(tag, fault)
        elif fault:
            self.pool.counts[fault] += 1
        if fault in ("reset", "close") and self.pool.random.random() < 0.5:
            raise Drop(fault)  # with the body still on its way
        body = bytearray()
        await http1.read_body(reader, head, body.extend)
        if payload.checksum(body) != head.get("x-soak-sum", payload.checksum(b"")):
            self.pool.mark(tag, "corrupted")
            return await self.send(reader, writer, None, [b"HTTP/1.1 418 Corrupted\r\nContent-Length: 0\r\n\r\n"])
        await self.fail_early(writer, fault)
        if fault in ("refuse_503", "refuse_429"):
            status = b"503 Service Unavailable" if fault == "refuse_503" else b"429 Too Many Requests"
            return await self.send(reader, writer, fault, [REFUSAL % status])
        return await self.send(reader, writer, fault, self.pieces(method, path, head, tag, bytes(body)))

    def choose_fault(self):
        dice = self.pool.random
        if self.number == 0 or self.pool.is_calm or dice.random() >= FAULT_SHARE:
            return None
        return dice.choice(EARLY + INSIDE + HARMLESS)

    async def fail_early(self, writer, fault):
        if fault == "stall":
            await asyncio.sleep(STALL)
            raise Drop("reset")
        sent = {"garbage": b"\x00\xffnot HTTP at all\r\n\r\n" * 20, "bad_head": b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
                "half_head": b"HTTP/1.1 200 OK\r\nContent-Le"}.get(fault)
        if sent:
            writer.write(sent)
            await writer.drain()
            raise Drop("close")
        if fault in ("reset", "close"):
            raise Drop(fault)
        if fault == "interim":
            writer.write(b"HTTP/1.1 102 Processing\r\n\r\n")

    async def send(self, reader, writer, fault, pieces):
        cut = self.pool.random.randrange(1, len(pieces)) if fault in INSIDE and len(pieces) > 1 else None
        if fault in INSIDE and cut is None:
            pieces, cut = [pieces[0][:-1], b""], 1
        for i, piece in enumerate(pieces):
            if i == cut:
                await writer.drain()
                if fault == "cut_stall":
                    await asyncio.sleep(STALL)
                raise Drop("close" if fault == "cut_close" else "reset")
            writer.write(piece)
            await writer.drain()
            if fault == "slow" or len(pieces) > 4:
                await asyncio.sleep(0.02 if fault == "slow" else 0)
        self.open[writer] = None
        if fault == "late_surplus":
            await asyncio.sleep(self.pool.random.uniform(0, 0.05))
        if fault in ("surplus", "late_surplus") and is_idle(reader, writer):
            self.surplus[writer] = time.monotonic()
            writer.write(SURPLUS)
        return "end" if fault == "close_after" else "next"

    def pieces(self, method, path, head, tag, body):
        """The right answer, cut where a fault may cut it: what payload.py says, with the request's tag."""
        size = int(head.get("x-soak-size", "0"))
        fields = b"X-Soak-Tag: %s\r\n" % tag.encode()
        if path.endswith("/chat/completions"):
            return self.chat(fields, tag, size, json.loads(body))
        if method == "HEAD":
            return [b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n" % (fields, size)]
        if path == "/upload":
            size = len(body)
        whole = payload.noise(tag, size)
        parts = [whole[i:i + payload.BLOCK] for i in range(0, size, payload.BLOCK)]
        if head.get("x-soak-framing") == "chunked":
            return [b"HTTP/1.1 200 OK\r\n%sTransfer-Encoding: chunked\r\n\r\n" % fields,
                    *map(payload.chunk, parts), b"0\r\n\r\n"]
        return [b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n" % (fields, size), *parts]

    def chat(self, fields, tag, count, request):
        conversation = request["messages"][0]["content"]
        tokens = len(conversation) // 4
        told = payload.usage(tokens, tokens // 16 * 16 if conversation in self.cached else 0, count)
        self.cached.add(conversation)
        if not request.get("stream"):
            body = payload.chat_answer(tag, count, told)
            return [b"HTTP/1.1 200 OK\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                    % (fields, len(body)), body]
        head = b"HTTP/1.1 200 OK\r\n%sContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" % fields
        return [head, *map(payload.chunk, payload.chat_events(tag, count, told)), b"0\r\n\r\n"]


async def run(control, count, seed):
    pool = Pool(count, seed)
    for backend in pool.backends:
        await backend.listen()
    server = await asyncio.start_unix_server(pool.control, control)
    await asyncio.gather(server.serve_forever(), *(backend.come_and_go() for backend in pool.backends))


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
