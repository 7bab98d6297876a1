"""Every `.cu` of the package compiles without a GPU, and costs what the golden table says."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

import kleene
from kleene.kernels.launch import Source, compile, gpu_problem

PACKAGE = Path(kleene.__file__).parent
KERNELS = sorted(PACKAGE.rglob("*.cu"))
NAMES = [path.relative_to(PACKAGE).as_posix() for path in KERNELS]
GOLDEN = Path(__file__).parents[1] / "resources.json"

# Where a GPU answers, its own compiler is at hand and the wheels need not be; elsewhere their
# absence is a fault, for then nothing compiles our CUDA at all.
pytestmark = pytest.mark.skipif(
    compile.problem() is not None and gpu_problem() is None, reason=str(compile.problem())
)


def test_there_are_kernels():
    assert "kernels/minplus/cuda/closure.cu" in NAMES


@pytest.mark.parametrize("path", KERNELS, ids=NAMES)
@pytest.mark.parametrize("architecture", ["compute_75", "compute_90", "compute_100"])
def test_compiles(path, architecture):
    text = compile.ptx(Source.of(path), architecture)
    assert f".target {architecture.replace('compute', 'sm')}" in text
    assert ".entry" in text


@pytest.mark.parametrize("path", KERNELS, ids=NAMES)
def test_resources_are_as_recorded(path, update_golden):
    name = path.relative_to(PACKAGE).as_posix()
    found = {kernel: asdict(cost) for kernel, cost in compile.resources(Source.of(path)).items()}
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if update_golden:
        golden = {key: golden[key] for key in golden if (PACKAGE / key).exists()}
        GOLDEN.write_text(json.dumps({**golden, name: found}, indent=1, sort_keys=True) + "\n")
        return
    assert found == golden.get(name), "run pytest --update-golden and review the difference"
    for kernel, cost in found.items():
        assert cost["spill_store_bytes"] == cost["spill_load_bytes"] == 0, f"{kernel} spills"


def test_a_kernel_that_spills_is_seen(tmp_path):
    path = tmp_path / "greedy.cu"
    path.write_text(
        'extern "C" __global__ void __launch_bounds__(1024, 2) greedy(float* a) {\n'
        "  float kept[96];\n"
        "  for (int i = 0; i < 96; i++) kept[i] = a[i * blockDim.x + threadIdx.x];\n"
        "  __syncthreads();\n"
        "  for (int i = 0; i < 96; i++) a[(95 - i) * blockDim.x + threadIdx.x] = kept[i];\n"
        "}\n"
    )
    cost = compile.resources(Source.of(path))["greedy"]
    assert cost.spill_store_bytes > 0 or cost.stack_bytes > 0
    assert cost.registers <= 32


def test_a_mistake_is_reported_with_its_line(tmp_path):
    path = tmp_path / "broken.cu"
    path.write_text('extern "C" __global__ void f(int* a) { a[0] = ; }\n')
    with pytest.raises(ValueError, match=r"broken\.cu\(1\): error"):
        compile.ptx(Source.of(path))
