// What a library asks about octagons as they lie: which variables are related, how large bounds are.
// grid (octagons, shares), block a multiple of 32.
#include "element.cuh"
#include "octagon.cuh"
#ifndef VALUE_T
#define VALUE_T int
#endif
#define INFINITE Limits<VALUE_T>::infinity()

template <class T> struct Wide { typedef long long type; };
template <> struct Wide<double> { typedef double type; };
typedef Wide<VALUE_T>::type wide_t;  // where two finite bounds can be added

// Labels are a forest: a variable's label is itself, or a smaller one of its group. A stated race:
// whatever a thread sees in another's place is an ancestor of the same group, then as now.
__device__ int root_of(int* label, int k) {
  int above = *(volatile int*)(label + k);
  while (above != k) {
    const int next = *(volatile int*)(label + above);
    *(volatile int*)(label + k) = next;  // the next search has half the way
    k = above;
    above = next;
  }
  return k;
}

__device__ void unite(int* label, int a, int b) {
  while (true) {
    a = root_of(label, a);
    b = root_of(label, b);
    if (a == b) return;
    const int from = a < b ? b : a, to = a < b ? a : b;
    if (atomicCAS(label + from, from, to) == from) return;  // else it is no root any more
  }
}

// Is the bound in row i and column j < (i & ~1) less than what the bounds on each variable give: half
// of the sum of two cells, each of which is twice a bound?
__device__ __forceinline__ bool is_related(const VALUE_T* m, int i, int j, VALUE_T of_i) {
  const VALUE_T bound = m[row_start(i) + j];
  if (bound == INFINITE) return false;
  const VALUE_T of_j = m[cell(j ^ 1, j)];
  return of_i == INFINITE || of_j == INFINITE ||
         (wide_t)bound + (wide_t)bound < (wide_t)of_i + (wide_t)of_j;
}

// Label each variable by the first one it is related to, or by itself: most of a large group is then
// together, without a search. A warp takes a variable.
extern "C" __global__ void find_first(int* __restrict__ label, const long long* __restrict__ starts,
                                      const VALUE_T* __restrict__ m,
                                      const long long* __restrict__ offsets) {
  const Part o = part_of(offsets, blockIdx.x);
  const VALUE_T* here = m + o.begin;
  for (int k = warp_id(); k < o.n; k += n_warps()) {
    const VALUE_T up = here[cell(2 * k, 2 * k + 1)], down = here[cell(2 * k + 1, 2 * k)];
    int found = k;
    for (int first = 0; first < 2 * k && found == k; first += 32) {
      const int j = first + lane_id();
      const bool is_one = j < 2 * k && (is_related(here, 2 * k, j, up) ||
                                        is_related(here, 2 * k + 1, j, down));
      const unsigned ones = __ballot_sync(0xffffffffu, is_one);
      if (ones) found = (first + __ffs(ones) - 1) >> 1;
    }
    if (lane_id() == 0) label[starts[blockIdx.x] + k] = found;
  }
}

// After `find_first`: the groups of related variables become one. A warp takes a row.
extern "C" __global__ void relate(int* label, const long long* __restrict__ starts,
                                  const VALUE_T* __restrict__ m,
                                  const long long* __restrict__ offsets) {
  const Part o = part_of(offsets, blockIdx.x);
  const VALUE_T* here = m + o.begin;
  int* mine = label + starts[blockIdx.x];
  for (int i = warp_id(); i < 2 * o.n; i += n_warps()) {
    const VALUE_T of_i = here[cell(i, i ^ 1)];
    int root = root_of(mine, i >> 1);
    for (int j = lane_id(); j < (i & ~1); j += 32) {
      if (*(volatile int*)(mine + (j >> 1)) == root || !is_related(here, i, j, of_i)) continue;
      unite(mine, root, j >> 1);
      root = root_of(mine, root);
    }
  }
}

// After `relate`: label[starts[t] + k] becomes the least variable of its group. A stated race: only
// shorter ways to the same root are written.
extern "C" __global__ void name_groups(int* label, const long long* __restrict__ starts) {
  int* mine = label + starts[blockIdx.x];
  const long long n = starts[blockIdx.x + 1] - starts[blockIdx.x];
  for (long long k = thread_id(); k < n; k += n_threads())
    *(volatile int*)(mine + k) = root_of(mine, (int)k);
}

typedef unsigned long long size_of_bound;
__device__ __forceinline__ size_of_bound size_of(VALUE_T x) {
  const long long bound = (long long)x;
  return bound < 0 ? 0ull - (size_of_bound)bound : (size_of_bound)bound;
}

// Of integers: greatest[t], 0 before, becomes the greatest absolute value of a bound. A stated race:
// it only grows, so who sees it large enough need not write.
extern "C" __global__ void find_greatest(size_of_bound* greatest, const VALUE_T* __restrict__ m,
                                         const long long* __restrict__ offsets) {
  const Part o = part_of(offsets, blockIdx.x);
  size_of_bound most = 0;
  for (size_t at = o.begin + thread_id(); at < o.end; at += n_threads()) {
    const size_of_bound size = m[at] == INFINITE ? 0 : size_of(m[at]);
    most = most < size ? size : most;
  }
  size_of_bound* found = greatest + blockIdx.x;
  if (most > *(volatile size_of_bound*)found) atomicMax(found, most);
}

__device__ size_of_bound common_divisor(size_of_bound a, size_of_bound b) {
  while (b) {
    const size_of_bound rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Of integers: divisor[t], not 0 before, becomes the greatest that divides it and every bound. A
// stated race: it is only ever replaced by its divisors.
extern "C" __global__ void find_divisor(size_of_bound* divisor, const VALUE_T* __restrict__ m,
                                        const long long* __restrict__ offsets) {
  const Part o = part_of(offsets, blockIdx.x);
  size_of_bound* found = divisor + blockIdx.x;
  size_of_bound mine = *(volatile size_of_bound*)found;
  for (size_t at = o.begin + thread_id(); mine > 1 && at < o.end; at += n_threads())
    if (m[at] != INFINITE) mine = common_divisor(mine, size_of(m[at]));
  size_of_bound seen = *(volatile size_of_bound*)found;
  while (mine % seen) {
    const size_of_bound now = atomicCAS(found, seen, common_divisor(seen, mine));
    if (now == seen) return;
    seen = now;
  }
}
