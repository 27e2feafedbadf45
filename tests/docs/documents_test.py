#!/usr/bin/env python3
"""The documents hold: links lead somewhere, configurations load, commands run, the reference is up to date.

usage: documents_test.py ROUTER_BINARY ENGINE_SIM_BINARY
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import markdown

sys.path.insert(0, str(markdown.ROOT / "tests/support"))
import loopback  # noqa: E402

ENGINE_SIM = pathlib.Path(sys.argv.pop(2)).resolve()
ROUTER = pathlib.Path(sys.argv.pop(1)).resolve()
TRACE = markdown.ROOT / "tests/docs/trace.jsonl"
PATIENCE = 120
PORTS = re.compile(r"(?<=:)(?:8080|9191)\b|\b800[12]\b")
SOME_BACKENDS = "\nbackends:\n  - url: http://127.0.0.1:8001\n"


class FreePorts:
    """The ports that the documents name, each replaced by one that is free here."""

    def __init__(self):
        self.known = {}

    def __call__(self, text):
        return PORTS.sub(lambda match: self.known.setdefault(match.group(0), str(self.free())), text)

    @staticmethod
    def free():
        return loopback.free_port()


def whole(configuration):
    """A configuration that is complete: an extract gets backends."""
    return configuration if re.search(r"^backends:", configuration, re.M) else configuration + SOME_BACKENDS


def session(document, ports):
    """The document as one shell script: files are written, commands are shown and run."""
    script = []
    for block in markdown.blocks(document):
        if block.mark.startswith("file="):
            script.append("cat > %s <<'END_OF_FILE'\n%sEND_OF_FILE\n" % (block.mark[5:], ports(block.text)))
        elif block.mark == "run":
            script.append("echo '== %s'\n%s" % (block.place, ports(block.text)))
    return "".join(script)


def run_in_group(script, folder):
    """Exit status and output of the script; whatever it started ends with it."""
    path = os.pathsep.join([str(ROUTER.parent), str(ENGINE_SIM.parent), os.environ["PATH"]])
    with tempfile.TemporaryFile("w+") as output:
        shell = subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], cwd=folder, stdin=subprocess.DEVNULL,
                                 stdout=output, stderr=output, start_new_session=True,
                                 env={**os.environ, "PATH": path})
        try:
            status = shell.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = f"none within {PATIENCE} s"
        try:
            os.killpg(shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        shell.wait()
        output.seek(0)
        return status, output.read()


class Documents(unittest.TestCase):
    def test_every_block_is_run_or_says_why_not(self):
        for document in markdown.documents():
            for block in markdown.blocks(document):
                self.assertIsNone(markdown.complaint(block), block.place)

    def test_no_command_hides_in_an_indented_block(self):
        for document in markdown.documents():
            prose = markdown.FENCE.sub("", markdown.read(document))
            hidden = re.search(r"^    (?:\$ )?(?:prefix-router|engine-sim|curl|jq|scripts/|bench/).*", prose, re.M)
            self.assertIsNone(hidden, f"{document}: put it into a fenced block with a mark")

    def test_links_lead_somewhere(self):
        for document in markdown.documents():
            for target in markdown.links(document):
                self.assertTrue(target.exists(), f"{document} links to {target}")

    def test_the_readme_or_a_page_leads_to_every_page(self):
        reached = {target.resolve() for document in markdown.documents() for target in markdown.links(document)}
        for document in markdown.documents()[1:]:
            path = (markdown.ROOT / document).resolve()
            self.assertTrue(path in reached or path.parent in reached, f"nothing links to {document}")

    def test_the_configuration_reference_is_what_the_program_prints(self):
        printed = subprocess.run([ROUTER, "config-reference"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(markdown.read("docs/configuration.md"), printed,
                         "run: build/release/bin/prefix-router config-reference > docs/configuration.md")

    def test_configurations_load(self):
        for document in markdown.documents():
            for block in markdown.blocks(document):
                if block.language == "yaml" and not block.mark.startswith("not-run"):
                    with self.subTest(block.place), tempfile.TemporaryDirectory() as folder:
                        path = pathlib.Path(folder) / "router.yaml"
                        path.write_text(whole(block.text).replace("/var/log/prefix-router", folder))
                        secrets = {name: "name=value" for name in re.findall(r"\benv:(\w+)", block.text)}
                        checked = subprocess.run([ROUTER, "check", "--config", path], capture_output=True,
                                                 text=True, check=False, env={**os.environ, **secrets})
                        self.assertEqual(checked.returncode, 0, f"{block.place}:\n{checked.stderr}")

    def test_commands_run(self):
        for document in markdown.documents():
            if not any(block.mark == "run" for block in markdown.blocks(document)):
                continue
            with self.subTest(document), tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "trace.jsonl").write_text(TRACE.read_text())
                status, output = run_in_group(session(document, FreePorts()), folder)
                self.assertEqual(status, 0, f"{document}:\n{output}")


class Marks(unittest.TestCase):
    def test_are_needed(self):
        block = markdown.Block("d.md", 1, "sh", "", "true\n")
        self.assertIsNotNone(markdown.complaint(block))
        self.assertIsNotNone(markdown.complaint(block._replace(language="bash", mark="run")))
        self.assertIsNotNone(markdown.complaint(block._replace(mark="not-run=")))
        self.assertIsNone(markdown.complaint(block._replace(mark="run")))
        self.assertIsNone(markdown.complaint(block._replace(language="text")))

    def test_a_failing_command_fails_its_document(self):
        with tempfile.TemporaryDirectory() as folder:
            status, output = run_in_group("echo before\nfalse\necho after\n", folder)
        self.assertEqual((status, output), (1, "before\n"))


if __name__ == "__main__":
    unittest.main()
