// The operations that cost O(n) or O(n²), each over a batch; `reference` says what each means.
// grid (octagons, shares), block any multiple of 32, unless said otherwise. Threads of one launch
// never write a cell that another reads, but for stated races.
#include "element.cuh"
#include "octagon.cuh"
#ifndef VALUE_T
#define VALUE_T int
#endif
#define INFINITE Limits<VALUE_T>::infinity()
#define LOWEST Limits<VALUE_T>::lowest()

// grid ceil(octagons / block): which octagons are empty.
extern "C" __global__ void find_empty(const VALUE_T* __restrict__ m,
                                      const long long* __restrict__ offsets,
                                      unsigned char* __restrict__ is_empty, int n_octagons) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n_octagons) is_empty[t] = offsets[t] < offsets[t + 1] && m[offsets[t]] < 0;
}

__device__ VALUE_T next_step(const VALUE_T* steps, int n_steps, VALUE_T bound, bool is_unary) {
  int low = 0, high = n_steps;
  while (low < high) {
    const int middle = (low + high) / 2;
    const VALUE_T step = is_unary ? add_up(steps[middle], steps[middle]) : steps[middle];
    if (step < bound) low = middle + 1;
    else high = middle;
  }
  if (low == n_steps) return INFINITE;
  return is_unary ? add_up(steps[low], steps[low]) : steps[low];
}

// Elements travel 16 bytes at a time where all arrays lie so: with single ones too few bytes are on
// their way to keep the memory busy.
enum { PER_PACK = 16 / sizeof(VALUE_T) };
struct __align__(16) Pack { VALUE_T x[PER_PACK]; };
__device__ __forceinline__ size_t n_packs(const void* a, const void* b, size_t n_elements) {
  return ((size_t)a | (size_t)b) % 16 ? 0 : n_elements / PER_PACK;
}

// out[at] = f(a[at], b[at], at); `out` may be `a` or `b`.
template <class F>
__device__ void each_pair(VALUE_T* out, const VALUE_T* a, const VALUE_T* b, size_t n_elements, F f) {
  const size_t packs = (size_t)out % 16 ? 0 : n_packs(a, b, n_elements);
  for (size_t p = thread_id(); p < packs; p += n_threads()) {
    Pack x = ((const Pack*)a)[p];
    const Pack y = ((const Pack*)b)[p];
#pragma unroll
    for (int e = 0; e < PER_PACK; e++) x.x[e] = f(x.x[e], y.x[e], p * PER_PACK + e);
    ((Pack*)out)[p] = x;
  }
  for (size_t at = packs * PER_PACK + thread_id(); at < n_elements; at += n_threads())
    out[at] = f(a[at], b[at], at);
}

// grid (1, shares).
extern "C" __global__ void join(VALUE_T* out, const VALUE_T* a, const VALUE_T* b,
                                long long n_elements) {
  each_pair(out, a, b, n_elements, [](VALUE_T x, VALUE_T y, size_t) { return x < y ? y : x; });
}

// grid (1, shares).
extern "C" __global__ void meet(VALUE_T* out, const VALUE_T* a, const VALUE_T* b,
                                long long n_elements) {
  each_pair(out, a, b, n_elements, [](VALUE_T x, VALUE_T y, size_t) { return y < x ? y : x; });
}

extern "C" __global__ void widen(VALUE_T* out, const VALUE_T* a, const VALUE_T* b,
                                 const long long* __restrict__ offsets,
                                 const unsigned char* __restrict__ is_empty,
                                 const VALUE_T* __restrict__ steps, int n_steps) {
  const Part o = part_of(offsets, blockIdx.x);
  const bool copies = is_empty[blockIdx.x];
  each_pair(out + o.begin, a + o.begin, b + o.begin, o.end - o.begin,
            [=](VALUE_T old, VALUE_T other, size_t at) {
              if (copies) return other;
              if (other <= old) return old;
              if (n_steps == 0) return INFINITE;
              const int i = (int)sqrt(2.0 * (double)at + 1.0) - 1;
              return next_step(steps, n_steps, other, at == row_start(i) + (i ^ 1));
            });
}

extern "C" __global__ void narrow(VALUE_T* out, const VALUE_T* a, const VALUE_T* b,
                                  const long long* __restrict__ offsets,
                                  const unsigned char* __restrict__ is_empty) {
  const Part o = part_of(offsets, blockIdx.x);
  const bool copies = is_empty[blockIdx.x];
  each_pair(out + o.begin, a + o.begin, b + o.begin, o.end - o.begin,
            [=](VALUE_T x, VALUE_T y, size_t) { return copies || x == INFINITE ? y : x; });
}

