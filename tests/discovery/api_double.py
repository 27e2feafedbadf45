"""The API server of a cluster, as far as EndpointSlices of one Service go: lists, and watches that a test writes line by
line. Over TLS, with a token that is asked for. What it says follows what a kube-apiserver 1.30 sends."""
import http.server
import json
import queue
import ssl
import threading
import urllib.parse

PATH = "/apis/discovery.k8s.io/v1/namespaces/inference/endpointslices"
PATIENCE = 60


def slice_of(name, version, endpoints, ports=(("http", 8000),), family="IPv4"):
    """`endpoints`: pod -> (address, {condition: value})."""
    return {
        "metadata": {"name": name, "namespace": "inference", "resourceVersion": str(version), "generation": 3,
                     "labels": {"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
                                "kubernetes.io/service-name": "engines"}},
        "addressType": family,
        "endpoints": [{"addresses": [address],
                       "conditions": {"ready": True, "serving": True, "terminating": False, **conditions},
                       "targetRef": {"kind": "Pod", "namespace": "inference", "name": pod, "uid": "uid-" + pod},
                       "nodeName": "node-1", "zone": "a"}
                      for pod, (address, conditions) in endpoints.items()],
        "ports": [{"name": port, "port": number, "protocol": "TCP"} for port, number in ports],
    }


def status(code, reason, message):
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
            "reason": reason, "code": code}


class Watch:
    """One watch that runs. The test writes; the connection stays until the test ends or cuts it."""

    def __init__(self, handler, query):
        self.handler = handler
        self.query = query
        self.done = threading.Event()

    def version(self):
        return self.query["resourceVersion"][0]

    def send(self, data):
        self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.handler.wfile.flush()

    def event(self, kind, item):
        if kind != "ERROR":
            item = {"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", **item}
        self.send(json.dumps({"type": kind, "object": item}).encode() + b"\n")

    def bookmark(self, version):
        self.event("BOOKMARK", {"metadata": {"resourceVersion": str(version), "creationTimestamp": None},
                                "addressType": "", "endpoints": None, "ports": None})

    def end(self):
        self.handler.wfile.write(b"0\r\n\r\n")
        self.cut()

    def cut(self):
        self.handler.close_connection = True
        self.done.set()


class ApiServer:
    def __init__(self, certificate, key, token, port=0):
        self.lock = threading.Lock()
        self.token = token
        self.refusal = None      # a Status that every request gets
        self.watch_refusal = None
        self.version = 100
        self.slices = []
        self.lists = 0
        self.unauthorized = 0
        self.paths = []
        self.watches = queue.Queue()
        self.running = set()
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                server.serve(self)

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler, bind_and_activate=False)
        self.http.allow_reuse_address = True
        self.http.server_bind()
        self.http.server_activate()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.http.server_address[1]
        self.url = "https://127.0.0.1:%d" % self.port
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def serve(self, handler):
        parsed = urllib.parse.urlsplit(handler.path)
        query = urllib.parse.parse_qs(parsed.query)
        is_watch = query.get("watch") == ["true"]
        with self.lock:
            self.paths.append(handler.path)
            if handler.headers.get("Authorization") != "Bearer " + self.token:
                self.unauthorized += 1
                refusal = status(401, "Unauthorized", "Unauthorized")
            elif parsed.path != PATH or query.get("labelSelector") != ["kubernetes.io/service-name=engines"]:
                refusal = status(404, "NotFound", "nothing like this: " + handler.path)
            else:
                refusal = self.refusal or (self.watch_refusal if is_watch else None)
            answer = {"kind": "EndpointSliceList", "apiVersion": "discovery.k8s.io/v1",
                      "metadata": {"resourceVersion": str(self.version)}, "items": list(self.slices)}
            self.lists += not is_watch and not refusal
        if refusal or not is_watch:
            self.answer(handler, refusal or answer)
            return
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.flush()
        watch = Watch(handler, query)
        with self.lock:
            self.running.add(watch)
        self.watches.put(watch)
        watch.done.wait()

    @staticmethod
    def answer(handler, item):
        data = json.dumps(item).encode()
        handler.send_response(item.get("code", 200))
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def next_watch(self):
        return self.watches.get(timeout=PATIENCE)

    def set(self, version, *slices):
        with self.lock:
            self.version, self.slices = version, slices

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        with self.lock:
            for watch in self.running:
                watch.cut()
