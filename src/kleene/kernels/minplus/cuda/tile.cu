// Closes the octagons of a batch that are small enough, a block for each, on registers.
// grid octagons, block a multiple of 32: a thread has EDGE x EDGE cells of the square matrix, so
// `largest` variables take ceil(2 * largest / EDGE) threads along a side. Octagons of more than
// `least` and at most `largest` variables are taken, if codes[t] is WIDER; so a launch can take up
// in a wider type what one before left.
#include "inner.cuh"
#include "octagon.cuh"
enum { EMPTY, CLOSED, WIDER };
enum { EDGE = 4 };
extern __shared__ __align__(16) unsigned char shared_bytes[];

// The cells that threads hand to each other: the stored half, coming and going; in each round, row
// and column of the pivot, two pairs in turn, so that one barrier a round is enough; unary bounds.
struct Shared {
  INNER_T *half, *lines, *unary;
};
__device__ __forceinline__ Shared shared_of(int across) {
  INNER_T* lines = (INNER_T*)shared_bytes;
  INNER_T* unary = lines + 4 * across * EDGE;
  return {unary + across * EDGE, lines, unary};
}

struct __align__(sizeof(INNER_T) == 4 ? 16 : 8) Four { INNER_T x[EDGE]; };

// The stored half of the octagon; whether a bound is too large.
__device__ bool load(INNER_T* half, const VALUE_T* m, int n, bool tighten) {
  const long long limit = sparse_limit(n);
  bool too_large = false;
  for (int at = threadIdx.x; at < 2 * n * (n + 1); at += blockDim.x) {
    const VALUE_T x = m[at];
    half[at] = inward(x, tighten);
    if (!NEEDS_NO_LIMIT && x != Limits<VALUE_T>::infinity())
      too_large |= (long long)x > limit || (long long)x < -limit;
  }
  return __syncthreads_or(too_large);
}

// This thread's cells, infinite beyond the matrix.
__device__ void take(INNER_T (&mine)[EDGE][EDGE], const INNER_T* half, int n, int y, int x) {
#pragma unroll
  for (int i = 0; i < EDGE; i++)
#pragma unroll
    for (int j = 0; j < EDGE; j++) {
      INNER_T value = inner_infinity();
      if (y + i < 2 * n && x + j < 2 * n) value = half[cell(y + i, x + j)];
      mine[i][j] = y + i == x + j && value > 0 ? (INNER_T)0 : value;
    }
}

// Closes the matrix; false at the first negative cycle. `has` says whether this thread has cells.
__device__ bool close_square(INNER_T (&mine)[EDGE][EDGE], INNER_T* lines, int n, int across, int y,
                             int x, bool has) {
  const int width = across * EDGE;
  for (int k = 0; k < 2 * n; k += EDGE)
#pragma unroll
    for (int s = 0; s < EDGE; s++) {
      INNER_T *row = lines + s % 2 * 2 * width, *column = row + width;
      Four out;
      if (has && y == k) {
#pragma unroll
        for (int e = 0; e < EDGE; e++) out.x[e] = mine[s][e];
        *(Four*)(row + x) = out;
      }
      if (has && x == k) {
#pragma unroll
        for (int e = 0; e < EDGE; e++) out.x[e] = mine[e][s];
        *(Four*)(column + y) = out;
      }
      __syncthreads();
      if (row[k + s] < 0) return false;
      if (!has) continue;
      const Four across_k = *(const Four*)(row + x), down_k = *(const Four*)(column + y);
#pragma unroll
      for (int i = 0; i < EDGE; i++)
#pragma unroll
        for (int j = 0; j < EDGE; j++)
          mine[i][j] = least_sum(down_k.x[i], across_k.x[j], mine[i][j]);
    }
  return true;
}

// Combine unary bounds into the stored half; false if they leave no point.
__device__ bool settle(const INNER_T (&mine)[EDGE][EDGE], const Shared& shared, int n, int y, int x,
                       bool has, bool tighten) {
  if (has && x == y)
#pragma unroll
    for (int i = 0; i < EDGE; i++)
      if (y + i < 2 * n) shared.unary[y + i] = tighten ? even(mine[i][i ^ 1]) : mine[i][i ^ 1];
  __syncthreads();
  bool is_empty = false;
  for (int i = threadIdx.x; i < 2 * n; i += blockDim.x)
    is_empty |= sum(shared.unary[i], shared.unary[i ^ 1]) < 0;
  if (__syncthreads_or(is_empty)) return false;
#pragma unroll
  for (int i = 0; i < EDGE; i++)
#pragma unroll
    for (int j = 0; j < EDGE; j++) {
      const int row = y + i, column = x + j;
      if (!has || row >= 2 * n || column > (row | 1)) continue;
      const INNER_T combined = half_up(sum(shared.unary[row], shared.unary[column ^ 1]));
      shared.half[cell(row, column)] =
          row == column ? (INNER_T)0 : least(mine[i][j], combined);
    }
  __syncthreads();
  return true;
}

__device__ int close_here(VALUE_T* m, int n, bool tighten) {
  const int across = (2 * n + EDGE - 1) / EDGE;
  const int y = threadIdx.x / across * EDGE, x = threadIdx.x % across * EDGE;
  const bool has = threadIdx.x < across * across;
  const Shared shared = shared_of(across);
  if (load(shared.half, m, n, tighten)) return WIDER;
  INNER_T mine[EDGE][EDGE];
  if (has) take(mine, shared.half, n, y, x);
  if (!close_square(mine, shared.lines, n, across, y, x, has)) return EMPTY;
  if (!settle(mine, shared, n, y, x, has, tighten)) return EMPTY;
  for (int at = threadIdx.x; at < 2 * n * (n + 1); at += blockDim.x)
    m[at] = outward(shared.half[at]);
  return CLOSED;
}

extern "C" __global__ void __launch_bounds__(1024)
close_each(VALUE_T* __restrict__ m, const long long* __restrict__ offsets, int least, int largest,
           int tighten, unsigned char* __restrict__ codes) {
  const long long t = blockIdx.x;
  const Part o = part_of(offsets, t);
  if (codes[t] != WIDER || o.n <= least || o.n > largest) return;
  const bool is_empty = o.n && m[o.begin] < 0;
  __syncthreads();  // all have read the code and the first element
  int code = is_empty ? EMPTY : CLOSED;
  if (o.n && !is_empty) code = close_here(m + o.begin, o.n, tighten);
  if (code == EMPTY)
    for (size_t at = o.begin + threadIdx.x; at < o.end; at += blockDim.x)
      m[at] = Limits<VALUE_T>::lowest();
  if (threadIdx.x == 0) codes[t] = code;
}
