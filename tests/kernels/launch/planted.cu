// Kernels with one fault each, which the host runner must find.

// The barrier between the two halves is missing.   race
extern "C" __global__ void no_barrier(const int* values, int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = values[threadIdx.x];
  out[threadIdx.x] = tile[63 - threadIdx.x];
}

// The word is read by one thread, then overwritten by another in the same interval.   race
extern "C" __global__ void read_then_write(int* values) {
  const int kept = values[(threadIdx.x + 1) % blockDim.x];
  if (kept >= 0) values[threadIdx.x] = kept;
}

// Every block stores to one word.   race
extern "C" __global__ void two_blocks(int* out) { out[0] = 1; }

// One thread updates atomically what another reads plainly.   race
extern "C" __global__ void atomic_and_plain(int* out) {
  if (threadIdx.x == 0) atomicAdd(out, 1);
  if (threadIdx.x == 1) out[1] = out[0];
}

// A barrier orders the block, but not the two blocks.   race
extern "C" __global__ void barrier_is_not_grid_wide(int* words) {
  const int seen = words[1 - blockIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) words[blockIdx.x] = seen + 1;
}

// A vote is no memory barrier: __syncwarp is missing.   race
extern "C" __global__ void vote_is_no_barrier(int* out) {
  __shared__ int tile[32];
  tile[threadIdx.x] = threadIdx.x;
  __any_sync(0xffffffffu, 1);
  out[threadIdx.x] = tile[31 - threadIdx.x];
}

// One past the end.   bounds
extern "C" __global__ void past_the_end(const int* values, int* out) {
  out[threadIdx.x] = values[threadIdx.x + 1];
}

// Just before the start.   bounds
extern "C" __global__ void before_the_start(int* out) { out[(int)threadIdx.x - 1] = 1; }

// More dynamic shared memory than the launch gave.   bounds
extern "C" __global__ void past_shared(int* out) {
  extern __shared__ int room[];
  room[threadIdx.x] = 1;
  out[threadIdx.x] = room[threadIdx.x];
}

// Half the block leaves before the barrier.   barrier
extern "C" __global__ void left_early(int* out) {
  if (threadIdx.x >= 32) return;
  __syncthreads();
  out[threadIdx.x] = 1;
}

// The two halves wait at different barriers.   barrier
extern "C" __global__ void two_barriers(int* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[threadIdx.x] = 1;
  } else {
    __syncthreads();
    out[threadIdx.x] = 2;
  }
}

// Lane 5 is named in the mask but waits elsewhere.   barrier
extern "C" __global__ void lane_elsewhere(int* out) {
  if (threadIdx.x == 5)
    __syncthreads();
  else
    out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 5);
}

// The caller is not in its own mask.   barrier
extern "C" __global__ void not_in_mask(int* out) {
  out[threadIdx.x] = __shfl_sync(1u, 1, 0);
}

// Shared memory is not born zero.   uninitialised
extern "C" __global__ void unset(int* out) {
  __shared__ int total;
  atomicAdd(&total, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[0] = total;
}

// trap
extern "C" __global__ void traps(const int* values) {
  if (values[threadIdx.x] == 3) __trap();
}
