"""What ships is what works: an sdist, a wheel built from it, and a fresh environment with that."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import kleene

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "kleene"


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked: what others build from."""
    pytest.importorskip("hatchling", reason="hatchling builds them: pip install -e '.[dev]'")
    folder = tmp_path_factory.mktemp("sdist")
    archive = built("sdist", ROOT, folder)
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", sdist, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of a fresh environment with the wheel in it, and our own dependencies behind."""
    folder = tmp_path_factory.mktemp("fresh")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    scripts = folder / "bin"
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python", "--quiet")
    run(*pip, "install", "--no-deps", "--no-index", "--disable-pip-version-check", wheel)
    (library,) = folder.glob("lib/python*/site-packages")
    # A line with a path does not run the .pth files there, so our own editable Kleene stays out.
    ours = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (library / "dependencies.pth").write_text("\n".join(ours) + "\n")
    return scripts


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        shipped = {name for name in file.namelist() if name.startswith("kleene/")}
    present = {
        f"kleene/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped == present
    assert {"kleene/py.typed", "kleene/ir/analysis_methods.pyi"} <= shipped
    assert any(name.endswith(".cu") for name in shipped)


def test_the_sdist_has_what_its_own_tests_and_readme_need(sdist: Path) -> None:
    for name in ("README.md", "LICENSE", "CITATION.cff", "constraints.txt", "examples/events"):
        assert (sdist / name).exists(), name
    assert {path.name for path in (ROOT / "tests").glob("*.py")} <= {
        path.name for path in (sdist / "tests").glob("*.py")
    }


def test_the_installed_wheel_is_what_runs(installed: Path, tmp_path: Path) -> None:
    code = "import kleene; print(kleene.__file__)"
    where = run(installed / "python", "-c", code, cwd=tmp_path).strip()
    assert Path(where).is_relative_to(installed.parent)


def test_the_installed_command_says_its_version(installed: Path, tmp_path: Path) -> None:
    for command in ((installed / "kleene",), (installed / "python", "-m", "kleene")):
        assert run(*command, "--version", cwd=tmp_path) == f"kleene {kleene.__version__}\n"


def test_the_installed_command_reads_the_examples(
    installed: Path, sdist: Path, tmp_path: Path
) -> None:
    examples = sdist / "examples"
    assert run(installed / "kleene", "ir", examples / "shapes", "--stats", cwd=tmp_path).startswith(
        "functions "
    )
    scheme = examples / "scheme" / "shop.scm"
    assert run(installed / "kleene", "ir", scheme, cwd=tmp_path).startswith("(define ")


def built(target: str, source: Path, folder: Path) -> Path:
    """Return the one file that building `target` makes."""
    run(sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder, cwd=source)
    (file,) = (path for path in folder.iterdir() if path.is_file())
    return file


def run(*command: object, cwd: Path | None = None) -> str:
    """Return what a command prints, seeing nothing of this checkout."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
