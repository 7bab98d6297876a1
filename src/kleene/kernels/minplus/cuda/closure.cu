// Closes one large octagon: a blocked Floyd-Warshall on the lower half of a square matrix C.
//
// For each block of PIVOTS pivots, two launches:
//   panel   closes the block's own tile D (every block of threads for itself: cheaper than a third
//           launch), and writes P = the columns of the pivots in all rows, combined with D, and R =
//           their rows, which coherence gives: R[k][j] = P[j^1][k^1]. Both lie pivot by pivot.
//   update  C[i][j] = min(C[i][j], P[i][k] + R[k][j]) in every tile that meets the stored half: all
//           but O(n²) of the work. A thread keeps ROWS x COLUMNS words of C in registers.
//
// Cells right of the stored half are never read but as part of such a tile. `facts` gathers what
// is found; when nothing is left to do, all later launches return at once.
#include "inner.cuh"
#include "octagon.cuh"
#ifndef SIDE
#define SIDE 16  // a tile of C is updated by SIDE x SIDE threads
#endif
#ifndef PIVOTS
#define PIVOTS 64
#endif
#ifndef UNROLL
#define UNROLL 4
#endif

// Words: where an element is half a word, a word of C and R is two neighbours, and one of P an
// element twice, so that one instruction does two sums and minima.
template <class T> struct Words { typedef T type; enum { lanes = 1 }; };
template <> struct Words<short> { typedef unsigned type; enum { lanes = 2 }; };
typedef Words<INNER_T>::type word_t;
enum {
  LANES = Words<INNER_T>::lanes,
  ROWS = 8,
  COLUMNS = sizeof(INNER_T) == 4 ? 8 : 4,
  TILE_THREADS = SIDE * SIDE,
  TILE_BLOCKS = 512 / TILE_THREADS,  // on one multiprocessor: 128 registers a thread
  TILE_ROWS = SIDE * ROWS,
  TILE_COLUMNS = SIDE * COLUMNS * LANES,
  PER_PACK = 16 / sizeof(word_t),
  N_STAGES = 4,
  STAGE = PIVOTS / N_STAGES,
  PANEL_ROWS = 32,
  PANEL_COLUMNS = 8,
  PANEL_THREADS = PANEL_ROWS * PIVOTS / PANEL_COLUMNS,
  EDGE = PIVOTS < 64 ? 2 : 4,  // of the square that a thread has of the block's own tile
  ACROSS = PIVOTS / EDGE
};
static_assert(ACROSS * ACROSS == PANEL_THREADS, "16 or 64 pivots");
struct __align__(16) Pack { word_t word[PER_PACK]; };
struct __align__(16) Columns { INNER_T x[PANEL_COLUMNS]; };

__device__ __forceinline__ double twice(double a) { return a; }
__device__ __forceinline__ int twice(int a) { return a; }
__device__ __forceinline__ long long twice(long long a) { return a; }
__device__ __forceinline__ unsigned twice(short a) { return (unsigned short)a * 0x10001u; }
__device__ __forceinline__ unsigned least_sum(unsigned a, unsigned b, unsigned c) {
#ifdef __CUDA_ARCH__
  return __viaddmin_s16x2(a, b, c);
#else
  const short low = least_sum((short)a, (short)b, (short)c);
  const short high = least_sum((short)(a >> 16), (short)(b >> 16), (short)(c >> 16));
  return (unsigned short)low | (unsigned)(unsigned short)high << 16;
#endif
}

// Copies of 16 bytes to shared memory that do not wait, in groups that are waited for in order.
__device__ __forceinline__ void begin_copy(void* to, const void* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const unsigned at = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
#else
  *(Pack*)to = *(const Pack*)from;
#endif
}
__device__ __forceinline__ void end_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int N> __device__ __forceinline__ void wait_but_for() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

enum { HAS_INFINITY = 1, TOO_LARGE_IF_SPARSE = 2, TOO_LARGE = 4, HAS_NO_POINT = 8 };
__device__ __forceinline__ bool needs_wider(int facts) {
  return facts & TOO_LARGE || (facts & 3) == (HAS_INFINITY | TOO_LARGE_IF_SPARSE);
}
__device__ __forceinline__ bool is_over(int facts) {
  return facts & HAS_NO_POINT || needs_wider(facts);
}
__device__ __forceinline__ void note(int* facts, int found) {
  if (found & ~*(volatile int*)facts) atomicOr(facts, found);  // bits are only ever set
}

