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

// Closes a square matrix in shared memory, `lanes` threads to a row; false at the first negative
// cycle. Row and column k do not change in round k, as the diagonal is not negative: no cell is
// written that another thread reads. Several cells are read before one is written, for the compiler
// cannot know that they are apart, and would wait for each.
__device__ bool close_square(INNER_T* t, int n_rows, int lanes) {
  enum { AT_ONCE = 4 };
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes, n_groups = blockDim.x / lanes;
  for (int k = 0; k < n_rows; k++) {
    __syncthreads();
    if (t[k * n_rows + k] < 0) return false;
    for (int j = lane; j < n_rows; j += lanes) {
      const INNER_T across = t[k * n_rows + j];
      for (int first = group; first < n_rows; first += AT_ONCE * n_groups) {
        INNER_T path[AT_ONCE], old[AT_ONCE];
#pragma unroll
        for (int s = 0; s < AT_ONCE; s++) {
          const int i = first + s * n_groups;
          path[s] = i < n_rows ? sum(t[i * n_rows + k], across) : (INNER_T)0;
          old[s] = i < n_rows ? t[i * n_rows + j] : (INNER_T)0;
        }
#pragma unroll
        for (int s = 0; s < AT_ONCE; s++)
          if (path[s] < old[s]) t[(first + s * n_groups) * n_rows + j] = path[s];
      }
    }
  }
  __syncthreads();
  return true;
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
    code = close_square(t, 2 * o.n, lanes) &&
           store(here, t, t + 4 * o.n * o.n, o.n, tighten);
  if (code == EMPTY)
    for (size_t at = o.begin + threadIdx.x; at < o.end; at += blockDim.x)
      m[at] = Limits<VALUE_T>::lowest();
  if (threadIdx.x == 0) codes[s] = code;
}
