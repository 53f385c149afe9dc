"""The directions of ARCHITECTURE: which room may import what."""

import subprocess
import sys
from fnmatch import fnmatch

import pytest

from tests.architecture.source import ROOT, modules

ALLOWED = {
    "sqlalchemy": ("devflow/store/*",),
    "alembic": ("devflow/store/*",),
    "sqlite3": ("devflow/store/*",),
    "httpx": ("devflow/providers/transport.py",),
    "PySide6": ("devflow/ui/*", "devflow/app/desktop*"),
    "shiboken6": ("devflow/ui/*", "devflow/app/desktop*"),
    "qasync": ("devflow/ui/*", "devflow/app/desktop*"),
    "mcp": ("devflow/mcp_server*", "devflow/tools/mcp_source*"),
    "mcp_types": ("devflow/mcp_server*", "devflow/tools/mcp_source*"),
    "httpx2": ("devflow/tools/mcp_source*",),
    "jsonschema": ("devflow/tools/mcp_source*",),
    "pypdf": ("devflow/digest/extracting.py",),
    "mammoth": ("devflow/digest/extracting.py",),
    "markdownify": ("devflow/digest/extracting.py",),
    "bs4": ("devflow/digest/extracting.py",),
    "yaml": ("devflow/wiki/skill_file.py", "devflow/transfer/front_matter.py"),
    "keyring": ("devflow/models/keys*",),
    "platformdirs": ("devflow/app/paths.py",),
}


def test_rooms_import_downwards_only() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("package", ALLOWED)
def test_a_foreign_package_is_imported_only_in_its_room(package: str) -> None:
    astray = [
        f"{module.path}:{line} imports {name}"
        for module in modules("devflow")
        for line, name in module.imports()
        if name.partition(".")[0] == package and not any(fnmatch(module.path, room) for room in ALLOWED[package])
    ]
    assert astray == []


def test_the_domain_imports_the_standard_library_alone() -> None:
    astray = [
        f"{module.path}:{line} imports {name}"
        for module in modules("devflow/domain")
        for line, name in module.imports()
        if not name.startswith("devflow.domain") and name.partition(".")[0] not in sys.stdlib_module_names
    ]
    assert astray == []


@pytest.mark.parametrize("room", ["devflow/cli", "devflow/mcp_server", "devflow/app"])
def test_only_the_desktop_knows_the_window(room: str) -> None:
    astray = [
        f"{module.path}:{line} imports {name}"
        for module in modules("devflow")
        for line, name in module.imports()
        if module.path.startswith(room)
        and not fnmatch(module.path, "devflow/app/desktop*")
        and name.startswith("devflow.ui")
    ]
    assert astray == []


def test_the_command_line_starts_without_qt_or_a_database() -> None:
    """Qt costs half a second and needs libraries a server lacks; `--version` must not pay for it."""
    program = (
        "import sys, devflow.cli; "
        "print([name for name in ('PySide6', 'qasync', 'sqlalchemy', 'alembic', 'mcp') if name in sys.modules])"
    )
    started = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (started.stdout.strip(), started.stderr) == ("[]", "")
