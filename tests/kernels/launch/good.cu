// Correct kernels: each shows one thing the host runner must get right.
#ifndef BLOCK
#define BLOCK 64
#endif

// Sum each block's slice of `values` in shared memory.   grid n / BLOCK, block BLOCK
extern "C" __global__ void __launch_bounds__(BLOCK) block_sum(
    const int* __restrict__ values, int* __restrict__ sums) {
  __shared__ int tile[BLOCK];
  tile[threadIdx.x] = __ldg(values + blockIdx.x * BLOCK + threadIdx.x);
  __syncthreads();
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

__device__ int warp_sum(int value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  return value;
}

// Sum each warp's slice by shuffles.   grid 1, block a multiple of 32
extern "C" __global__ void warp_sums(const int* values, int* sums) {
  const int total = warp_sum(values[threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = total;
}

// Every lane's neighbours, and the warp's votes.   grid 1, block 32
extern "C" __global__ void lanes(const int* values, int* out, unsigned* votes) {
  const int lane = threadIdx.x;
  const unsigned all = 0xffffffffu;
  out[lane] = __shfl_up_sync(all, values[lane], 1);
  out[32 + lane] = __shfl_down_sync(all, values[lane], 1, 8);
  out[64 + lane] = __shfl_sync(all, values[lane], 3);
  const unsigned odd = __ballot_sync(all, values[lane] & 1);
  if (lane == 0) votes[0] = odd;
  const int any = __any_sync(all, values[lane] < 0), every = __all_sync(all, values[lane] >= 0);
  const unsigned same = __match_any_sync(all, values[lane]);
  const int top = __reduce_max_sync(all, values[lane]);
  if (lane == 0) {
    votes[1] = any;
    votes[2] = every;
    votes[3] = __popc(same);
    votes[4] = top;
  }
}

// A shuffle inside half a warp only.   grid 1, block 32
extern "C" __global__ void half_warp(int* out) {
  if (threadIdx.x < 16) out[threadIdx.x] = __shfl_sync(0xffffu, (int)threadIdx.x, 15);
}

// Lanes pass words through shared memory, ordered by __syncwarp alone.   grid 1, block 32
extern "C" __global__ void warp_rotate(const int* values, int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = values[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = tile[(threadIdx.x + 1) % 32];
}

// A histogram in dynamic shared memory, added to the global one.   shared n_bins * 4
extern "C" __global__ void histogram(const int* values, int n, unsigned* bins, int n_bins) {
  extern __shared__ unsigned local_bins[];
  for (int bin = threadIdx.x; bin < n_bins; bin += blockDim.x) local_bins[bin] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&local_bins[values[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < n_bins; bin += blockDim.x)
    atomicAdd(bins + bin, local_bins[bin]);
}

// Each atomic once a thread, on words all threads share.
extern "C" __global__ void atomics(int* i, unsigned long long* u) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(i + 0, t);
  atomicMin(i + 1, t);
  atomicMax(i + 2, t);
  atomicCAS(i + 3, 0, 7);
  atomicSub(i + 4, 1);
  atomicXor(i + 5, t);
  atomicOr(u + 0, 1ull << t);
  atomicAnd(u + 1, ~(1ull << t));
  atomicExch(u + 2, 5ull);
  atomicAdd(u + 3, 1ull << 40);
}

// How many threads, any, all have a set flag.   grid 1
extern "C" __global__ void votes(const int* flags, int* out) {
  const int flag = flags[threadIdx.x];
  const int count = __syncthreads_count(flag), any = __syncthreads_or(flag);
  const int all = __syncthreads_and(flag);
  if (threadIdx.x == 0) out[0] = count, out[1] = any, out[2] = all;
}

// Where each thread stands, in three dimensions.
extern "C" __global__ void places(int* out) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int n = blockDim.x * blockDim.y * blockDim.z;
  const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * n + t] = 100 * threadIdx.x + 10 * threadIdx.y + threadIdx.z;
}

// Neighbouring bytes written by different threads: no race.
extern "C" __global__ void bytes(unsigned char* out) { out[threadIdx.x] = threadIdx.x; }

template <class T> __device__ T twice(T value) {
  __shared__ T kept[32];
  kept[threadIdx.x] = value;
  __syncthreads();
  return kept[threadIdx.x] + kept[threadIdx.x];
}
extern "C" __global__ void twice_each(float* a, double* b) {
  a[threadIdx.x] = twice(a[threadIdx.x]);
  b[threadIdx.x] = twice(b[threadIdx.x]);
}

extern "C" __global__ void bit_counts(const unsigned long long* v, int* out) {
  const int i = threadIdx.x;
  out[4 * i] = __popcll(v[i]);
  out[4 * i + 1] = __ffsll(v[i]);
  out[4 * i + 2] = __clzll(v[i]);
  out[4 * i + 3] = min(__clz((int)v[i]), max(0, 40));
}

// A stated race: every thread stores the same value, through volatile.
extern "C" __global__ void any_negative(const int* values, int* found) {
  if (values[threadIdx.x] < 0) *(volatile int*)found = 1;
}
