#!/usr/bin/env python3
"""scripts/test.sh runs every preset's tests, ends with a summary of ctest's own, and fails when one of them did."""
import os
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")
CTEST = r"""#!/bin/bash
# ctest --preset NAME ...: as the real one, for a preset in $FAILING.
if [[ " $FAILING " == *" $2 "* ]]; then
    printf '1/2 Test #1: a ...***Failed\n\n50%% tests passed, 1 tests failed out of 2\n\n'
    printf 'The following tests FAILED:\n\t  1 - a of %s (Failed)\n' "$2"
    echo 'Errors while running CTest' >&2
    exit 8
fi
printf '1/2 Test #1: a ... Passed\n\n100%% tests passed, 0 tests failed out of 2\n\nTotal Test time of %s\n' "$2"
"""


class TestScript(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for name in ("scripts", "bin"):
            os.mkdir(os.path.join(self.root, name))
        for name in ("test.sh", "common.sh"):
            shutil.copy(os.path.join(SCRIPTS, name), os.path.join(self.root, "scripts"))
        self.write("scripts/install_dependencies.sh", "#!/bin/bash\n")
        self.write("scripts/check_style.py", "")
        self.write("scripts/build.sh", '#!/bin/bash\nmkdir -p build\necho "built $1"\n[[ $1 != "${UNBUILDABLE-}" ]]\n')
        self.write("bin/ctest", CTEST)

    def write(self, path, text):
        with open(os.path.join(self.root, path), "w") as file:
            file.write(text)
        os.chmod(os.path.join(self.root, path), 0o755)

    def run_it(self, failing="", unbuildable=""):
        environment = {**os.environ, "PATH": os.path.join(self.root, "bin") + ":" + os.environ["PATH"],
                       "FAILING": failing, "UNBUILDABLE": unbuildable}
        done = subprocess.run(["bash", os.path.join(self.root, "scripts/test.sh")], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        return done.returncode, done.stdout

    def last_summary(self, output):
        return [line for line in output.splitlines() if "tests passed" in line][-1]

    def test_all_pass(self):
        code, output = self.run_it()
        self.assertEqual(code, 0, output)
        self.assertTrue(output.endswith("100% tests passed, 0 tests failed out of 2\n\nTotal Test time of asan\n"), output)

    def test_a_preset_that_fails_hides_no_other_and_ends_the_output(self):
        for failing in ("release", "asan", "release asan"):
            with self.subTest(failing):
                code, output = self.run_it(failing)
                self.assertNotEqual(code, 0)
                self.assertIn("testing asan", output)
                self.assertEqual(self.last_summary(output), "50% tests passed, 1 tests failed out of 2")
                for preset in failing.split():
                    self.assertIn("1 - a of " + preset, output.split("tests failed: ", 1)[1])

    def test_what_cannot_be_built_fails(self):
        code, output = self.run_it(unbuildable="asan")
        self.assertNotEqual(code, 0)
        self.assertTrue(output.endswith("built asan\n"), output)


if __name__ == "__main__":
    unittest.main()
