// The CUDA calls of generated hosts on plain memory: `k<<<g, b>>>(x)` is LAUNCH(g, b, k(x)) here.
// Threads run one after the other, so kernels with barriers or shuffles are left out; loops that are
// one launch are executed by one thread.
#pragma once
#include <stdlib.h>
#include <string.h>
#define __global__
#define __device__
#define __restrict__ __restrict
typedef int cudaError_t;
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
static dim3 threadIdx, blockIdx, blockDim, gridDim;
static int n_bytes_copied;
static cudaError_t cudaMalloc(void **to, size_t n) { return (*to = malloc(n)) ? 0 : 1; }
static cudaError_t cudaFree(void *p) { free(p); return 0; }
static cudaError_t cudaGetLastError() { return 0; }
static const char *cudaGetErrorString(cudaError_t) { return "error"; }
static cudaError_t cudaMemcpy(void *to, const void *from, size_t n, int) {
  memcpy(to, from, n);
  n_bytes_copied += (int)n;
  return 0;
}
#define __launch_bounds__(n)
enum { cudaDevAttrMultiProcessorCount };
static int n_together;
static void __syncthreads() {}
static void __threadfence() {}
static unsigned atomicAdd(unsigned *at, unsigned by) { return (*at += by) - by; }
static cudaError_t cudaGetDevice(int *device) { return *device = 0; }
static cudaError_t cudaDeviceGetAttribute(int *n, int, int) { *n = 4; return 0; }
static cudaError_t cudaMemset(void *to, int value, size_t n) { memset(to, value, n); return 0; }
template <class T, T... N> struct Numbers {};
template <class... A, size_t... N>
static void called(void (*kernel)(A...), void **given, Numbers<size_t, N...>) {
  kernel(*(A *)given[N]...);
}
template <class... A>
static cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(A...), dim3 grid, dim3 block,
                                               void **given, size_t, int) {
  n_together += grid.x * block.x;
  gridDim = blockDim = dim3(1, 1, 1);
  blockIdx = threadIdx = {0, 0, 0};
  called(kernel, given, __make_integer_seq<Numbers, size_t, sizeof...(A)>());
  return 0;
}
extern "C" int together() { return n_together; }
extern "C" int copied() { return n_bytes_copied; }
#define LAUNCH(grid, block, call)                                          \
  do {                                                                     \
    gridDim = grid, blockDim = block;                                      \
    for (unsigned b = 0; b < gridDim.x * gridDim.y * gridDim.z; b++)       \
      for (unsigned t = 0; t < blockDim.x * blockDim.y * blockDim.z; t++) { \
        blockIdx = {b % gridDim.x, b / gridDim.x % gridDim.y, b / gridDim.x / gridDim.y}; \
        threadIdx = {t % blockDim.x, t / blockDim.x % blockDim.y, t / blockDim.x / blockDim.y}; \
        call;                                                              \
      }                                                                    \
  } while (0)
