"""Reads Markdown documents: their fenced blocks with the marks behind the language, and their links.

A block of a language that can be run or loaded carries a mark: `sh run` (run by the test, all of a document in one shell
and folder), `yaml check` (must pass `prefix-router check`; an extract without backends gets some), `yaml file=NAME` (the
same, and kept under that name for the commands after it), or `not-run=WHY`.
"""
import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARKED_LANGUAGES = {"sh", "bash", "console", "yaml", "python"}
FENCE = re.compile(r"^```(\S*)[ ]?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = {"sh": r"run|not-run=\S+", "yaml": r"check|file=[\w.-]+|not-run=\S+", "python": r"not-run=\S+"}


class Block(NamedTuple):
    document: str
    line: int
    language: str
    mark: str
    text: str

    @property
    def place(self):
        return f"{self.document}:{self.line}"


def documents():
    """The README and everything under docs, as paths relative to the root."""
    return ["README.md"] + sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))


def read(document):
    return (ROOT / document).read_text()


def blocks(document):
    text = read(document)
    return [Block(document, text.count("\n", 0, match.start()) + 1, *match.groups()) for match in FENCE.finditer(text)]


def complaint(block):
    """What is wrong with a block's mark, or None."""
    if block.language not in MARKED_LANGUAGES:
        return None
    pattern = MARK.get(block.language)
    if pattern is None:
        return f"write 'sh', not '{block.language}'"
    if not re.fullmatch(pattern, block.mark):
        return f"'{block.language} {block.mark}' needs a mark that matches {pattern}"
    return None


def links(document):
    """Targets inside the project, without their anchors, as paths from the root."""
    prose = FENCE.sub("", read(document))
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
        if not re.match(r"[a-z]+:", target):
            yield (ROOT / document).parent / target