// grid extent, a block takes a row: C from the stored half, infinite elsewhere.
extern "C" __global__ void load(INNER_T* __restrict__ c, const VALUE_T* __restrict__ m, int n,
                                int extent, int tighten, int* facts) {
  const int i = blockIdx.x, end = (i / TILE_ROWS + 1) * TILE_ROWS;
  const long long limit = sparse_limit(n), least_limit = dense_limit();
  int found = 0;
#pragma unroll 4
  for (int j = threadIdx.x; j < end; j += blockDim.x) {
    INNER_T value = inner_infinity();
    if (i < 2 * n && j <= (i | 1)) {
      const VALUE_T x = m[row_start(i) + j];
      value = inward(x, tighten);
      if (i + j == 0 && x < 0) found |= HAS_NO_POINT;
      if (!NEEDS_NO_LIMIT) {
        const long long size = (long long)x < 0 ? -((long long)x + 1) : (long long)x;
        if (x == Limits<VALUE_T>::infinity()) found |= HAS_INFINITY;
        else if (size >= least_limit) found |= TOO_LARGE;
        else if (size >= limit) found |= TOO_LARGE_IF_SPARSE;
      }
    }
    if (i == j && value > 0) value = 0;
    c[(size_t)i * extent + j] = value;
  }
  if (found) note(facts, found);
}

__device__ __forceinline__ INNER_T cell_of(const INNER_T* c, int extent, int i, int j) {
  return j > (i | 1) ? c[(size_t)(j ^ 1) * extent + (i ^ 1)] : c[(size_t)i * extent + j];
}

extern __shared__ __align__(16) unsigned char shared_bytes[];

// Closes the tile of a block of pivots, in registers, and leaves it in d; false at the first
// negative cycle. In each round, row and column k travel through `lines`, two pairs in turn, so that
// one barrier a round is enough.
__device__ bool close_own(const INNER_T* c, int extent, int first, INNER_T* d, INNER_T* lines) {
  const int x = threadIdx.x % ACROSS * EDGE, y = threadIdx.x / ACROSS * EDGE;
  INNER_T mine[EDGE][EDGE];
#pragma unroll
  for (int i = 0; i < EDGE; i++)
#pragma unroll
    for (int j = 0; j < EDGE; j++) mine[i][j] = cell_of(c, extent, first + y + i, first + x + j);
  for (int k = 0; k < PIVOTS; k += EDGE)
#pragma unroll
    for (int s = 0; s < EDGE; s++) {
      INNER_T *row = lines + s % 2 * 2 * PIVOTS, *column = row + PIVOTS;
#pragma unroll
      for (int e = 0; e < EDGE; e++) {
        if (y == k) row[x + e] = mine[s][e];
        if (x == k) column[y + e] = mine[e][s];
      }
      __syncthreads();
      if (row[k + s] < 0) return false;
#pragma unroll
      for (int i = 0; i < EDGE; i++)
#pragma unroll
        for (int j = 0; j < EDGE; j++)
          mine[i][j] = least_sum(column[y + i], row[x + j], mine[i][j]);
    }
#pragma unroll
  for (int i = 0; i < EDGE; i++)
#pragma unroll
    for (int j = 0; j < EDGE; j++) d[(y + i) * PIVOTS + x + j] = mine[i][j];
  return true;
}

// grid extent / PANEL_ROWS, block PANEL_THREADS: P and R of a block of pivots. Where `closes` is 0,
// P is the columns as they are.
extern "C" __global__ void __launch_bounds__(PANEL_THREADS)
panel(const INNER_T* __restrict__ c, word_t* __restrict__ p, INNER_T* __restrict__ r, int extent,
      int first, int closes, int* facts) {
  if (__syncthreads_or(is_over(*(volatile int*)facts))) return;  // another block may just say so
  INNER_T* d = (INNER_T*)shared_bytes;      // PIVOTS x PIVOTS
  INNER_T* q = d + PIVOTS * PIVOTS;         // PIVOTS x PANEL_ROWS
  INNER_T* lines = q + PIVOTS * PANEL_ROWS;  // 4 x PIVOTS
  const int first_row = blockIdx.x * PANEL_ROWS;
  const bool is_above = first_row < first;  // then the columns are read as rows, by coherence
  for (int at = threadIdx.x; at < PIVOTS * PANEL_ROWS; at += PANEL_THREADS) {
    const int i = is_above ? at % PANEL_ROWS : at / PIVOTS;
    const int k = is_above ? at / PANEL_ROWS : at % PIVOTS;
    q[k * PANEL_ROWS + i] = cell_of(c, extent, first_row + i, first + k);
  }
  if (closes && !close_own(c, extent, first, d, lines)) {
    if (threadIdx.x == 0) note(facts, HAS_NO_POINT);  // all blocks find the same
    return;
  }
  __syncthreads();
  const int i = threadIdx.x % PANEL_ROWS, k = threadIdx.x / PANEL_ROWS * PANEL_COLUMNS;
  INNER_T best[PANEL_COLUMNS];
#pragma unroll
  for (int s = 0; s < PANEL_COLUMNS; s++) best[s] = q[(k + s) * PANEL_ROWS + i];
  if (closes) {
#pragma unroll 4
    for (int h = 0; h < PIVOTS; h++) {
      const INNER_T here = q[h * PANEL_ROWS + i];
      const Columns onward = *(const Columns*)(d + h * PIVOTS + k);
#pragma unroll
      for (int s = 0; s < PANEL_COLUMNS; s++) best[s] = least_sum(here, onward.x[s], best[s]);
    }
  }
#pragma unroll
  for (int s = 0; s < PANEL_COLUMNS; s++) {
    p[(size_t)(k + s) * extent + first_row + i] = twice(best[s]);
    r[(size_t)((k + s) ^ 1) * extent + ((first_row + i) ^ 1)] = best[s];
  }
}

