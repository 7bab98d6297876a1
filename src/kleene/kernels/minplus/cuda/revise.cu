// Closing again a closed octagon after one constraint, and combining unary bounds: O(n²).
//
// A shortest path takes a new edge i -> j at most once, and so its dual j^1 -> i^1. All that the two
// give to cell (a, b) is p[a] + u[b] and q[a] + v[b], where u is row j and v is row i^1; what unary
// bounds give is (d[a] + e[b]) / 2, where d[a] is cell (a, a^1) and e[b] = d[b^1]. One block finds
// these six vectors, `prepare`; then every cell is known by itself, `apply`.
#include "element.cuh"
#include "octagon.cuh"
#ifndef VALUE_T
#define VALUE_T int
#endif
#define INFINITE Limits<VALUE_T>::infinity()
enum { EMPTY, REVISED, SAME };  // what `prepare` finds, the same in all threads of the block

struct Vectors {
  VALUE_T *u, *v, *p, *q, *d, *e;
};
// Octagon t has scratch space for 12n elements from begin + 12t on: 12n <= 2n(n+1) + 12.
__device__ __forceinline__ Vectors vectors(VALUE_T* scratch, int n) {
  const size_t w = 2 * (size_t)n;
  return {scratch, scratch + w, scratch + 2 * w, scratch + 3 * w, scratch + 4 * w, scratch + 5 * w};
}

// The unary bounds of all threads' rows are in d: do they leave a point?
__device__ int settle(const Vectors& x, int n) {
  __syncthreads();
  bool is_empty = false;
  for (int k = threadIdx.x; k < 2 * n; k += blockDim.x) is_empty |= add_up(x.d[k], x.e[k]) < 0;
  return __syncthreads_or(is_empty) ? EMPTY : REVISED;
}

__device__ int prepare(const VALUE_T* m, int n, int i, int j, VALUE_T bound, bool tighten,
                       const Vectors& x) {
  if (tighten) bound = i == (j ^ 1) ? even(whole(bound)) : whole(bound);
  if (i == j) return bound < 0 ? EMPTY : SAME;
  if (bound >= m[cell(i, j)]) return SAME;
  for (int k = threadIdx.x; k < 2 * n; k += blockDim.x) {
    x.u[k] = m[cell(j, k)];
    x.v[k] = m[cell(i ^ 1, k)];
  }
  __syncthreads();
  const VALUE_T again = add_up(x.u[j ^ 1], bound), dual = add_up(x.v[i], bound);
  if (add_up(x.u[i], bound) < 0 || add_up(again, dual) < 0) return EMPTY;
  for (int k = threadIdx.x; k < 2 * n; k += blockDim.x) {
    const VALUE_T straight = add_up(x.v[k ^ 1], bound), back = add_up(x.u[k ^ 1], bound);
    const VALUE_T p = least(straight, add_up(back, dual)), q = least(back, add_up(straight, again));
    const VALUE_T path = least(add_up(p, x.u[k ^ 1]), add_up(q, x.v[k ^ 1]));
    const VALUE_T bound_here = least(m[cell(k, k ^ 1)], path);
    x.p[k] = p;
    x.q[k] = q;
    x.d[k] = x.e[k ^ 1] = tighten ? even(whole(bound_here)) : bound_here;
  }
  return settle(x, n);
}

__device__ int prepare_unary(const VALUE_T* m, int n, bool tighten, const Vectors& x) {
  bool is_empty = false;
  for (int k = threadIdx.x; k < 2 * n; k += blockDim.x) {
    const VALUE_T bound = m[cell(k, k ^ 1)];
    is_empty |= m[cell(k, k)] < 0;
    x.u[k] = x.v[k] = x.p[k] = x.q[k] = INFINITE;
    x.d[k] = x.e[k ^ 1] = tighten ? even(whole(bound)) : bound;
  }
  const bool has_none = settle(x, n) == EMPTY;
  return __syncthreads_or(is_empty || has_none) ? EMPTY : REVISED;
}

