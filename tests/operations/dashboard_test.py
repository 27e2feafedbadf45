#!/usr/bin/env python3
"""The dashboard in a real Chromium: its figures are the metrics', in a quiet fleet, under load and with a backend down.

usage: dashboard_test.py ROUTER_BINARY ENGINE_SIM_BINARY CACHE_DIR
"""
import hashlib
import http.client
import json
import re
import shutil
import sys
import unittest
import urllib.request

import fleet
import schema_tools

CACHE, ENGINE_SIM, ROUTER = sys.argv.pop(3), sys.argv.pop(2), sys.argv.pop(1)
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
if not CHROMIUM:
    print("no chromium: scripts/install_dependencies.sh installs Debian's; Ubuntu has one as a snap only")
    sys.exit(77)
schema_tools.use(CACHE, "requirements-browser.txt")
from playwright.sync_api import sync_playwright  # of the venv

PATIENCE_MS = 1000 * fleet.PATIENCE
TOKEN = "open sesame"
PHONE = {"width": 375, "height": 800}
SAMPLE = re.compile(r"^(prefix_router_\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
# The lowest contrast of text with what is behind it, over all elements that show some.
CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => rgb.slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const rgb = parse(getComputedStyle(at).backgroundColor);
      if (rgb.length === 3 || rgb[3] > 0) return rgb;
    }
    return [255, 255, 255];
  };
  let worst = [99, ''];
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!hasText || element.closest('[hidden]') || element.closest('noscript, .u-legend, .skip')) continue;
    const pair = [light(parse(getComputedStyle(element).color)), light(ground(element))].sort((a, b) => b - a);
    const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (ratio < worst[0]) worst = [ratio, element.textContent];
  }
  return worst;
}"""


def setUpModule():
    global BROWSER, PLAYWRIGHT
    PLAYWRIGHT = sync_playwright().start()
    BROWSER = PLAYWRIGHT.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])


def tearDownModule():
    BROWSER.close()
    PLAYWRIGHT.stop()


class Metrics:
    def __init__(self, daemon):
        self.samples = [(name, labels or "", float(value)) for name, labels, value in SAMPLE.findall(daemon.admin("/metrics"))]

    def sum(self, name, label=""):
        return sum(value for each, labels, value in self.samples if each == f"prefix_router_{name}" and label in labels)

    def buckets(self, name):
        """Upper bound and cumulated count, ascending."""
        found = [(float(re.search(r'le="([^"]+)"', labels)[1]), value) for each, labels, value in self.samples
                 if each == f"prefix_router_{name}_bucket"]
        return sorted(found)

    def quantile(self, q, name):
        """As Prometheus' histogram_quantile."""
        low, before = 0.0, 0.0
        buckets = self.buckets(name)
        rank = q * buckets[-1][1]
        for bound, count in buckets[:-1]:
            if count >= rank and count > before:
                return low + (bound - low) * (rank - before) / (count - before)
            low, before = bound, count
        return low


