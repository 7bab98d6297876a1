"""What every test may use: Hypothesis profiles, golden updates, measured data, a private cache."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from kleene.kernels import compiled

# A draw may be the first to call a function, and compile it: that is no fault of the strategy.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", _COMMON, max_examples=25)
settings.register_profile("ci", _COMMON, max_examples=40, derandomize=True)
settings.register_profile("deep", _COMMON, max_examples=400)
_deepest = "ci" if os.environ.get("CI") else "dev"
settings.load_profile("deep" if os.environ.get("KLEENE_DEEP") else _deepest)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files anew instead of comparing with them; review the diff",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each of `-n` processes a stretch of the tests, and the idle one half of another's rest.

    Else neighbours run at the same time in all of them, and each compiles the same loops, and makes
    the same fixtures.
    """
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.option.dist == "load" else None


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be written (`--update-golden`) instead of compared."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of measured programs: `$KLEENE_DATA`, else `../shared/data` by the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("KLEENE_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("the measured programs are absent: set KLEENE_DATA to their folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of this run, shared by its tests, so that nobody's own cache is touched."""
    base = tmp_path_factory.getbasetemp()
    in_parallel = "PYTEST_XDIST_WORKER" in os.environ  # each worker's base is in the run's own
    folder = (base.parent if in_parallel else base) / "kleene-cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KLEENE_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def machine_code() -> Iterator[None]:
    """Compile whatever a test needs, however small: only some tests are about plain Python."""
    with nullcontext() if compiled.is_interpreting() else compiled.interpreted(False):
        yield


@pytest.fixture(scope="session", autouse=True)
def absolute_python_path() -> Iterator[None]:
    """Make a relative `PYTHONPATH=src` absolute: tests start processes in other folders too."""
    with pytest.MonkeyPatch.context() as patch:
        if found := os.environ.get("PYTHONPATH"):
            folders = map(os.path.abspath, found.split(os.pathsep))
            patch.setenv("PYTHONPATH", os.pathsep.join(folders))
        yield
