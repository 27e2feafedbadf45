#!/usr/bin/env python3
"""Checks the house rules that no compiler checks, and prints one line per breach.

  scripts/check_style.py [--root FOLDER] [--no-format]

Rules: clang-format; banned calls; includes against the module order; file sizes; every folder of
src named in ARCHITECTURE.md; no braces and no lambda in a statement with co_await (GCC 12 destroys
such temporaries twice). Exit status 1 when something is found. Standard library only.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
from typing import NamedTuple

SOFT_LINES, HARD_LINES, HARD_LINES_TESTS, ARCHITECTURE_LINES = 300, 500, 800, 200
UNTOUCHED = ("tests/scenarios/",)  # copied whole; not ours to restyle
CLANG_FORMAT = "clang-format-19"


class Breach(NamedTuple):
    path: str
    line: int
    rule: str
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


class Source:
    """One file: its text, and for C++ its code with comments and literals blanked out."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.code = blank_literals(text) if is_cpp(path) else ""

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1


def is_cpp(path):
    return path.endswith((".cpp", ".hpp"))


LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL)


def blank_literals(text):
    """The same length and lines, with comments, strings and characters replaced by spaces. String
    quotes stay, so that a string remains an operand; `#include "x"` is read from the text."""

    def blank(match):
        found = match.group(0)
        if found.startswith("/"):
            return re.sub(r"[^\n]", " ", found)
        return '"' + re.sub(r"[^\n]", " ", found[1:-1]) + '"'

    return LITERAL.sub(blank, text)


# --- banned words ---------------------------------------------------------------------------------

BANNED = [
    # rule, pattern, where it applies, what to do
    ("clock", r"\bsteady_clock::now\b", lambda p: "base/" not in p,
     "take a Clock; only base reads the machine's clock"),
    ("random", r"\bstd::rand\b|\bsrand\s*\(", lambda p: True, "use base's Random with a seed"),
    ("detached", r"\b(?:net|asio)::detached\b", lambda p: True,
     "spawn with the one completion token that looks at the error"),
    ("namespace", r"\busing\s+namespace\b", lambda p: p.endswith(".hpp"),
     "no using namespace in a header"),
    ("sleep", r"\bsleep_(?:for|until)\b|\bu?sleep\s*\(", lambda p: p.startswith("tests/"),
     "wait for the event, or step a clock of your own"),
]


def banned_words(source):
    for rule, pattern, applies, advice in BANNED:
        if applies(source.path):
            for match in re.finditer(pattern, source.code):
                yield Breach(source.path, source.line_of(match.start()), rule,
                             f"'{match.group(0)}': {advice}")


def unfinished(source):
    for match in re.finditer(r"\b(?:TODO|FIXME|XXX)\b", source.text):
        yield Breach(source.path, source.line_of(match.start()), "unfinished",
                     f"'{match.group(0)}': finish it, or open an issue and say why it may wait")


# --- includes -------------------------------------------------------------------------------------

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
ONLY_IN = {  # third-party headers and the modules that may see them
    "yaml-cpp/": {"config"},
    "CLI/": {"base", "app", "sim"},  # base: what was meant by a command line; sim: the replay's
    "boost/asio": {"net", "admin"},
    "boost/beast": {"http", "admin"},
    "curl/": {"web"},
    "ares.h": {"discovery"},
}


def module_order(cmake_text):
    """The modules in order, from the one list in CMakeLists.txt."""
    match = re.search(r"foreach\(module ([a-z_ \n]+)\)\s*add_subdirectory\(src/", cmake_text)
    return match.group(1).split() if match else []


def module_of(path, order):
    parts = path.split("/")
    name = parts[1] if parts[0] == "src" else parts[2] if path.startswith("include/") else ""
    return name if name in order and len(parts) > 2 else None


