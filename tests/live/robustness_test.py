#!/usr/bin/env python3
"""The daemon notices what happens to its backends, live, before simulated engines at ten times real time.

  tests/live/robustness_test.py PREFIX_ROUTER ENGINE_SIM

Each test prints within how many requests it was noticed; the bounds are generous, what must hold is that it is.
"""
import itertools
import random
import sys
import threading
import unittest

from fleet import Engine, Router, ask, ask_all, fetch, words

ROUTER, ENGINE_SIM = sys.argv[1:3]
SPEED_UP = 10
LONG = 8000  # tokens: a second of prefill, a tenth of one in real time
# An empty cache shows in three answers, and the next request may be placed before the third has been counted.
NOTICED = 4
fresh = itertools.count(1)


def cold(tokens=LONG):
    return words(next(fresh), tokens)


def told(what, requests):
    print("%s: noticed within %d requests" % (what, requests), flush=True)


class Robustness(unittest.TestCase):
    def fleet(self, count, *options, spec="", more=""):
        self.engines = []
        for _ in range(count):
            engine = Engine(ENGINE_SIM, "--time-scale", str(SPEED_UP), "--overhead", "0.02", *options)
            self.addCleanup(engine.stop)
            self.engines.append(engine)
        self.router = Router(ROUTER, self.engines, SPEED_UP, spec, more)
        self.addCleanup(self.router.stop)
        return self.router

    def belief(self, name, field):
        return self.router.backends()[name][field]

    def ask_until(self, is_noticed, prompts, most):
        """Asks one after the other until it is noticed; after how many."""
        for count, prompt in enumerate(itertools.islice(prompts, most), 1):
            answer = self.router.ask(prompt)
            self.assertEqual(answer.status, 200)
            if is_noticed(answer):
                return count
        self.fail("not noticed within %d requests" % most)

    def test_a_backend_that_falls_to_half_its_speed_gets_less(self):
        router = self.fleet(2)
        for answer in ask_all([lambda: router.ask(cold())] * 40, 4):
            self.assertEqual(answer.status, 200)
        self.engines[0].change(prefill_rate=4000)
        slow = lambda: self.belief("engine-0", "speed_factor") / self.belief("engine-1", "speed_factor")
        before = slow()
        count = 0
        while abs(slow() / before - 1) < 0.3 and count < 160:
            ask_all([lambda: router.ask(cold())] * 4, 2)
            count += 4
        self.assertLess(count, 160, "speed factors: %s" % slow())
        told("half speed", count)
        shares = [answer.backend for answer in ask_all([lambda: router.ask(cold())] * 60, 4)]
        self.assertLess(shares.count("engine-0"), 27, "of 60; at equal shares 30, by speed 20")

    def test_a_smaller_cache_is_told_by_the_metrics(self):
        router = self.fleet(2, "--kv-tokens", "200000")
        self.assertEqual(self.belief("engine-0", "capacity_tokens"), 200000)
        self.engines[0].change(kv_tokens=100000)
        count = self.ask_until(lambda _: self.belief("engine-0", "capacity_tokens") <= 100000, (cold(100) for _ in itertools.count()), 2000)
        told("half the capacity, told by /metrics", count)

    def test_a_smaller_cache_is_learned_from_reports(self):
        prompts = [cold(2000) for _ in range(45)]  # 90,000 tokens: they fit into 100,000, not into 50,000
        chance = random.Random(1)
        router = self.fleet(1, "--kv-tokens", "100000", "--hide-capacity", "--prefill-rate", "80000", spec="capacity_tokens: 100000")
        for prompt in prompts * 2:
            router.ask(prompt)
        self.assertGreater(self.belief("engine-0", "capacity_tokens"), 90000)
        self.engines[0].change(kv_tokens=50000)
        drawn = (chance.choice(prompts) for _ in itertools.count())
        count = self.ask_until(lambda _: self.belief("engine-0", "capacity_tokens") < 65000, drawn, 400)
        told("half the capacity, learned from cached tokens", count)
        answers = [router.ask(chance.choice(prompts)) for _ in range(60)]
        expected, cached = sum(answer.expected for answer in answers), sum(answer.cached for answer in answers)
        self.assertLess(expected, 1.3 * cached)

    def test_a_restarted_backend_is_not_believed_to_hold_its_cache(self):
        prompts = [cold(2000) for _ in range(12)]
        router = self.fleet(2, more="health:\n  interval: 250ms\n")
        warm = [router.ask(prompt) for prompt in prompts * 2][-len(prompts):]
        held = [prompt for prompt, answer in zip(prompts, warm) if answer.backend == "engine-0" and answer.expected > 1000]
        self.assertGreater(len(held), 3)
        self.engines[0].restart()
        wrong = 0
        for prompt in held:
            answer = router.ask(prompt)
            self.assertEqual(answer.status, 200)
            wrong += answer.backend == "engine-0" and answer.expected > 1000 and answer.cached == 0
        self.assertLessEqual(wrong, NOTICED)
        told("a restart with an empty cache", wrong)

    def test_a_flushed_cache_is_noticed(self):
        prompts = [cold(2000) for _ in range(12)]
        router = self.fleet(1)
        for prompt in prompts:
            router.ask(prompt)
        self.assertTrue(all(router.ask(prompt).cached > 1000 for prompt in prompts))
        fetch(self.engines[0].url + "/reset_prefix_cache", b"")
        wrong = sum(router.ask(prompt).expected > 1000 for prompt in prompts)
        self.assertLessEqual(wrong, NOTICED)
        told("a flushed cache", wrong)

    def test_four_lanes_are_learned(self):
        router = self.fleet(1, "--lanes", "4")
        count = 0
        while self.belief("engine-0", "lanes") < 4 and count < 400:
            ask_all([lambda: router.ask(cold())] * 16, 8)
            count += 16
        self.assertEqual(self.belief("engine-0", "lanes"), 4)
        told("four lanes", count)

    def test_load_that_comes_from_elsewhere_repels(self):
        router = self.fleet(2)
        ask_all([lambda: router.ask(cold())] * 20, 2)
        busy = threading.Event()

        def flood():
            while not busy.is_set():
                ask("127.0.0.1", self.engines[0].port, cold(), 1, SPEED_UP)

        others = [threading.Thread(target=flood) for _ in range(6)]
        for thread in others:
            thread.start()
        try:
            backends = [router.ask(cold()).backend for _ in range(30)]
        finally:
            busy.set()
            for thread in others:
                thread.join()
        last = max((number for number, name in enumerate(backends, 1) if name == "engine-0"), default=0)
        self.assertLessEqual(backends[10:].count("engine-0"), 5, backends)
        told("load from elsewhere (%d of 30 still went there)" % backends.count("engine-0"), last)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
