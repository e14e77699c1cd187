"""Runs the `run:` steps of a workflow or a composite action here, in order, as Actions would.

Steps with `uses:` are not run; what they would get is noted. Of expressions it knows what our files
use: contexts, literals, && || == != !, cancelled() and hashFiles().
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml import YAML

CONTEXT = re.compile(r"\b(steps|inputs|secrets|github|matrix)((?:\.[\w-]+)+)")


def read(text):
    """YAML 1.2, as Actions reads it: `on` is a word, and a key that comes twice is an error."""
    return YAML(typ="safe", pure=True).load(text)


@dataclass
class Run:
    """What came of it. used: (uses, env, with) of every step that would have called an action."""

    contexts: dict
    failed: bool = False
    ran: list[str] = field(default_factory=list)
    used: list[tuple] = field(default_factory=list)
    log: str = ""


def value(expression, contexts, folder):
    """An expression without its ${{ }}, evaluated."""

    def look(found):
        here = contexts.get(found[1], {})
        for name in found[2].split(".")[1:]:
            here = (here or {}).get(name, "")
        return repr(here)

    strings = re.findall(r"'[^']*'", expression)
    bare = re.sub(r"'[^']*'", "STRING", expression)
    bare = CONTEXT.sub(look, bare).replace("&&", " and ").replace("||", " or ")
    bare = re.sub(r"!(?!=)", " not ", bare)
    for text in strings:
        bare = bare.replace("STRING", text, 1)
    known = {
        "cancelled": lambda: False,
        "hashFiles": lambda name: "hash" if (folder / name).exists() else "",
        "toJSON": repr,
    }
    return eval(bare.strip(), {"__builtins__": {}}, known)  # our own files, not a learner's


def filled(text, contexts, folder):
    whole = re.fullmatch(r"\$\{\{(.*?)\}\}", str(text), re.S)
    if whole:
        return value(whole[1], contexts, folder)
    return re.sub(
        r"\$\{\{(.*?)\}\}", lambda m: str(value(m[1], contexts, folder)), str(text), flags=re.S
    )


def run(steps, folder: Path, environment, **contexts) -> Run:
    """Run these steps in `folder`. contexts: inputs, secrets, github, matrix."""
    done = Run({**contexts, "steps": {}})
    variables = folder.parent / "variables"
    variables.write_text("", encoding="utf-8")
    for number, step in enumerate(steps):
        name = step.get("name") or step.get("uses") or step["run"]
        condition = str(step.get("if", "")).removeprefix("${{").removesuffix("}}")
        if done.failed and "cancelled()" not in condition:
            continue
        if condition and not value(condition, done.contexts, folder):
            continue
        lines = variables.read_text(encoding="utf-8").splitlines()
        own = dict(line.split("=", 1) for line in lines)
        own |= {
            key: _text(filled(text, done.contexts, folder))
            for key, text in step.get("env", {}).items()
        }
        done.ran.append(name)
        if "uses" in step:
            given = {k: filled(v, done.contexts, folder) for k, v in step.get("with", {}).items()}
            done.used.append((step["uses"], own, given))
            continue
        assert "${{" not in step["run"]
        output = folder.parent / f"output-{number}"
        output.touch()
        flags = ["--noprofile", "--norc", "-eo", "pipefail"] if "shell" in step else ["-e"]
        script = folder.parent / f"step-{number}.sh"
        script.write_text(step["run"], encoding="utf-8")
        ended = subprocess.run(
            ["bash", *flags, str(script)],
            cwd=folder,
            env={**environment, **own, "GITHUB_OUTPUT": str(output), "GITHUB_ENV": str(variables)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        done.log += ended.stdout
        done.failed = done.failed or ended.returncode != 0
        lines = output.read_text(encoding="utf-8").splitlines()
        if "id" in step:
            outputs = dict(line.split("=", 1) for line in lines)
            done.contexts["steps"][step["id"]] = {"outputs": outputs}
    return done


def _text(found):
    return {True: "true", False: "false"}.get(found, str(found)) if found is not None else ""
