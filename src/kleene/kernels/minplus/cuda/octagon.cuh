// Where the cells of an octagon lie, and how a grid is shared by a batch.
//
// Octagon t of a batch is m[offsets[t]] to m[offsets[t + 1]]. A grid has a column of blocks for
// each octagon: blockIdx.x is the octagon, blockIdx.y a share of it, of any number of shares.
#pragma once

__device__ __forceinline__ size_t row_start(int i) { return (size_t)(i + 1) * (i + 1) / 2; }
__device__ __forceinline__ size_t cell(int i, int j) {
  return j > (i | 1) ? row_start(j ^ 1) + (i ^ 1) : row_start(i) + j;
}
__device__ __forceinline__ int n_of(size_t n_elements) {
  return (int)((sqrt(1.0 + 2.0 * (double)n_elements) - 1.0) / 2.0);
}

struct Part {
  size_t begin, end;
  int n;
};
__device__ __forceinline__ Part part_of(const long long* offsets, long long t) {
  const size_t begin = offsets[t], end = offsets[t + 1];
  return {begin, end, n_of(end - begin)};
}

// This thread and all threads, and this warp and all warps, that share an octagon.
__device__ __forceinline__ size_t thread_id() {
  return (size_t)blockIdx.y * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ size_t n_threads() { return (size_t)gridDim.y * blockDim.x; }
__device__ __forceinline__ int lane_id() { return threadIdx.x % 32; }
__device__ __forceinline__ int warp_id() { return (int)(thread_id() / 32); }
__device__ __forceinline__ int n_warps() { return (int)(n_threads() / 32); }