// Where a thread's row or column of words lies in the tile: neighbours take neighbouring packs.
__device__ __forceinline__ int place_of(int at, int thread) {
  return at / PER_PACK * (SIDE * PER_PACK) + thread * PER_PACK + at % PER_PACK;
}

// Begin to copy STAGE rows of WIDTH words, each thread some packs: their number is known to the
// compiler, and their addresses lie at even distances.
template <int WIDTH, class T>
__device__ __forceinline__ void begin_rows(word_t* to, const T* from, int extent, int stage) {
  constexpr int PACKS = WIDTH / PER_PACK, ROWS_AT_ONCE = TILE_THREADS / PACKS;
  static_assert(TILE_THREADS % PACKS == 0 && STAGE % ROWS_AT_ONCE == 0, "all threads copy alike");
  const int first = stage * STAGE + threadIdx.x / PACKS, x = threadIdx.x % PACKS * PER_PACK;
  to += first * WIDTH + x;
  from += (size_t)first * extent + x * (int)(sizeof(word_t) / sizeof(T));
  const size_t step = (size_t)ROWS_AT_ONCE * extent;
#pragma unroll
  for (int k = 0; k < STAGE / ROWS_AT_ONCE; k++)
    begin_copy(to + k * ROWS_AT_ONCE * WIDTH, from + k * step);
}