// found[t] is 1 before. A stated race: all that write, write the same 0.
extern "C" __global__ void compare(const VALUE_T* __restrict__ a, const VALUE_T* __restrict__ b,
                                   const long long* __restrict__ offsets, int for_equality,
                                   unsigned char* found) {
  const Part o = part_of(offsets, blockIdx.x);
  const VALUE_T *x = a + o.begin, *y = b + o.begin;
  const size_t n_elements = o.end - o.begin, packs = n_packs(x, y, n_elements);
  bool less = false, more = false;
  for (size_t p = thread_id(); p < packs; p += n_threads()) {
    const Pack mine = ((const Pack*)x)[p], other = ((const Pack*)y)[p];
#pragma unroll
    for (int e = 0; e < PER_PACK; e++) {
      less |= mine.x[e] < other.x[e];
      more |= mine.x[e] > other.x[e];
    }
  }
  for (size_t at = packs * PER_PACK + thread_id(); at < n_elements; at += n_threads()) {
    less |= x[at] < y[at];
    more |= x[at] > y[at];
  }
  if (less || (for_equality && more)) *(volatile unsigned char*)(found + blockIdx.x) = 0;
}

template <int BYTES> struct Bits;
template <> struct Bits<2> { typedef unsigned short type; };
template <> struct Bits<4> { typedef unsigned type; };
template <> struct Bits<8> { typedef unsigned long long type; };

template <class A, class B> __device__ __forceinline__ B same_bits(A a) {
  union { A from; B to; } pun;
  pun.from = a;
  return pun.to;
}

// Several constraints may name one cell: the least of them wins, in whatever order they come.
__device__ void lower(VALUE_T* at, VALUE_T bound) {
  typedef Bits<sizeof(VALUE_T)>::type bits_t;
  VALUE_T seen = *(volatile VALUE_T*)at;
  while (bound < seen) {
    const bits_t old = same_bits<VALUE_T, bits_t>(seen);
    const bits_t now = atomicCAS((bits_t*)at, old, same_bits<VALUE_T, bits_t>(bound));
    if (now == old) return;
    seen = same_bits<bits_t, VALUE_T>(now);
  }
}

extern "C" __global__ void add(VALUE_T* m, const long long* __restrict__ offsets,
                               const long long* __restrict__ starts,
                               const long long* __restrict__ rows,
                               const long long* __restrict__ columns,
                               const VALUE_T* __restrict__ bounds) {
  VALUE_T* o = m + offsets[blockIdx.x];
  for (long long s = starts[blockIdx.x] + thread_id(); s < starts[blockIdx.x + 1];
       s += n_threads()) {
    const int i = (int)rows[s], j = (int)columns[s];
    lower(o + cell(i, j), bounds[s]);
    if (i == j) lower(o + cell(i ^ 1, i ^ 1), bounds[s]);  // the diagonal alone is stored twice
  }
}

// x := ±y + d, where x and y may be the same. The diagonal is never written, so that every thread
// can ask the first element whether the octagon is empty.
__device__ void move(VALUE_T* m, int n, int x, int y, bool negate, VALUE_T up, VALUE_T down) {
  if (n == 0 || m[0] < 0) return;
  const int plus = 2 * y + negate, minus = plus ^ 1;
  for (size_t at = thread_id(); at < 2 * (size_t)n; at += n_threads()) {
    const int i = (int)at;
    if (i == 2 * x) {
      const VALUE_T high = m[cell(minus, plus)], low = m[cell(plus, minus)];
      m[cell(2 * x + 1, 2 * x)] = add_up(add_up(high, up), up);
      m[cell(2 * x, 2 * x + 1)] = add_up(add_up(low, down), down);
    } else if (i >> 1 != x) {
      const VALUE_T a = m[cell(i, plus)], b = m[cell(i, minus)];
      m[cell(i, 2 * x)] = add_up(a, up);
      m[cell(i, 2 * x + 1)] = add_up(b, down);
    }
  }
}

// x := d; with infinite bounds, x is forgotten.
__device__ void set_interval(VALUE_T* m, int n, int x, VALUE_T up, VALUE_T down) {
  if (n == 0 || m[0] < 0) return;
  for (size_t at = thread_id(); at < 2 * (size_t)n; at += n_threads()) {
    const int i = (int)at;
    if (i == 2 * x) {
      m[cell(2 * x + 1, 2 * x)] = add_up(up, up);
      m[cell(2 * x, 2 * x + 1)] = add_up(down, down);
    } else if (i >> 1 != x) {
      const VALUE_T half = half_up(m[cell(i, i ^ 1)]);
      m[cell(i, 2 * x)] = add_up(half, up);
      m[cell(i, 2 * x + 1)] = add_up(half, down);
    }
  }
}