// A warp takes a row, or where there are more warps than rows, every so many parts of one. Several
// cells are read before one is written: the compiler cannot know that they are apart from the
// vectors, and would wait for each.
__device__ void apply(VALUE_T* m, int n, bool tighten, const Vectors& x) {
  enum { AT_ONCE = 4, PART = 32 * AT_ONCE };
  const int n_rows = 2 * n, n_parts = n_warps() > n_rows ? n_warps() / n_rows : 1;
  for (int w = warp_id(); w < n_rows * n_parts; w += n_warps()) {
    const int a = w % n_rows;
    VALUE_T* row = m + row_start(a);
    const VALUE_T p = x.p[a], q = x.q[a], d = x.d[a];
    for (int first = w / n_rows * PART; first <= (a | 1); first += n_parts * PART) {
      VALUE_T bound[AT_ONCE];
#pragma unroll
      for (int s = 0; s < AT_ONCE; s++) {
        const int b = first + 32 * s + lane_id();
        if (b > (a | 1)) continue;
        const VALUE_T path = least(add_up(p, x.u[b]), add_up(q, x.v[b]));
        const VALUE_T old = tighten ? whole(row[b]) : row[b];
        bound[s] = least(least(old, path), half_up(add_up(d, x.e[b])));
      }
#pragma unroll
      for (int s = 0; s < AT_ONCE; s++) {
        const int b = first + 32 * s + lane_id();
        if (b <= (a | 1)) row[b] = a == b ? (VALUE_T)0 : bound[s];
      }
    }
  }
}

__device__ void make_empty(VALUE_T* m, size_t n_elements) {
  for (size_t at = thread_id(); at < n_elements; at += n_threads())
    m[at] = Limits<VALUE_T>::lowest();
}

// grid octagons: a block takes an octagon and its constraints one after the other.
extern "C" __global__ void close_after_each(VALUE_T* m, const long long* __restrict__ offsets,
                                            const long long* __restrict__ starts,
                                            const long long* __restrict__ rows,
                                            const long long* __restrict__ columns,
                                            const VALUE_T* __restrict__ bounds, int tighten,
                                            VALUE_T* scratch, unsigned char* __restrict__ found) {
  const long long t = blockIdx.x;
  const Part o = part_of(offsets, t);
  VALUE_T* here = m + o.begin;
  const Vectors x = vectors(scratch + o.begin + 12 * t, o.n);
  int code = o.n && here[0] < 0 ? EMPTY : SAME;
  for (long long s = starts[t]; s < starts[t + 1] && code != EMPTY; s++) {
    __syncthreads();
    code = prepare(here, o.n, (int)rows[s], (int)columns[s], bounds[s], tighten, x);
    if (code == REVISED) apply(here, o.n, tighten, x);
  }
  __syncthreads();
  if (code == EMPTY) make_empty(here, o.end - o.begin);
  if (threadIdx.x == 0) found[t] = code != EMPTY;
}

// grid octagons.
extern "C" __global__ void strengthen_each(VALUE_T* m, const long long* __restrict__ offsets,
                                           int tighten, VALUE_T* scratch,
                                           unsigned char* __restrict__ found) {
  const long long t = blockIdx.x;
  const Part o = part_of(offsets, t);
  VALUE_T* here = m + o.begin;
  const Vectors x = vectors(scratch + o.begin + 12 * t, o.n);
  const int code = o.n == 0 ? SAME : prepare_unary(here, o.n, tighten, x);
  if (code == REVISED) apply(here, o.n, tighten, x);
  if (code == EMPTY) make_empty(here, o.end - o.begin);
  if (threadIdx.x == 0) found[t] = code != EMPTY;
}

// The vectors for one octagon that many blocks share; of no constraint if i < 0. Once `code` is EMPTY
// it stays.
__device__ void prepare_shared(const VALUE_T* m, int n, int i, int j, VALUE_T bound, bool tighten,
                               VALUE_T* scratch, int* code) {
  const bool was_empty = *code == EMPTY || m[0] < 0;
  __syncthreads();
  const Vectors x = vectors(scratch, n);
  int found = EMPTY;
  if (!was_empty && i < 0) found = prepare_unary(m, n, tighten, x);
  if (!was_empty && i >= 0) found = prepare(m, n, i, j, bound, tighten, x);
  if (threadIdx.x == 0) *code = found;
}

// grid 1: constraint s of those on the GPU.
extern "C" __global__ void prepare_one(const VALUE_T* __restrict__ m, int n,
                                       const long long* __restrict__ rows,
                                       const long long* __restrict__ columns,
                                       const VALUE_T* __restrict__ bounds, int s, int tighten,
                                       VALUE_T* scratch, int* code) {
  prepare_shared(m, n, (int)rows[s], (int)columns[s], bounds[s], tighten, scratch, code);
}

// grid 1: a constraint of the host, or none.
extern "C" __global__ void prepare_given(const VALUE_T* __restrict__ m, int n, int i, int j,
                                         VALUE_T bound, int tighten, VALUE_T* scratch, int* code) {
  prepare_shared(m, n, i, j, bound, tighten, scratch, code);
}

// grid (1, shares).
extern "C" __global__ void apply_one(VALUE_T* m, int n, int tighten, VALUE_T* scratch,
                                     const int* __restrict__ code) {
  if (*code == REVISED) apply(m, n, tighten, vectors(scratch, n));
  if (*code == EMPTY) make_empty(m, 2 * (size_t)n * (n + 1));
}
