"""Files that stand alone: C, CUDA C++ with its host, Python; and what NVRTC says of kernels."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("islpy", reason="plans need the package islpy")

from kleene.codegen import cuda, cuda_host
from kleene.codegen.text import RESERVED
from kleene.kernels.launch import api
from kleene.kernels.launch import compile as nvrtc
from kleene.kernels.launch.host_build import compiler
from kleene.offload.plans.built import compiled
from kleene.offload.plans.files import file_of
from tests.offload.kernels.loop_programs import unit_of
from tests.offload.plans.generated import plans_of, polybench

HERE = Path(__file__).parent
DEEP = os.environ.get("KLEENE_DEEP")  # all thirty computations
MOVED = """
void moved(int n, int m, double *to, const double *from) {
  for (int i = 2; i < n; i++)
    for (int j = 0; j < m; j++) to[i * m + j] = 2 * from[i * m + j];
}
"""
_LAUNCH = re.compile(r"(\w+)<<<(.+)>>>(\([^;]*\));")
no_compiler = pytest.mark.skipif(compiler() is None, reason="the package ziglang is not installed")


def plans_in(code: str):
    return list(plans_of(unit_of(code)).values())


def _given(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


@no_compiler
def test_c_takes_the_other_branch_if_arrays_overlap():
    library = compiled(file_of(plans_in(MOVED), "c")[0])
    a = np.arange(30.0)
    wanted = a.copy()
    for at in range(6, 15):  # from one element further on: every second value is doubled twice
        wanted[at + 1] = 2 * wanted[at]
    library.moved(5, 3, _given(a[1:]), _given(a))
    np.testing.assert_array_equal(a, wanted)
    to = np.zeros(15)
    library.moved(5, 3, _given(to), _given(a))
    np.testing.assert_array_equal(to[6:], 2 * a[6:15])
    assert not to[:6].any()


@no_compiler
def test_the_host_of_cuda_moves_only_the_sections(tmp_path: Path):
    text, reasons = file_of(plans_in(MOVED), "cuda")
    assert not reasons
    assert "moved_sequential(n, m, to, from);" in text
    library = library_of(text, "moved", tmp_path)
    a, to = np.arange(15.0), np.full(15, -1.0)
    library.moved(5, 3, _given(to), _given(a))
    np.testing.assert_array_equal(to[6:], 2 * a[6:])
    assert (to[:6] == -1).all()
    assert library.copied() == 3 * 9 * 8  # both arrays in, one out: elements 6 to 14


def library_of(text: str, function: str, folder: Path) -> ctypes.CDLL:
    """Return a CUDA file as a library of the CPU, by calls of CUDA on plain memory."""
    (folder / "cuda_runtime.h").write_text((HERE / "cuda_runtime.h").read_text())
    file = folder / f"{function}.cpp"
    changed = _LAUNCH.sub(lambda m: f"LAUNCH({_shape(m[2])}, {m[1]}{m[3]});", text)
    file.write_text(changed.replace(f"void {function}(", f'extern "C" void {function}('))
    command = [str(compiler()), "c++", "-shared", "-fPIC", "-nostdlib++", f"-I{folder}", "-w"]
    command += ["-fno-exceptions", "-fno-sanitize=all", str(file), "-o", str(folder / "made.so")]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "made.so"))


@no_compiler
def test_the_host_of_cuda_launches_loops_of_small_steps_whole(tmp_path: Path):
    (plan,) = plans_of(polybench()["floyd-warshall"]).values()
    text, reasons = file_of([plan], "cuda")
    assert not reasons
    library = library_of(text, "floyd_warshall", tmp_path)
    path = np.random.default_rng(1).integers(0, 99, (70, 70)).astype(np.int32)
    path[3, 3] = -2  # a negative cycle, which a second pass of all parts goes through
    wanted = path.copy()
    for k in range(70):
        for i in range(70):
            for j in range(70):
                wanted[i, j] = min(wanted[i, j], wanted[i, k] + wanted[k, j])
    library.floyd_warshall(70, _given(path))
    np.testing.assert_array_equal(path, wanted)
    assert library.together() == 4 * 1024  # 4900 points, on four multiprocessors


def _shape(text: str) -> str:
    """Return `grid, block` of a launch as two structures."""
    if text.startswith("dim3"):
        return text
    grid, block = text.split(",")
    return f"dim3({grid}), dim3({block})"


def test_python_has_the_sections_and_steps_and_stands_alone():
    text, _ = file_of(plans_in(MOVED), "python")
    names: dict[str, object] = {"__name__": "generated"}
    exec(compile(text, "generated.py", "exec"), names)
    assert names["moved_sections"](5, 3)["to"][1] == (48, 120)
    assert "import kleene" not in text
    assert "from kleene" not in text
    with pytest.raises(TypeError, match="argument 'to' is an array of float32"):
        names["moved"](5, 3, np.zeros(15, np.float32), np.zeros(15))


@pytest.mark.skipif(nvrtc.problem() is not None, reason=str(nvrtc.problem()))
def test_nvrtc_compiles_the_kernels(tmp_path: Path):
    names = sorted(polybench()) if DEEP else ["gemm", "atax", "durbin", "trmm"]
    plans = [plan for name in names for plan in plans_of(polybench()[name]).values()]
    file = tmp_path / "kernels.cu"
    file.write_text(cuda.source(plans))
    text = nvrtc.ptx(api.Source.of(file))
    assert all(f".entry {one.name}(" in text for plan in plans for one in plan.kernels())
    file.write_text(cuda.source([one for one in plans if one.function == "gemm"]))
    found = nvrtc.resources(api.Source.of(file))
    assert not any(one.spill_store_bytes for one in found.values())
    assert found["gemm_i_j_tiled"].shared_bytes == 16 * (66 + 130) * 8


@pytest.mark.parametrize("kind", ["double", "float", "int", "long", "unsigned", "unsigned long"])
@pytest.mark.skipif(nvrtc.problem() is not None, reason=str(nvrtc.problem()))
def test_nvrtc_compiles_reductions_and_scans_of_every_type(kind: str, tmp_path: Path):
    code = f"""
    {kind} least(int n, const {kind} *a) {{
      {kind} m = a[0];
      for (int i = 0; i < n; i++) m = a[i] < m ? a[i] : m;
      return m;
    }}
    {kind} most(int n, const {kind} *a) {{
      {kind} m = a[0];
      for (int i = 0; i < n; i++) m = a[i] > m ? a[i] : m;
      return m;
    }}
    {kind} product(int n, const {kind} *a) {{
      {kind} m = 1;
      for (int i = 0; i < n; i++) m *= a[i];
      return m;
    }}
    void sums(int n, {kind} *a) {{
      for (int i = 1; i < n; i++) a[i] += a[i - 1];
    }}
    void mosts(int n, const {kind} *restrict a, {kind} *restrict b) {{
      {kind} m = 0;
      for (int i = 0; i < n; i++) {{ if (a[i] > m) m = a[i]; b[i] = m; }}
    }}
    void bins(int n, {kind} *b, const int *at) {{
      for (int i = 0; i < n; i++) b[at[i]] += 1;
    }}"""
    file = tmp_path / "kernels.cu"
    plans = plans_in(code)
    assert all(one.steps for one in plans), [one.reason for one in plans]
    file.write_text(cuda.source(plans))
    nvrtc.ptx(api.Source.of(file))


def test_names_of_the_text_itself_are_reserved():
    """A variable of a program with such a name would be taken for the text's own."""
    code = """
    int f(int n, int m, const int a[restrict n][m], int *restrict sums, double p[restrict n][m]) {
      int h[64];
      for (int i = 1; i < n; i++) sums[i] += sums[i - 1];
      for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) h[a[i][j] & 63]++;
      for (int t = 0; t < m; t++)
        for (int i = 1; i < n; i++) for (int j = 1; j < m; j++) p[i][j] *= 0.5 + p[0][0];
      int most = 0, at = 0;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) if (a[i][j] > most) { most = a[i][j]; at = i; }
      return at;
    }"""
    (plan,) = plans_in(code)
    gemm, atax = (plans_of(polybench()[name])[name] for name in ("gemm", "atax"))
    text = cuda.source([plan, gemm, atax]) + cuda_host.source([plan])
    text = re.sub(r'//.*|".*?"|\n\s*#.*', "", text)
    own = set(re.findall(r"\b[a-z]\w*_\b", text)) - {"restrict__"}
    assert len(own) > 40
    assert not {one for one in own if not one.startswith("d_")} - RESERVED