extern "C" __global__ void move_each(VALUE_T* m, const long long* __restrict__ offsets,
                                     const long long* __restrict__ x,
                                     const long long* __restrict__ y,
                                     const unsigned char* __restrict__ negate,
                                     const VALUE_T* __restrict__ up,
                                     const VALUE_T* __restrict__ down) {
  const long long t = blockIdx.x;
  const Part o = part_of(offsets, t);
  move(m + o.begin, o.n, (int)x[t], (int)y[t], negate[t], up[t], down[t]);
}

extern "C" __global__ void move_one(VALUE_T* m, int n, int x, int y, int negate, VALUE_T up,
                                    VALUE_T down) {
  move(m, n, x, y, negate != 0, up, down);
}

extern "C" __global__ void set_each(VALUE_T* m, const long long* __restrict__ offsets,
                                    const long long* __restrict__ x,
                                    const VALUE_T* __restrict__ up,
                                    const VALUE_T* __restrict__ down) {
  const long long t = blockIdx.x;
  const Part o = part_of(offsets, t);
  set_interval(m + o.begin, o.n, (int)x[t], up[t], down[t]);
}

extern "C" __global__ void set_one(VALUE_T* m, int n, int x, VALUE_T up, VALUE_T down) {
  set_interval(m, n, x, up, down);
}

extern "C" __global__ void unary(VALUE_T* __restrict__ out, const long long* __restrict__ starts,
                                 const VALUE_T* __restrict__ m,
                                 const long long* __restrict__ offsets) {
  const Part o = part_of(offsets, blockIdx.x);
  for (size_t i = thread_id(); i < 2 * (size_t)o.n; i += n_threads())
    out[starts[blockIdx.x] + i] = m[o.begin + cell((int)i ^ 1, (int)i)];
}

// A warp takes a row of `out`.
extern "C" __global__ void select_rows(VALUE_T* __restrict__ out,
                                  const long long* __restrict__ out_offsets,
                                  const VALUE_T* __restrict__ m,
                                  const long long* __restrict__ offsets,
                                  const long long* __restrict__ variables,
                                  const long long* __restrict__ starts) {
  const Part o = part_of(offsets, blockIdx.x), into = part_of(out_offsets, blockIdx.x);
  const long long* chosen = variables + starts[blockIdx.x];
  const bool is_empty = o.n && m[o.begin] < 0;
  for (int i = warp_id(); i < 2 * into.n; i += n_warps()) {
    const int x = (int)chosen[i >> 1];
    for (int j = lane_id(); j <= (i | 1); j += 32) {
      const int y = (int)chosen[j >> 1];
      VALUE_T bound = is_empty ? LOWEST : INFINITE;
      if (!is_empty && x >= 0 && y >= 0)
        bound = m[o.begin + cell(2 * x + (i & 1), 2 * y + (j & 1))];
      out[into.begin + row_start(i) + j] = i == j && !is_empty ? (VALUE_T)0 : bound;
    }
  }
}

// A warp takes a row of `m`; what `out_is_empty` says of `out` holds before the launch.
extern "C" __global__ void place_rows(VALUE_T* __restrict__ out,
                                 const long long* __restrict__ out_offsets,
                                 const unsigned char* __restrict__ out_is_empty,
                                 const VALUE_T* __restrict__ m,
                                 const long long* __restrict__ offsets,
                                 const long long* __restrict__ variables,
                                 const long long* __restrict__ starts) {
  const Part o = part_of(offsets, blockIdx.x), into = part_of(out_offsets, blockIdx.x);
  const long long* chosen = variables + starts[blockIdx.x];
  if (o.n && m[o.begin] < 0) {
    for (size_t at = into.begin + thread_id(); at < into.end; at += n_threads()) out[at] = LOWEST;
    return;
  }
  if (out_is_empty[blockIdx.x]) return;
  for (int i = warp_id(); i < 2 * o.n; i += n_warps()) {
    const int a = 2 * (int)chosen[i >> 1] + (i & 1);
    for (int j = lane_id(); j <= (i | 1); j += 32) {
      const int b = 2 * (int)chosen[j >> 1] + (j & 1);
      out[into.begin + cell(a, b)] = m[o.begin + row_start(i) + j];
    }
  }
}
