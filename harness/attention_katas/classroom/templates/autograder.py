"""Classroom 50 runs this in the student's checkout: installs the judge, grades, exits.

It exits with 0 only when everything was graded. Anything else publishes no score: the fault is then
not the student's, and the submission can be graded again.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FEEDBACK = "@feedback@"
SECONDS = 600  # Classroom 50 ends a job after 15 minutes, installing included


def install(folder: Path) -> Path:
    """An environment of its own, with what requirements.txt pins; returns its bin/."""
    # -I: a file of the student's that is called like a module of Python is not imported.
    subprocess.run([sys.executable, "-I", "-m", "venv", os.fspath(folder)], check=True)
    programs = folder / "bin"
    install = ["-I", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    requirements = os.fspath(HERE / "requirements.txt")
    command = [os.fspath(programs / "python"), *install, "-r", requirements]
    subprocess.run(command, check=True, cwd=HERE)
    return programs


def grade() -> int:
    """Grade the working directory into result.json; the exit code of `kata grade`."""
    with tempfile.TemporaryDirectory() as scratch:
        kata = install(Path(scratch) / "katas") / "kata"
        formats = ["--to", "classroom50=result.json", "--to", "actions", "--to", "annotations"]
        command = [
            os.fspath(kata),
            "grade",
            ".",
            "--layout",
            "one",
            *formats,
            "--feedback",
            FEEDBACK,
        ]
        for pack in sorted((HERE / "set").glob("*/pack.toml")):  # katas of the teacher's own
            command += ["@option@", os.fspath(pack.parent)]
        return subprocess.run(command, check=False, timeout=SECONDS).returncode


def main() -> int:
    """0 if there is a result.json of ours, 1 if not."""
    result = Path("result.json")
    for name in (result, Path("release-body.md")):
        name.unlink(missing_ok=True)  # one that a student committed is no result
    try:
        code = grade()
    except (OSError, subprocess.SubprocessError) as error:
        print("::error::the grader itself failed:", *str(error).split())  # noqa: T201
        code = 1
    if code == 0 and result.is_file():
        return 0
    result.unlink(missing_ok=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
