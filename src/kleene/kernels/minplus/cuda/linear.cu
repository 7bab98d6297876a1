// x := Σ c_t y_t + d, c_t in lows[t]..highs[t], d <= up and -d <= down, over a batch.
//
// Bounds between other variables stay as they are (`assign_one` of cpu/half_matrix.py says why), so
// each thread finds the two bounds of one V'[i] with x by itself. The scratch space of octagon t is
// 8n + 2 elements from begin + 12t on: ends[2s + e] bounds ±x - V'[k] (+ if e = 0), where s = 2u + p,
// k = 2y + p and y is the variable of term u; twice[e] is twice the bound of ±x; reach[2i + e] bounds ±x - V'[i].
// grid (octagons, shares), block any multiple of 32.
#include "element.cuh"
#include "octagon.cuh"
#ifndef VALUE_T
#define VALUE_T int
#endif
#define INFINITE Limits<VALUE_T>::infinity()

struct Scratch {
  VALUE_T *ends, *twice, *reach;
};
__device__ __forceinline__ Scratch scratch_of(VALUE_T* scratch, const Part& o) {
  VALUE_T* here = scratch + o.begin + 12 * (size_t)blockIdx.x;
  return {here, here + 4 * (size_t)o.n, here + 4 * (size_t)o.n + 2};
}
__device__ __forceinline__ bool is_live(const VALUE_T* m, const Part& o) {
  return o.n > 0 && !(m[o.begin] < 0);
}

// The upper bound of factor * v where v <= up and -v <= down; 0 times infinity is 0.
__device__ __forceinline__ VALUE_T times(VALUE_T factor, VALUE_T up, VALUE_T down) {
  if (factor == 0) return 0;
  return factor < 0 ? product_up((VALUE_T)-factor, down) : product_up(factor, up);
}

// Twice the bound of the form plus `by` times the variable of term `merged`, or of its negation.
__device__ VALUE_T twice_bound(const VALUE_T* m, const long long* variables, const VALUE_T* lows,
                               const VALUE_T* highs, long long n_terms, VALUE_T constant,
                               int negate, long long merged, int by) {
  VALUE_T total = add_up(constant, constant);
  for (long long u = 0; u < n_terms; u++) {
    const int end = 2 * (int)variables[u] + negate;
    const VALUE_T up = m[cell(end ^ 1, end)], down = m[cell(end, end ^ 1)];
    VALUE_T low = lows[u], high = highs[u];
    if (u == merged) {  // sums are rounded upwards: the lower end is negated before and after
      low = -add_up((VALUE_T)-low, (VALUE_T)-by);
      high = add_up(high, (VALUE_T)by);
    }
    const VALUE_T a = times(low, up, down), b = times(high, up, down);
    total = add_up(total, a < b ? b : a);
  }
  return total;
}

extern "C" __global__ void bound_form(
    const VALUE_T* __restrict__ m, const long long* __restrict__ offsets,
    const long long* __restrict__ targets, const long long* __restrict__ starts,
    const long long* __restrict__ variables, const VALUE_T* __restrict__ lows,
    const VALUE_T* __restrict__ highs, const VALUE_T* __restrict__ up,
    const VALUE_T* __restrict__ down, int tighten, VALUE_T* __restrict__ scratch) {
  const long long t = blockIdx.x, first = starts[t], n_terms = starts[t + 1] - first;
  const Part o = part_of(offsets, t);
  if (!is_live(m, o)) return;
  const Scratch into = scratch_of(scratch, o);
  for (long long w = thread_id(); w < 4 * n_terms + 2; w += n_threads()) {
    const int negate = w & 1, p = w >> 1 & 1;
    const bool is_whole = w >= 4 * n_terms;
    VALUE_T bound = INFINITE;
    if (is_whole || variables[first + w / 4] != targets[t]) {
      bound = twice_bound(m + o.begin, variables + first, lows + first, highs + first, n_terms,
                          negate ? down[t] : up[t], negate, is_whole ? -1 : w / 4,
                          p == negate ? -1 : 1);
      if (!is_whole) bound = half_up(tighten ? even(whole(bound)) : bound);
    }
    (is_whole ? into.twice[negate] : into.ends[w]) = bound;
  }
}

extern "C" __global__ void reach_form(const VALUE_T* __restrict__ m,
                                      const long long* __restrict__ offsets,
                                      const long long* __restrict__ starts,
                                      const long long* __restrict__ variables,
                                      VALUE_T* __restrict__ scratch) {
  const long long first = starts[blockIdx.x], n_ends = 2 * (starts[blockIdx.x + 1] - first);
  const Part o = part_of(offsets, blockIdx.x);
  if (!is_live(m, o)) return;
  const Scratch into = scratch_of(scratch, o);
  for (size_t i = thread_id(); i < 2 * (size_t)o.n; i += n_threads()) {
    VALUE_T plus = INFINITE, minus = INFINITE;
    for (long long s = 0; s < n_ends; s++) {
      const int k = 2 * (int)variables[first + s / 2] + (s & 1);
      const VALUE_T path = m[o.begin + cell((int)i, k)];
      plus = least(plus, add_up(path, into.ends[2 * s]));
      minus = least(minus, add_up(path, into.ends[2 * s + 1]));
    }
    into.reach[2 * i] = plus;
    into.reach[2 * i + 1] = minus;
  }
}

// Every thread finds the bounds of x itself: as many steps as `reach_form` took for one end. The
// diagonal is never written, so that every thread can ask whether the octagon is empty.
extern "C" __global__ void write_form(VALUE_T* m, const long long* __restrict__ offsets,
                                      const long long* __restrict__ targets,
                                      const long long* __restrict__ starts,
                                      const long long* __restrict__ variables, int tighten,
                                      VALUE_T* __restrict__ scratch) {
  const long long first = starts[blockIdx.x], n_ends = 2 * (starts[blockIdx.x + 1] - first);
  const Part o = part_of(offsets, blockIdx.x);
  if (!is_live(m, o)) return;
  const Scratch from = scratch_of(scratch, o);
  VALUE_T *here = m + o.begin, high = from.twice[0], low = from.twice[1];
  for (long long s = 0; s < n_ends; s++) {
    const size_t k = 2 * (size_t)variables[first + s / 2] + (s & 1);
    high = least(high, add_up(from.ends[2 * (s ^ 1)], from.reach[2 * k]));
    low = least(low, add_up(from.ends[2 * (s ^ 1) + 1], from.reach[2 * k + 1]));
  }
  if (tighten) high = even(whole(high)), low = even(whole(low));
  const int x = (int)targets[blockIdx.x];
  for (size_t at = thread_id(); at < 2 * (size_t)o.n; at += n_threads()) {
    const int i = (int)at;
    if (i == 2 * x) {
      here[cell(2 * x + 1, 2 * x)] = high;
      here[cell(2 * x, 2 * x + 1)] = low;
    } else if (i >> 1 != x) {
      const VALUE_T own = here[cell(i, i ^ 1)];
      here[cell(i, 2 * x)] = least(from.reach[2 * at], half_up(add_up(own, high)));
      here[cell(i, 2 * x + 1)] = least(from.reach[2 * at + 1], half_up(add_up(own, low)));
    }
  }
}
