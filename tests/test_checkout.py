"""Promises of the source tree: a true map, imports that run one way, documented commands."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from attention_katas import cli
from attention_katas.judge import ban_check
from attention_katas.packs.catalog import load_catalog
from attention_katas.sandbox import selftest
from tests.hostility import FILES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "harness" / "attention_katas"
MODULES = sorted(PACKAGE.rglob("*.py"))

# From the top of the stack to its floor: a layer may import what stands below it, never above.
LAYERS = [
    {"command", "__main__"},
    {"cli", "notebook", "formats"},
    {"classroom", "lab"},
    {"doctor", "dev", "certificate", "watch", "grading"},
    {"service"},
    {"render"},
    {"diagnosis"},
    {"judge"},
    {"sandbox"},
    {"authoring", "devices"},
    {"packs"},
    {"verdict"},
    {"errors"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_run_one_way(path):
    mine = part(path)
    if mine in ("__init__", "__main__"):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attention_katas"):
            rest = node.module.split(".")[1:]
            names = rest[:1] or [alias.name for alias in node.names]
        for name in names:
            if name != mine and name in RANK:
                assert RANK[name] > RANK[mine], f"{mine} imports {name}, which stands above it"


def test_only_cli_knows_click():
    users = [
        part(p)
        for p in MODULES
        if re.search(r"^\s*(import|from) click", p.read_text(encoding="utf-8"), re.M)
    ]
    assert set(users) == {"cli"}


def test_the_map_is_true():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = set(
        re.findall(
            r"(\w+)(?:\.py|/)", text[text.index("harness/attention_katas/\n") :].split("```")[0]
        )
    )
    there = {part(path) for path in MODULES} - {"__init__", "__main__", "errors"}
    assert there <= drawn
    assert {name for name in drawn if name not in ("harness", "attention_katas")} <= there


def names(group, prefix=""):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from names(command, f"{prefix}{name} ")
        else:
            yield (prefix if command.hidden else prefix + name).rstrip()  # `kata grade PATH`


@pytest.mark.parametrize("name", list(names(cli.main)))
def test_every_command_is_documented(name):
    assert f"`kata {name}" in (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 200


def test_every_page_is_reached_and_every_link_leads_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    targets = set()
    for page in pages:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                target = (page.parent / link).resolve()
                assert target.exists(), f"{page.name}: {link}"
                targets.add(target)
    assert {page for page in pages if page.parent.name == "docs"} <= targets


def test_every_option_of_run_is_documented():
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for option in cli.main.commands["run"].params:
        if option.param_type_name == "option" and not option.hidden:
            assert option.opts[0] in page


def test_every_option_of_grade_is_documented():
    names = ("classroom", "formats", "cluster", "commands")
    text = "".join((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in names)
    for option in cli.main.commands["grade"].commands["submissions"].params:
        if option.param_type_name == "option" and not option.hidden:
            assert option.opts[0] in text


def test_constraints_pin_what_is_asked_for():
    pinned = set(re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.M))
    wanted = re.findall(r'^    "([\w-]+)[>=<]', (ROOT / "pyproject.toml").read_text(), re.M)
    assert set(wanted) - {"tomli"} <= pinned


def test_every_library_that_is_imported_is_asked_for():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    names = {name.lower() for name in re.findall(r'^    "([\w-]+)[>=<]', project, re.M)}
    known = {name.replace("-", "_") for name in names} | {"pytest_jsonreport", "dask"}
    optional = {"anywidget", "traitlets", "IPython", "tomllib"}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
            for name in {module.partition(".")[0] for module in modules}:
                ours = name in sys.stdlib_module_names | {"attention_katas"} | optional
                assert ours or name in known, f"{path.name} imports {name}"


def test_nothing_names_a_machine_or_a_registry():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    words = re.compile(r"/(?:work|home|root)/\w|pypi\.org|pythonhosted|registry\.npmjs")
    for name in listed.stdout.split():
        path = ROOT / name
        if name.startswith("tests/hostile/"):
            continue  # they reach for places of many machines
        if path.suffix in (".py", ".md", ".toml", ".txt", ".yml", ".json") and path != Path(
            __file__
        ):
            assert not words.search(path.read_text(encoding="utf-8")), name


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_source_is_read_by_python_3_10(path):
    ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))


def test_the_sandbox_worker_imports_nothing_else_of_ours():
    loaded = (
        "forkserver",
        "runner",
        "stdio",
        "wire",
        "frames",
        "audit",
        "bans",
        "fake_device",
        "__main__",
        "__init__",
    )
    files = [PACKAGE / "sandbox" / f"{name}.py" for name in loaded]
    for file in [*files, *(PACKAGE / "sandbox" / "restrictions").glob("*.py")]:
        text = file.read_text(encoding="utf-8")
        assert "from attention_katas" not in text
        assert "import attention_katas" not in text


def test_the_figures_of_docs_security():
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    families = load_catalog().packs[0].families
    routes = sum(
        len(ban_check.routes(f, ban_check.SHORT, ban_check.FULL, ban_check.SLOW)) for f in families
    )
    assert f"tries {len(selftest.ATTEMPTS)} forbidden acts" in text
    assert f"holds {len(FILES)} files" in text
    assert f"({routes} of them are tried" in " ".join(text.split())