def open_request(daemon, question, tokens):
    """A streamed request whose answer is not read yet."""
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=fleet.PATIENCE)
    body = {"model": "sim", "max_tokens": tokens, "stream": True, "stream_options": {"include_usage": True},
            "messages": [{"role": "system", "content": fleet.PROMPT * 12}, {"role": "user", "content": question}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
    return connection, connection.getresponse()


class Dashboard(unittest.TestCase):
    def open_page(self, daemon, **options):
        """The page in a context of its own; everything that the browser complains about fails the test."""
        context = BROWSER.new_context(**options)
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        self.complaints, self.foreign = [], []
        origin = f"http://127.0.0.1:{daemon.admin_port}/"
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: self.foreign.append(request.url) if not request.url.startswith(origin) else None)
        page.goto(origin)
        return page

    def follow(self, daemon, **options):
        page = self.open_page(daemon, **options)
        page.wait_for_selector("#figures:not([hidden]) #tiles dd")
        page.get_by_text("since start", exact=True).click()
        return page

    def figure(self, page, name, within="body"):
        text = page.get_attribute(f'{within} [data-figure="{name}"]', "data-value")
        return float(text) if text else None

    def wait_for(self, page, name, wanted, within="body"):
        page.wait_for_function("""([name, wanted, within]) => {
            const found = document.querySelector(`${within} [data-figure="${name}"]`);
            return found && Number(found.dataset.value) === wanted; }""", arg=[name, wanted, within])

    def wait_for_answers(self, page, count):
        page.wait_for_function("""(count) => document.querySelector('#tiles .sub').textContent === `${count} answered`""", arg=count)

    def expect(self, page, name, wanted, within="body"):
        shown = self.figure(page, name, within)
        self.assertIsNotNone(shown, name)
        self.assertAlmostEqual(shown, wanted, delta=1e-6 * max(1.0, abs(wanted)), msg=f"{name} in {within}")

    def check_fleet(self, daemon, page):
        """All figures that rest while nothing is decided. The page's is at most one event old."""
        metrics = Metrics(daemon)
        for q, name in ((0.5, "ttft_p50"), (0.9, "ttft_p90"), (0.99, "ttft_p99")):
            self.expect(page, name, metrics.quantile(q, "time_to_first_token_seconds"))
        cached, prompt = metrics.sum("reported_cached_tokens_total"), metrics.sum("reported_prompt_tokens_total")
        self.assertGreater(cached, 0)
        self.expect(page, "hit_ratio", cached / prompt)
        self.expect(page, "saved_tokens", cached)
        self.expect(page, "saved_prefill_s", metrics.sum("backend_saved_prefill_seconds_total"))
        self.expect(page, "failed", metrics.sum("requests_total", 'status="5xx"'))
        self.expect(page, "in_flight", metrics.sum("requests_in_flight"))
        self.expect(page, "held", metrics.sum("requests_held"))
        for backend in json.loads(daemon.admin("/backends"))["backends"]:
            self.check_backend(metrics, page, backend)

    def check_backend(self, metrics, page, backend):
        row, label = f'tr[data-row="{backend["id"]}"]', f'backend="{backend["id"]}"'
        counted = {name: metrics.sum(f"backend_{name}_cached_tokens_total", label)
                   for name in ("reported", "missing", "unexpected")}
        self.expect(page, "resident_tokens", metrics.sum("backend_resident_tokens", label), row)
        self.expect(page, "prefill_tokens_per_s", metrics.sum("backend_prefill_tokens_per_second", label), row)
        self.expect(page, "served", metrics.sum("backend_requests_total", label), row)
        self.expect(page, "requests", metrics.sum("backend_in_flight", label), row)
        if metrics.sum("backend_reported_prompt_tokens_total", label) > 0:
            self.expect(page, "reported_cached_tokens", counted["reported"], row)
            self.expect(page, "expected_cached_tokens",
                        counted["reported"] + counted["missing"] - counted["unexpected"], row)

    def serve(self, daemon, count):
        for k in range(count):
            connection, answer = open_request(daemon, f"Why {k}?", 2)
            answer.read()
            connection.close()


class WithTwoEngines(Dashboard):
    def setUp(self):
        self.daemon = fleet.Fleet(ROUTER, ENGINE_SIM)
        self.addCleanup(self.daemon.end)

    def test_figures_are_the_metrics(self):
        page = self.follow(self.daemon)
        self.assertEqual(page.inner_text("#headline"), "All is well")
        self.assertIsNone(self.figure(page, "ttft_p50"))
        self.assertIsNone(self.figure(page, "hit_ratio"))

        self.serve(self.daemon, 12)
        self.wait_for_answers(page, 12)
        self.check_fleet(self.daemon, page)
        self.assertGreater(page.locator("#prefixes tbody tr").count(), 0)
        shown = page.locator("#decisions details").evaluate_all("(list) => list.map((e) => e.dataset.row)")
        decided = json.loads(self.daemon.admin("/decisions?limit=12"))["decisions"]
        self.assertEqual(shown, [str(decision["request"]) for decision in decided])

        under_way = [open_request(self.daemon, f"How {k}?", 100_000) for k in range(3)]
        self.wait_for(page, "in_flight", 3)
        page.wait_for_function("""() => [...document.querySelectorAll('#backends [data-figure="requests"]')]
            .reduce((sum, each) => sum + Number(each.dataset.value), 0) === 3""")
        metrics = Metrics(self.daemon)
        self.assertEqual(metrics.sum("requests_in_flight"), 3)
        self.assertEqual(metrics.sum("backend_in_flight"), 3)
        for connection, answer in under_way:
            answer.close()
            connection.close()
        self.wait_for(page, "in_flight", 0)
        self.wait_for_answers(page, 15)
        self.check_fleet(self.daemon, page)
        self.check_backend_down(page)
        self.assertEqual((self.complaints, self.foreign), ([], []))

    def check_backend_down(self, page):
        port = self.daemon.engines[0].args[-1]
        self.daemon.engines[0].terminate()
        page.wait_for_selector('#banner[data-level="bad"]')
        self.assertEqual(page.inner_text("#headline"), "1 of 2 backends is down")
        self.assertIn("1 of 2", page.title())
        backends = json.loads(self.daemon.admin("/backends"))["backends"]
        dead, = [backend["id"] for backend in backends if backend["url"].endswith(f":{port}")]
        self.assertIn(dead, page.inner_text("#detail"))
        self.assertEqual(Metrics(self.daemon).sum("backend_healthy", f'backend="{dead}"'), 0)
        self.assertEqual(page.get_attribute(f'tr[data-row="{dead}"] .chip', "data-level"), "bad")

    def change(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.daemon.admin_port}{path}", json.dumps(body).encode(),
                                         method=method)
        with urllib.request.urlopen(request, timeout=fleet.PATIENCE) as reply:
            return json.load(reply)

    def test_shows_which_backend_leaves(self):
        page = self.follow(self.daemon)
        others = json.loads(self.daemon.admin("/backends"))["backends"]
        self.change("POST", "/backends", {"id": "spare", "url": others[0]["url"]})
        page.wait_for_selector('tr[data-row="spare"] .chip[data-level="good"]')
        for backend in others:
            self.change("POST", f"/backends/{backend['id']}/drain")
        connection, answer = open_request(self.daemon, "How?", 100_000)
        for backend in others:
            self.change("POST", f"/backends/{backend['id']}/undrain")
        self.change("DELETE", "/backends/spare")
        row = page.locator('tr[data-row="spare leaves"]')
        row.get_by_text("leaving", exact=True).wait_for()
        self.assertEqual(page.inner_text("#headline"), "All is well")
        self.assertEqual(page.inner_text("#detail"), "2 backends healthy")
        answer.close()
        connection.close()
        row.wait_for(state="detached")
        self.assertEqual(self.complaints, [])

    def test_says_when_the_router_is_gone(self):
        page = self.follow(self.daemon)
        self.daemon.children[-1].terminate()
        page.get_by_text("The router does not answer").wait_for()
        self.assertIn("is-stale", page.get_attribute("#figures", "class"))

    def test_is_readable_in_light_and_dark_and_on_a_phone(self):
        self.serve(self.daemon, 2)
        grounds = set()
        for scheme in ("light", "dark"):
            for size in (PHONE, {"width": 1280, "height": 900}):
                page = self.follow(self.daemon, color_scheme=scheme, viewport=size)
                page.wait_for_selector("#decisions summary")
                page.click("#decisions summary")
                with self.subTest(scheme=scheme, width=size["width"]):
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), size["width"])
                    ratio, text = page.evaluate(CONTRAST)
                    self.assertGreaterEqual(ratio, 4.5, text)
                    self.assertEqual(page.locator("canvas").count(), 4)
                grounds.add(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))
        self.assertEqual(len(grounds), 2)

    def test_can_be_used_by_keyboard(self):
        self.serve(self.daemon, 2)
        page = self.open_page(self.daemon)
        page.wait_for_selector("#decisions summary")
        order = []
        for _ in range(4):
            page.keyboard.press("Tab")
            order.append(page.evaluate("document.activeElement.name || document.activeElement.className || "
                                       "document.activeElement.tagName"))
            outline = page.evaluate("""() => { const e = document.activeElement;
                return getComputedStyle(e.matches('[type=radio]') ? e.nextElementSibling : e).outlineStyle; }""")
            self.assertEqual(outline, "solid", order)
        self.assertEqual(order, ["skip", "window", "SUMMARY", "SUMMARY"])
        page.keyboard.press("Enter")
        self.assertTrue(page.locator("#decisions details").nth(1).get_attribute("open") is not None)
        for name in ("#backends", "#prefixes"):
            head = page.locator(f"{name} thead th")
            self.assertTrue(all(head.nth(k).get_attribute("scope") == "col" for k in range(head.count())))
        self.assertEqual(page.locator("[aria-live], [role=status]").count(), 1)


