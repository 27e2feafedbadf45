"""A name server on loopback, over UDP and TCP, whose zone and behaviour a test changes while it runs."""
import ipaddress
import socket
import socketserver
import struct
import threading

TYPES = {"A": 1, "CNAME": 5, "AAAA": 28, "SRV": 33}
NAMES = {number: name for name, number in TYPES.items()}
RCODES = {"SERVFAIL": 2, "NXDOMAIN": 3, "REFUSED": 5}
MOST_OVER_UDP = 512


def encoded(name):
    labels = [label for label in name.rstrip(".").split(".") if label]
    return b"".join(bytes([len(label)]) + label.encode() for label in labels) + b"\0"


def rdata(kind, value):
    if kind in ("A", "AAAA"):
        return ipaddress.ip_address(value).packed
    if kind == "SRV":
        priority, weight, port, target = value
        return struct.pack(">HHH", priority, weight, port) + encoded(target)
    return encoded(value)


class DnsServer:
    def __init__(self):
        self.lock = threading.Lock()
        self.zone = {}        # name -> type -> (ttl, values), or a behaviour: "SERVFAIL", "NXDOMAIN", "silence"
        self.asked = []       # (name, type, "udp" or "tcp")
        server = self

        class Datagram(socketserver.BaseRequestHandler):
            def handle(self):
                reply = server.reply(self.request[0], "udp")
                if reply and len(reply) > MOST_OVER_UDP:
                    flags = struct.unpack(">H", reply[2:4])[0] | 0x0200  # truncated
                    question = reply[12:reply.index(b"\0", 12) + 5]
                    reply = reply[:2] + struct.pack(">HHHHH", flags, 1, 0, 0, 0) + question
                if reply:
                    self.request[1].sendto(reply, self.client_address)

        class Stream(socketserver.StreamRequestHandler):
            def handle(self):
                while True:
                    size = self.rfile.read(2)
                    if len(size) < 2:
                        return
                    reply = server.reply(self.rfile.read(struct.unpack(">H", size)[0]), "tcp")
                    if reply:
                        self.wfile.write(struct.pack(">H", len(reply)) + reply)

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        while True:  # a port that is free for both
            self.udp = socketserver.ThreadingUDPServer(("127.0.0.1", 0), Datagram)
            try:
                self.tcp = socketserver.ThreadingTCPServer(self.udp.server_address, Stream)
                break
            except OSError:
                self.udp.server_close()
        for each in (self.udp, self.tcp):
            each.daemon_threads = True
            threading.Thread(target=each.serve_forever, daemon=True).start()
        self.address = "127.0.0.1:%d" % self.udp.server_address[1]

    def set(self, name, kind, values, ttl=0):
        with self.lock:
            records = self.zone.setdefault(name, {})
            if not isinstance(records, dict):
                records = self.zone[name] = {}
            records[kind] = (ttl, values)

    def misbehave(self, name, how):
        with self.lock:
            self.zone[name] = how

    def times_asked(self, name, kind=None):
        with self.lock:
            return sum(1 for asked in self.asked if asked[0] == name and kind in (None, asked[1]))

    def was_asked_over_tcp(self, name):
        with self.lock:
            return any(asked[0] == name and asked[2] == "tcp" for asked in self.asked)

    def reply(self, query, transport):
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1:at + 1 + query[at]].decode())
            at += 1 + query[at]
        question = query[12:at + 5]
        name, kind = ".".join(labels), NAMES.get(struct.unpack(">H", query[at + 1:at + 3])[0])
        with self.lock:
            self.asked.append((name, kind, transport))
            known = self.zone.get(name, "NXDOMAIN")
        if known == "silence":
            return None
        if isinstance(known, str):
            return query[:2] + struct.pack(">HHHHH", 0x8180 | RCODES[known], 1, 0, 0, 0) + question
        ttl, values = known.get(kind, (0, []))
        answers = b"".join(struct.pack(">HHHIH", 0xc00c, TYPES[kind], 1, ttl, len(data)) + data
                           for data in (rdata(kind, value) for value in values))
        return query[:2] + struct.pack(">HHHHH", 0x8180, 1, len(values), 0, 0) + question + answers

    def close(self):
        for each in (self.udp, self.tcp):
            each.shutdown()
            each.server_close()


def dead_address():
    """An address where no name server listens."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % held.getsockname()[1]
