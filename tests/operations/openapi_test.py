#!/usr/bin/env python3
"""The admin listener answers as its OpenAPI description says, and the description names every endpoint.

usage: openapi_test.py ROUTER_BINARY ENGINE_SIM_BINARY CACHE_DIR
"""
import json
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import fleet
import schema_tools

CACHE, ENGINE_SIM, ROUTER = sys.argv.pop(3), sys.argv.pop(2), sys.argv.pop(1)
schema_tools.use(CACHE)
import jsonschema  # of the venv
import yaml


def setUpModule():
    global DAEMON, DESCRIPTION
    DAEMON = fleet.Fleet(ROUTER, ENGINE_SIM)
    for question in ("Why blue?", "Why red?", "Why blue?"):
        DAEMON.ask(question)
    DESCRIPTION = json.loads(DAEMON.admin("/openapi.json"))


def tearDownModule():
    DAEMON.end()


def ask(path, method="GET", body=None):
    """Status, content type and text of an answer."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{DAEMON.admin_port}{path}", data, method=method)
    try:
        reply = urllib.request.urlopen(request, timeout=fleet.PATIENCE)
    except urllib.error.HTTPError as error:
        reply = error
    with reply:
        content_type = reply.headers["content-type"]
        is_endless = content_type == "text/event-stream"
        return str(reply.status), content_type, (reply.readline() if is_endless else reply.read()).decode()


def fits(value, schema):
    """Raises when the value is not as the schema of the description says."""
    whole = {**schema, "components": DESCRIPTION["components"]}
    jsonschema.Draft202012Validator(whole).validate(value)


class Description(unittest.TestCase):
    def test_is_valid(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(DESCRIPTION, file)
            file.flush()
            done = subprocess.run([schema_tools.installed(CACHE) / "openapi-spec-validator", file.name],
                                  capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_names_every_endpoint_and_no_other(self):
        message = json.loads(ask("/nowhere")[2])["error"]["message"]
        served = sorted(re.findall(r"[A-Z]+ /[\w./{}-]*", message))
        described = sorted(f"{method.upper()} {path}" for path, methods in DESCRIPTION["paths"].items()
                           for method in methods)
        self.assertEqual(described, served, "src/admin/assets/openapi.json: describe what is served")

    def test_allows_no_field_that_it_does_not_name(self):
        for name, schema in DESCRIPTION["components"]["schemas"].items():
            self.assertIs(schema.get("additionalProperties"), False, name)

    def test_would_refuse_another_answer(self):
        with self.assertRaises(jsonschema.ValidationError):
            fits({"ready": True, "reason": "ready", "more": 1}, {"$ref": "#/components/schemas/Readiness"})


class Answers(unittest.TestCase):
    def check(self, path, status="200"):
        """The parsed answer, once it fits its description."""
        got, content_type, text = ask(path)
        self.assertEqual(got, status, text)
        operation = DESCRIPTION["paths"][path.split("?")[0]]["get"]
        described = operation["responses"][status]["content"]
        self.assertEqual(list(described), [content_type], path)
        value = json.loads(text) if content_type == "application/json" else text
        try:
            fits(value, described[content_type]["schema"])
        except jsonschema.ValidationError as error:
            self.fail(f"GET {path}: correct src/admin/assets/openapi.json: {error.message} at "
                      f"{'/'.join(map(str, error.absolute_path))}")
        return value

    def test_fit_their_descriptions(self):
        for path, methods in DESCRIPTION["paths"].items():
            if "get" in methods and "{" not in path:
                self.check(path)

    def test_show_what_was_decided(self):
        decisions = self.check("/decisions?limit=2")["decisions"]
        self.assertEqual(len(decisions), 2)
        self.assertTrue(all(decision["candidates"] for decision in decisions))
        self.assertEqual(len(self.check("/backends")["backends"]), 2)

    def check_change(self, method, path, body=None, status="200", described_path=None):
        """The parsed answer to a change, once request and answer fit their descriptions."""
        operation = DESCRIPTION["paths"][described_path or path.split("?")[0]][method.lower()]
        got, content_type, text = ask(path, method, body)
        self.assertEqual((got, content_type), (status, "application/json"), text)
        if isinstance(body, dict) and status < "400" and "schema" in operation["requestBody"]["content"][content_type]:
            fits(body, operation["requestBody"]["content"][content_type]["schema"])
        fits(json.loads(text), operation["responses"][status]["content"][content_type]["schema"])
        return json.loads(text)

    def test_to_changes_fit_their_descriptions(self):
        one = "/backends/{id}"
        new = {"id": "more", "url": f"http://127.0.0.1:{fleet.free_port()}", "weight": 2, "models": ["m"],
               "capacity_tokens": "auto", "lanes": 2, "max_in_flight": 7, "authorization": "pass"}
        self.check_change("POST", "/backends", new, "201")
        self.check_change("POST", "/backends", new, "409")
        self.check_change("POST", "/backends", {"id": "more"}, "400")
        self.assertEqual(len(self.check("/backends")["backends"]), 3)
        self.check_change("PATCH", "/backends/more", {"capacity_tokens": 5000, "models": []}, described_path=one)
        self.check_change("PATCH", "/backends/more", {"weight": -1}, "400", one)
        self.check_change("PATCH", "/backends/none", {"weight": 1}, "404", one)
        for word in ("drain", "undrain"):
            self.check_change("POST", f"/backends/more/{word}", described_path=f"{one}/{word}")
            self.check_change("POST", f"/backends/none/{word}", None, "404", f"{one}/{word}")
        self.check_change("DELETE", "/backends/more", described_path=one)
        self.check_change("DELETE", "/backends/more", None, "404", one)
        configured = self.check("/backends")["backends"][0]["id"]
        self.check_change("DELETE", f"/backends/{configured}", None, "409", one)
        self.check_change("PUT", "/log-level", {"level": "info"})
        self.check_change("PUT", "/log-level", {"level": "loud"}, "400")
        self.check_change("POST", "/config/reload")

    def test_to_explain_fits_its_description(self):
        body = {"model": "sim", "messages": [{"role": "user", "content": fleet.PROMPT + "Why blue?"}]}
        told = self.check_change("POST", "/explain", body)
        self.assertEqual((told["action"], told["reason"], len(told["candidates"])), ("send", "warm", 2))
        self.check_change("POST", "/explain?path=/elsewhere", body)
        self.check_change("POST", "/explain?priority=urgent", body, "400")
        self.check_change("POST", "/explain?path=/reset_prefix_cache", body, "403")

    def test_refuse_a_limit_out_of_range_as_described(self):
        schema = DESCRIPTION["paths"]["/decisions"]["get"]["parameters"][0]["schema"]
        for limit in (schema["minimum"] - 1, schema["maximum"] + 1):
            self.check(f"/decisions?limit={limit}", "400")
        for limit in (schema["minimum"], schema["maximum"]):
            self.check(f"/decisions?limit={limit}")

    def test_refuse_other_methods_and_paths(self):
        for path, method, status in (("/backends", "PUT", "405"), ("/nowhere", "GET", "404")):
            got, content_type, text = ask(path, method)
            self.assertEqual((got, content_type), (status, "application/json"))
            fits(json.loads(text), {"$ref": "#/components/schemas/Error"})

    def test_tell_when_it_is_not_ready(self):
        admin = fleet.free_port()
        router = subprocess.Popen([ROUTER, "--listen", "127.0.0.1:0", "--admin", f"127.0.0.1:{admin}", "--backend",
                                   f"http://127.0.0.1:{fleet.free_port()}"], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(router.wait)
        self.addCleanup(router.terminate)
        subprocess.run(["curl", "-sf", "--retry", "60", "--retry-delay", "1", "--retry-all-errors", "-o", "/dev/null",
                        f"http://127.0.0.1:{admin}/healthz"], check=True)
        with self.assertRaises(urllib.error.HTTPError) as refused:
            fleet.get(f"http://127.0.0.1:{admin}/readyz")
        with refused.exception as answer:
            self.assertEqual(answer.status, 503)
            told = json.load(answer)
        self.assertEqual(told, {"ready": False, "reason": "no usable backend"})
        fits(told, DESCRIPTION["paths"]["/readyz"]["get"]["responses"]["503"]["content"]["application/json"]["schema"])

    def test_the_configuration_loads_again(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(ask("/config")[2])
            file.flush()
            subprocess.run([ROUTER, "check", "--config", file.name], check=True, capture_output=True)
            self.assertEqual(len(yaml.safe_load(ask("/config")[2])["backends"]), 2)


if __name__ == "__main__":
    unittest.main()