def include_order(source, order):
    module = module_of(source.path, order)
    if module is None:
        return
    for match in INCLUDE.finditer(source.text):
        header = match.group(2)
        complaint = include_complaint(module, header, match.group(1) == '"', order)
        if complaint:
            yield Breach(source.path, source.line_of(match.start()), "include",
                         f"'{header}': {complaint}")


def include_complaint(module, header, is_quoted, order):
    parts = header.split("/")
    if is_quoted and parts[0] == "prefix_router" and len(parts) > 2 and parts[1] in order:
        if order.index(parts[1]) > order.index(module):
            return f"'{module}' must not know '{parts[1]}', which comes after it"
    elif is_quoted and parts[0] in order and parts[0] != module:
        return f"private to '{parts[0]}'; include what it offers under prefix_router/{parts[0]}/"
    elif is_quoted and parts[0] != "prefix_router" and parts[0] != module:
        return f"write the path from src: \"{module}/{header}\""
    for library, modules in ONLY_IN.items():
        if header.startswith(library) and module not in modules:
            return f"only in {', '.join(sorted(modules))}"
    return None


# --- sizes and the map of the code ----------------------------------------------------------------

def file_size(source):
    lines = source.text.count("\n")
    limit = HARD_LINES_TESTS if source.path.startswith("tests/") else HARD_LINES
    if lines > limit:
        yield Breach(source.path, lines, "size", f"{lines} lines; split it along a noun (at most {limit})")


def architecture(sources, text):
    if text is None:
        yield Breach("ARCHITECTURE.md", 1, "map", "is missing")
        return
    folders = {s.path.split("/")[1] for s in sources if re.match(r"src/[^/]+/", s.path)}
    for folder in sorted(folders):
        if not re.search(rf"`(?:src/)?{re.escape(folder)}[`/]", text):
            yield Breach("ARCHITECTURE.md", 1, "map", f"does not name the folder src/{folder}")
    lines = text.count("\n")
    if lines > ARCHITECTURE_LINES:
        yield Breach("ARCHITECTURE.md", lines, "map",
                     f"{lines} lines; a map has at most {ARCHITECTURE_LINES}")


# --- co_await -------------------------------------------------------------------------------------

def coroutine_statements(source):
    done = -1
    for match in re.finditer(r"\bco_await\b", source.code):
        if match.start() < done:
            continue  # the same statement as the one before
        start = statement_start(source.code, match.start())
        done, found = scan_statement(source.code, start)
        if found:
            yield Breach(source.path, source.line_of(match.start()), "co_await",
                         f"holds {found}; name it on the line before (GCC 12 destroys it twice)")


def is_block(code, brace):
    """Whether a `{` opens a block: clang-format puts a space before it, and none before an
    initialiser, except after an operator."""
    before = code[:brace].rstrip(" \n")
    return code[brace - 1] in " \n" and not re.search(r"(?:[=(,{]|\b(?:co_)?return)$", before)


def statement_start(code, position):
    """The first character of the statement around `position`."""
    i = position - 1
    while i >= 0:
        c = code[i]
        if c == "{" and is_block(code, i):
            break
        if c == ";" and not inside_parentheses(code, i, position):
            break
        if c == "}" and not re.match(r"\s*[.,)\];>(]|\s*->", code[i + 1:i + 80]):
            break
        i -= 1
    return i + 1


def inside_parentheses(code, start, end):
    """Whether a `(` before `start` is still open there, as in `if (init; co_await x)`."""
    depth = 0
    for c in code[start:end]:
        depth += (c == "(") - (c == ")")
    if depth < 0:
        return True
    depth = 0
    for c in reversed(code[max(0, start - 400):start]):
        if c in ";{}" and depth == 0:
            return False
        depth += (c == ")") - (c == "(")
        if depth < 0:
            return True
    return False


