"""Take every scene in both themes and both languages at 100 %, one of each at 200 %, and lay them on contact sheets.

`python3 dev.py shots [--scenes NAME …] [--once]`: pictures in `shots/`; `--once` leaves out 200 %. Each scale is a
process of its own: Qt reads the factor when the application starts.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path("shots")


def main() -> int:
    options = _options()
    FOLDER.mkdir(exist_ok=True)
    if options.take is not None:
        from tests.shots.take import take

        return take(FOLDER, int(options.take), options.scenes)
    scales = (1,) if options.once else (1, 2)
    for scale in scales:
        command = [sys.executable, "-m", "tests.shots", "--take", str(scale)]
        if options.scenes:
            command += ["--scenes", *options.scenes]
        environ = {**os.environ, "QT_SCALE_FACTOR": str(scale), "QT_ACCESSIBILITY": "0"}
        code = subprocess.run(command, env=environ, check=False).returncode
        if code:
            return code
    from tests.shots.sheet import contact_sheet

    for sheet in (contact_sheet(FOLDER, scale) for scale in scales):
        print(sheet)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev.py shots")
    parser.add_argument("--scenes", nargs="+", default=[], help="only the scenes of these names")
    parser.add_argument("--once", action="store_true", help="100 %% only")
    parser.add_argument("--take", choices=("1", "2"), help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
