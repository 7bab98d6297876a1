// Closes each octagon of a batch that is small enough, a block for each, whole in shared memory.
// grid octagons, block a power of two of at least 64. Of codes[t], WIDER asks for it; so a second
// launch in a wider type takes up those that the first left.
#include "inner.cuh"
#include "octagon.cuh"
enum { EMPTY, CLOSED, WIDER };
extern __shared__ __align__(16) unsigned char shared_bytes[];

// Unfold the stored half; whether a bound is too large.
__device__ bool load(INNER_T* t, const VALUE_T* m, int n, bool tighten) {
  const int n_rows = 2 * n, warp = threadIdx.x / 32, n_block_warps = blockDim.x / 32;
  const long long limit = sparse_limit(n);
  bool too_large = false;
  for (int i = warp; i < n_rows; i += n_block_warps) {
    for (int j = threadIdx.x % 32; j <= (i | 1); j += 32) {
      const VALUE_T x = m[row_start(i) + j];
      INNER_T value = inward(x, tighten);
      if (!NEEDS_NO_LIMIT && x != Limits<VALUE_T>::infinity())
        too_large |= (long long)x > limit || (long long)x < -limit;
      if (i == j && value > 0) value = 0;
      t[i * n_rows + j] = value;
      if (j < (i & ~1)) t[(j ^ 1) * n_rows + (i ^ 1)] = value;
    }
  }
  return __syncthreads_or(too_large);
}

// Combine unary bounds and fold the half back; false if they leave no point.
__device__ bool store(VALUE_T* m, const INNER_T* t, INNER_T* d, int n, bool tighten) {
  const int n_rows = 2 * n, warp = threadIdx.x / 32, n_block_warps = blockDim.x / 32;
  for (int i = threadIdx.x; i < n_rows; i += blockDim.x) {
    const INNER_T unary = t[i * n_rows + (i ^ 1)];
    d[i] = tighten ? even(unary) : unary;
  }
  __syncthreads();
  bool is_empty = false;
  for (int i = threadIdx.x; i < n_rows; i += blockDim.x) is_empty |= sum(d[i], d[i ^ 1]) < 0;
  if (__syncthreads_or(is_empty)) return false;
  for (int i = warp; i < n_rows; i += n_block_warps)
    for (int j = threadIdx.x % 32; j <= (i | 1); j += 32) {
      const INNER_T combined = half_up(sum(d[i], d[j ^ 1]));
      m[row_start(i) + j] = i == j ? (VALUE_T)0 : outward(least(t[i * n_rows + j], combined));
    }
  return true;
}

extern "C" __global__ void close_each(VALUE_T* __restrict__ m,
                                      const long long* __restrict__ offsets, int largest,
                                      int tighten, unsigned char* __restrict__ codes) {
  const long long s = blockIdx.x;
  const Part o = part_of(offsets, s);
  if (codes[s] != WIDER || o.n > largest) return;
  INNER_T* t = (INNER_T*)shared_bytes;
  VALUE_T* here = m + o.begin;
  int code = CLOSED, lanes = 2;
  while (lanes < 32 && lanes < 2 * o.n) lanes *= 2;
  if (o.n && here[0] < 0) code = EMPTY;
  __syncthreads();  // all have read the code and the first element
  if (o.n && code == CLOSED && load(t, here, o.n, tighten)) return;
  if (o.n && code == CLOSED)
    code = close_square(t, 2 * o.n, 2 * o.n, lanes) &&
           store(here, t, t + 4 * o.n * o.n, o.n, tighten);
  if (code == EMPTY)
    for (size_t at = o.begin + threadIdx.x; at < o.end; at += blockDim.x)
      m[at] = Limits<VALUE_T>::lowest();
  if (threadIdx.x == 0) codes[s] = code;
}
