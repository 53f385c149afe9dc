"""The application's and the tests' source, parsed once for the tests beside this file."""

import ast
import functools
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Module:
    """One source file; `path` is relative to the root, with forward slashes."""

    path: str
    text: str
    tree: ast.Module

    def imports(self) -> Iterator[tuple[int, str]]:
        """Line and dotted name of every import, wherever it stands; relative ones are resolved."""
        package = self.path.removesuffix(".py").split("/")[:-1]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = package[: len(package) + 1 - node.level] if node.level else []
                source = ".".join([*base, *([node.module] if node.module else [])])
                yield from ((node.lineno, f"{source}.{alias.name}") for alias in node.names)

    def calls(self) -> Iterator[tuple[int, str, ast.Call]]:
        """Line, last word of the called name, and the node of every call."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                match node.func:
                    case ast.Name(id=name) | ast.Attribute(attr=name):
                        yield node.lineno, name, node
                    case _:
                        pass


@functools.cache
def modules(folder: str) -> tuple[Module, ...]:
    """Every Python file under `folder`."""
    return tuple(
        Module(file.relative_to(ROOT).as_posix(), text, ast.parse(text, str(file)))
        for file in sorted((ROOT / folder).rglob("*.py"))
        for text in [file.read_text(encoding="utf-8")]
    )


@functools.cache
def tracked_files() -> tuple[Path, ...]:
    """Every file that is or would be committed; in an unpacked sdist, every file."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return tuple(ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file())
    return tuple(file for file in ROOT.rglob("*") if file.is_file() and ".venv" not in file.parts)