class WithToken(Dashboard):
    def test_is_asked_for_and_kept_in_the_tab_only(self):
        settings = f"admin_token_sha256: '{hashlib.sha256(TOKEN.encode()).hexdigest()}'\n"
        daemon = fleet.Fleet(ROUTER, ENGINE_SIM, settings)
        self.addCleanup(daemon.end)
        page = self.open_page(daemon)
        for word, hint in (("wrong", "does not know this token"), (TOKEN, "")):
            page.wait_for_selector("#login:not([hidden])")
            page.fill("#token", word)
            page.keyboard.press("Enter")
            if hint:
                page.get_by_text(hint).wait_for()
        page.wait_for_selector("#figures:not([hidden]) #tiles dd")
        self.assertEqual(page.inner_text("#headline"), "All is well")
        self.assertNotIn(TOKEN, page.content())
        self.assertNotIn("sesame", page.url)
        self.assertEqual(page.evaluate("localStorage.length + document.cookie.length"), 0)
        page.reload()
        page.wait_for_selector("#figures:not([hidden]) #tiles dd")
        page.click("#forget")
        page.wait_for_selector("#login:not([hidden])")
        self.assertEqual(page.evaluate("sessionStorage.length"), 0)
        self.assertEqual(self.foreign, [])


if __name__ == "__main__":
    unittest.main()
