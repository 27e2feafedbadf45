"""Tests of scripts/check_style.py: each rule finds what it must, and leaves alone what is right."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import check_style  # noqa: E402

ORDER = ["base", "config", "net", "app"]


def rules(breaches):
    return [(b.line, b.rule) for b in breaches]


def source(text, path="src/net/a.cpp"):
    return check_style.Source(path, text)


class BannedWords(unittest.TestCase):
    def found(self, text, path="src/net/a.cpp"):
        return rules(check_style.banned_words(source(text, path)))

    def test_clock_is_read_only_in_base(self):
        text = "a;\nauto t = std::chrono::steady_clock::now();\n"
        self.assertEqual(self.found(text), [(2, "clock")])
        self.assertEqual(self.found(text, "src/base/clock.cpp"), [])

    def test_random_and_detached(self):
        self.assertEqual(self.found("int x = std::rand();\nnet::co_spawn(e, f(), net::detached);\n"),
                         [(1, "random"), (2, "detached")])
        self.assertEqual(self.found("asio::detached;"), [(1, "detached")])

    def test_using_namespace_only_in_headers(self):
        self.assertEqual(self.found("using namespace std;\n"), [])
        self.assertEqual(self.found("using  namespace std;\n", "include/prefix_router/net/a.hpp"),
                         [(1, "namespace")])

    def test_sleep_only_in_tests(self):
        text = "std::this_thread::sleep_for(1s);\nusleep(5);\nasleep(5);\n"
        self.assertEqual(self.found(text), [])
        self.assertEqual(self.found(text, "tests/unit/net/a_test.cpp"), [(1, "sleep"), (2, "sleep")])

    def test_comments_and_literals_do_not_count(self):
        text = ('// steady_clock::now\n/* std::rand\n*/ auto a = "net::detached \\" std::rand";\n'
                "auto b = R\"x(std::rand \" )x\"; auto c = '\"'; int d = 1'000; // std::rand\n"
                "std::rand();\n")
        self.assertEqual(self.found(text), [(5, "random")])

    def test_unfinished_work_counts_in_comments_too(self):
        self.assertEqual(rules(check_style.unfinished(source("// TODO: later\nint todo;\n// FIXME\n"))),
                         [(1, "unfinished"), (3, "unfinished")])


class Includes(unittest.TestCase):
    def found(self, line, path="src/net/a.cpp"):
        return rules(check_style.include_order(source("\n" + line + "\n", path), ORDER))

    def test_a_module_includes_itself_and_modules_above(self):
        for line in ('#include "prefix_router/base/a.hpp"', '#include "prefix_router/net/a.hpp"',
                     '#include "net/private.hpp"', "#include <boost/asio/buffer.hpp>",
                     "#include <vector>"):
            self.assertEqual(self.found(line), [], line)

    def test_a_module_below_is_out_of_reach(self):
        self.assertEqual(self.found('#include "prefix_router/app/a.hpp"'), [(2, "include")])
        self.assertEqual(self.found('#include "prefix_router/net/a.hpp"',
                                    "include/prefix_router/config/config.hpp"), [(2, "include")])

    def test_private_headers_of_another_module_are_out_of_reach(self):
        self.assertEqual(self.found('#include "config/option_tables.hpp"'), [(2, "include")])

    def test_paths_start_at_src(self):
        self.assertEqual(self.found('#include "stream.hpp"'), [(2, "include")])

    def test_libraries_stay_in_their_modules(self):
        self.assertEqual(self.found("#include <yaml-cpp/yaml.h>"), [(2, "include")])
        self.assertEqual(self.found("#include <yaml-cpp/yaml.h>", "src/config/a.cpp"), [])
        self.assertEqual(self.found("#include <boost/asio.hpp>", "src/config/a.cpp"),
                         [(2, "include")])

    def test_programs_and_tests_are_free(self):
        for path in ("src/main.cpp", "src/engine_sim/main.cpp", "tests/unit/base/a_test.cpp"):
            self.assertEqual(self.found('#include "prefix_router/app/a.hpp"', path), [], path)

    def test_the_order_is_read_from_cmake(self):
        self.assertEqual(check_style.module_order(
            "foreach(module base\n config net)\n    add_subdirectory(src/${module})\nendforeach()"),
            ["base", "config", "net"])
        with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
            order = check_style.module_order(file.read())
        self.assertEqual((order[0], order[-1]), ("base", "app"))


class Sizes(unittest.TestCase):
    def test_files_have_a_limit_and_tests_a_higher_one(self):
        for path, lines, expected in (("src/net/a.cpp", 500, 0), ("src/net/a.cpp", 501, 1),
                                      ("tests/unit/a.cpp", 800, 0), ("tests/unit/a.cpp", 801, 1)):
            self.assertEqual(len(list(check_style.file_size(source("\n" * lines, path)))), expected)

    def test_the_map_names_every_folder(self):
        sources = [source("", "src/net/a.cpp"), source("", "src/app/b.cpp"), source("", "src/m.cpp")]
        self.assertEqual(list(check_style.architecture(sources, "`net` and `src/app/b.cpp`")), [])
        self.assertEqual([b.message for b in check_style.architecture(sources, "`net`, app")],
                         ["does not name the folder src/app"])
        self.assertEqual(rules(check_style.architecture(sources, None)), [(1, "map")])
        self.assertEqual(rules(check_style.architecture([], "\n" * 201)), [(201, "map")])


WRONG = {
    "aggregate argument": "    co_await send(Request{a, b});",
    "aggregate around it": "    co_return Reply{co_await read(), x};",
    "braced declaration": "    Reply r{co_await read()};",
    "empty braces": "    co_await send({});",
    "braces before it": "    f(Foo{1}, co_await read());",
    "braces on another line": "    co_await send(a,\n                  Request{b});",
    "member of a temporary": "    co_await Sender{socket}.send(a);",
    "lambda": "    co_await run([x] { return x; });",
    "lambda without capture": "    auto r = co_await run(a, [](int i) { return i; });",
    "condition": "    if (co_await send(Request{a})) {\n        b();\n    }",
    "condition with init": "    if (auto r = co_await send(Request{a}); !r) {\n        b();\n    }",
    "co_return": "    co_return co_await send(Request{a});",
    "after a string": '    co_await send("{}", Request{a});',
    "inside a loop": "    while (x) {\n        co_await send(Request{a});\n    }",
}

RIGHT = {
    "plain": "    co_await send(a);",
    "named before": "    Request r{a, b};\n    co_await send(std::move(r));",
    "named lambda": "    auto f = [x] { return x; };\n    co_await run(f);",
    "condition": "    if (co_await ready()) {\n        Request r{a};\n    }",
    "condition with init": "    if (auto r = co_await ready(); !r) {\n        Request s{a};\n    }",
    "else": "    if (x) {\n        y();\n    } else {\n        co_await z();\n    }",
    "structured binding": "    auto [error, n] = co_await read(buffer);\n    auto& [p, q] = x;",
    "index": "    buffers[i] = co_await read(sizes[j]);",
    "after a block": "    for (auto i : list) {\n        f(i);\n    }\n    co_await send(a);",
    "inside a lambda body": "    auto f = []() -> awaitable<void> {\n        co_await send(a);\n    };",
    "text with braces": '    co_await send("{}[]");',
    "comment with braces": "    co_await send(a);  // as in Request{a}\n",
    "loop": "    for (;;) {\n        const auto n = co_await read(buffer, token);\n    }",
    "try": "    try {\n        co_await read(a);\n    } catch (const E& e) {\n        Foo f{e};\n    }",
    "braces after": "    co_await send(a);\n    Request r{b};",
    "function": "awaitable<void> f() {\n    co_await send(a);\n}\n\nFoo g{1};",
    "switch": "    switch (x) {\n        case 1:\n            co_await f();\n            break;\n    }",
    "member initialisers": "A::A(int x) : x_{x}, y_(x) {\n    f();\n}\ntask g() {\n    co_await h();\n}",
}


class Coroutines(unittest.TestCase):
    def test_wrong_statements_are_found(self):
        for name, text in WRONG.items():
            with self.subTest(name):
                body = "awaitable<int> f() {\n    int before = 1;\n" + text + "\n}\n"
                found = list(check_style.coroutine_statements(source(body)))
                self.assertEqual([b.rule for b in found], ["co_await"], text)

    def test_right_statements_pass(self):
        for name, text in RIGHT.items():
            with self.subTest(name):
                body = "awaitable<int> f() {\n    int before = 1;\n" + text + "\n}\n"
                self.assertEqual(list(check_style.coroutine_statements(source(body))), [], text)

    def test_the_line_is_that_of_co_await(self):
        found = list(check_style.coroutine_statements(source("{\n    a();\n    co_await f(A{1});\n}\n")))
        self.assertEqual(rules(found), [(3, "co_await")])


class WholeRun(unittest.TestCase):
    def run_on(self, files):
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            return subprocess.run([sys.executable, os.path.join(ROOT, "scripts/check_style.py"),
                                   "--root", root, "--no-format"],
                                  stdout=subprocess.PIPE, text=True, check=False)

    def test_exit_status_and_lines(self):
        tree = {"CMakeLists.txt": "foreach(module base net)\n    add_subdirectory(src/${module})\n",
                "ARCHITECTURE.md": "`base`\n", "src/base/a.cpp": "int a;\n"}
        good = self.run_on(tree)
        self.assertEqual((good.returncode, good.stdout.count("\n")), (0, 1), good.stdout)
        bad = self.run_on({**tree, "src/base/b.cpp": '\n#include "prefix_router/net/a.hpp"\n'})
        self.assertEqual(bad.returncode, 1)
        self.assertIn("src/base/b.cpp:2: include: 'prefix_router/net/a.hpp': 'base' must not know",
                      bad.stdout)
        self.assertIn("check_style: 2 files, 1 problems", bad.stdout)


if __name__ == "__main__":
    unittest.main()