// grid: the tiles that meet the stored half, row after row; block TILE_THREADS.
extern "C" __global__ void __launch_bounds__(TILE_THREADS, TILE_BLOCKS)
update(INNER_T* __restrict__ c, const word_t* __restrict__ p, const INNER_T* __restrict__ r,
       int extent, const int* __restrict__ facts) {
  if (is_over(*facts)) return;
  constexpr int PER_ROW = TILE_ROWS / TILE_COLUMNS;
  const int row = (int)((sqrt(8.0 * (blockIdx.x / PER_ROW) + 1.0) - 1.0) / 2.0);
  const int column = blockIdx.x - PER_ROW * row * (row + 1) / 2;
  word_t* left = (word_t*)shared_bytes;       // PIVOTS x TILE_ROWS
  word_t* right = left + PIVOTS * TILE_ROWS;  // PIVOTS x SIDE * COLUMNS
#pragma unroll
  for (int stage = 0; stage < N_STAGES; stage++) {
    begin_rows<TILE_ROWS>(left, p + row * TILE_ROWS, extent, stage);
    begin_rows<SIDE * COLUMNS>(right, r + column * TILE_COLUMNS, extent, stage);
    end_group();
  }

  const int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
  c += (size_t)row * TILE_ROWS * extent + (size_t)column * TILE_COLUMNS;
  word_t best[ROWS][COLUMNS];
#pragma unroll
  for (int i = 0; i < ROWS; i++)
#pragma unroll
    for (int j = 0; j < COLUMNS; j += PER_PACK) {
      const size_t at = (size_t)place_of(i, y) * extent + place_of(j, x) * LANES;
      const Pack pack = *(const Pack*)(c + at);
#pragma unroll
      for (int w = 0; w < PER_PACK; w++) best[i][j + w] = pack.word[w];
    }
#pragma unroll 1
  for (int stage = 0; stage < N_STAGES; stage++) {
    if (stage == 0) wait_but_for<3>();
    else if (stage == 1) wait_but_for<2>();
    else if (stage == 2) wait_but_for<1>();
    else wait_but_for<0>();
    __syncthreads();
#pragma unroll UNROLL
    for (int k = stage * STAGE; k < (stage + 1) * STAGE; k++) {
      Pack a[ROWS / PER_PACK], b[COLUMNS / PER_PACK];
#pragma unroll
      for (int i = 0; i < ROWS; i += PER_PACK)
        a[i / PER_PACK] = *(const Pack*)(left + k * TILE_ROWS + place_of(i, y));
#pragma unroll
      for (int j = 0; j < COLUMNS; j += PER_PACK)
        b[j / PER_PACK] = *(const Pack*)(right + k * SIDE * COLUMNS + place_of(j, x));
#pragma unroll
      for (int i = 0; i < ROWS; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++)
          best[i][j] = least_sum(a[i / PER_PACK].word[i % PER_PACK],
                                 b[j / PER_PACK].word[j % PER_PACK], best[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < ROWS; i++)
#pragma unroll
    for (int j = 0; j < COLUMNS; j += PER_PACK) {
      const size_t at = (size_t)place_of(i, y) * extent + place_of(j, x) * LANES;
      Pack pack;
#pragma unroll
      for (int w = 0; w < PER_PACK; w++) pack.word[w] = best[i][j + w];
      *(Pack*)(c + at) = pack;
    }
}

// grid ceil(2n / block): the unary bounds d[i] of the cells (i, i^1); do they leave a point?
extern "C" __global__ void settle(const INNER_T* __restrict__ c, INNER_T* __restrict__ d, int n,
                                  int extent, int tighten, int* facts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 * n || is_over(*(volatile int*)facts)) return;
  INNER_T mine = c[(size_t)i * extent + (i ^ 1)], other = c[(size_t)(i ^ 1) * extent + i];
  if (tighten) {
    mine = even(mine);
    other = even(other);
  }
  d[i] = mine;
  if (sum(mine, other) < 0) note(facts, HAS_NO_POINT);
}

// grid 2n, a block takes a row: the stored half, combined with unary bounds.
extern "C" __global__ void store(VALUE_T* __restrict__ m, const INNER_T* __restrict__ c,
                                 const INNER_T* __restrict__ d, int extent,
                                 const int* __restrict__ facts) {
  const int i = blockIdx.x;
  const bool is_empty = *facts & HAS_NO_POINT;
  if (!is_empty && needs_wider(*facts)) return;
  const INNER_T mine = is_empty ? (INNER_T)0 : d[i];
#pragma unroll 4
  for (int j = threadIdx.x; j <= (i | 1); j += blockDim.x) {
    VALUE_T bound = Limits<VALUE_T>::lowest();
    if (!is_empty) {
      const INNER_T combined = half_up(sum(mine, d[j ^ 1]));
      bound = i == j ? (VALUE_T)0 : outward(least(c[(size_t)i * extent + j], combined));
    }
    m[row_start(i) + j] = bound;
  }
}

// grid extent: C has the bounds between leaders (see reduction.cu), but no diagonal.
extern "C" __global__ void load_hollow(INNER_T* __restrict__ c, const VALUE_T* __restrict__ m,
                                       const unsigned char* __restrict__ is_lead, int n, int extent,
                                       int* facts) {
  const int i = blockIdx.x, end = (i / TILE_ROWS + 1) * TILE_ROWS;
  const long long limit = dense_limit();
  for (int j = threadIdx.x; j < end; j += blockDim.x) {
    INNER_T value = inner_infinity();
    if (i < 2 * n && j <= (i | 1) && i != j && is_lead[i] && is_lead[j]) {
      const VALUE_T x = m[row_start(i) + j];
      value = inward(x, false);
      const bool is_large = (long long)x >= limit || (long long)x <= -limit;
      if (!NEEDS_NO_LIMIT && x != Limits<VALUE_T>::infinity() && is_large) note(facts, TOO_LARGE);
    }
    c[(size_t)i * extent + j] = value;
  }
}

// grid 2n: mark the bounds between leaders that neither a path of two, in C, nor two
// unary bounds give.
extern "C" __global__ void mark_needed(unsigned char* __restrict__ out,
                                       const VALUE_T* __restrict__ m,
                                       const unsigned char* __restrict__ is_lead,
                                       const INNER_T* __restrict__ c, int extent,
                                       const int* __restrict__ facts) {
  const int i = blockIdx.x;
  if (is_over(*facts) || !is_lead[i]) return;
  const VALUE_T mine = m[cell(i, i ^ 1)];
  for (int j = threadIdx.x; j <= (i | 1); j += blockDim.x) {
    const VALUE_T bound = m[row_start(i) + j];
    if (i == j || !is_lead[j] || bound == Limits<VALUE_T>::infinity()) continue;
    const VALUE_T combined = half_up(add_up(mine, m[cell(j ^ 1, j)]));
    if (inward(bound, false) < c[(size_t)i * extent + j] && (j == (i ^ 1) || bound < combined))
      out[row_start(i) + j] = 1;
  }
}