def scan_statement(code, start):
    """The end of the statement, and what it must not hold, if it does."""
    depth = 0
    for i in range(start, len(code)):
        c = code[i]
        if c in "([":
            depth += 1
            if c == "[" and is_lambda(code, i):
                return i, "a lambda"
        elif c in ")]":
            depth -= 1
        elif c == "{":
            if depth <= 0 and is_block(code, i):
                return i, None
            return i, "a {...} initialiser"
        elif c == "}" or (c == ";" and depth <= 0):
            return i, None
    return len(code), None


def is_lambda(code, bracket):
    if code[bracket:bracket + 2] == "[[" or code[bracket - 1] == "[":
        return False
    before = code[:bracket].rstrip(" \n")
    return not re.search(r'(?:[\w)\]"]|\bauto\s*&{0,2})$', before) or before.endswith("return")


# --- clang-format ---------------------------------------------------------------------------------

def formatting(root, paths):
    if not shutil.which(CLANG_FORMAT):
        yield Breach(CLANG_FORMAT, 0, "format", "is missing; run scripts/install_dependencies.sh")
        return
    batch = max(1, -(-len(paths) // (os.cpu_count() or 1)))
    running = [subprocess.Popen([CLANG_FORMAT, "--dry-run", *paths[i:i + batch]], cwd=root,
                                stderr=subprocess.PIPE, text=True)
               for i in range(0, len(paths), batch)]
    first = {}
    for process in running:
        for match in re.finditer(r"^(\S+?):(\d+):\d+: warning: code should be clang-formatted",
                                 process.communicate()[1], re.MULTILINE):
            first.setdefault(match.group(1), int(match.group(2)))
        if process.returncode != 0:
            yield Breach(CLANG_FORMAT, 0, "format", f"exit status {process.returncode}")
    for path, line in sorted(first.items()):
        yield Breach(path, line, "format", f"run {CLANG_FORMAT} -i {path}")


# --- all of it ------------------------------------------------------------------------------------

def tracked_files(root):
    listing = subprocess.run(["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listing.returncode == 0:
        names = listing.stdout.decode().split("\0")
    else:  # an unpacked archive
        names = [os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, found in os.walk(root) for name in found]
        names = [n for n in names if not n.startswith(("build", "."))]
    return sorted(n for n in names
                  if n.endswith((".cpp", ".hpp", ".py", ".sh")) and not n.startswith(UNTOUCHED)
                  and os.path.exists(os.path.join(root, n)))


def read(root, path):
    full = os.path.join(root, path)
    if not os.path.exists(full):
        return None
    with open(full, encoding="utf-8", errors="replace") as file:
        return file.read()


def check(root, with_format=True):
    """All breaches, and the sources that were looked at."""
    sources = [Source(path, read(root, path)) for path in tracked_files(root)]
    order = module_order(read(root, "CMakeLists.txt") or "")
    breaches = []
    if not order:
        breaches.append(Breach("CMakeLists.txt", 1, "include", "holds no foreach(module ...) list"))
    for source in sources:
        breaches += file_size(source)
        if is_cpp(source.path):
            breaches += banned_words(source)
            breaches += unfinished(source)
            breaches += include_order(source, order)
            breaches += coroutine_statements(source)
    breaches += architecture(sources, read(root, "ARCHITECTURE.md"))
    if with_format:
        breaches += formatting(root, [s.path for s in sources if is_cpp(s.path)])
    return breaches, sources


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--root", default=os.path.dirname(here))
    parser.add_argument("--no-format", action="store_true", help="leave out clang-format")
    arguments = parser.parse_args()
    breaches, sources = check(arguments.root, not arguments.no_format)
    for breach in sorted(breaches):
        print(breach)
    lines = [s.text.count("\n") for s in sources if is_cpp(s.path)] or [0]
    print(f"check_style: {len(sources)} files, {len(breaches)} problems; C++ files have a median of "
          f"{statistics.median(lines):.0f} lines, {sum(n > SOFT_LINES for n in lines)} above "
          f"{SOFT_LINES}")
    sys.exit(1 if breaches else 0)


if __name__ == "__main__":
    main()
