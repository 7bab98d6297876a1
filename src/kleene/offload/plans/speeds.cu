// What the calibration of a GPU launches: each kernel is bound by one thing.

// 16 * n multiply-adds a thread in 8 independent chains.
template <class T> __device__ void multiply_add(T *out, int n, T by) {
  T sum[8];
#pragma unroll
  for (int i = 0; i < 8; i++) sum[i] = (T)(threadIdx.x + i);
  for (int k = 0; k < n; k++) {
#pragma unroll
    for (int i = 0; i < 16; i++) sum[i % 8] = sum[i % 8] * by + (T)i;
  }
  T all = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) all += sum[i];
  if (all == (T)12345) out[0] = all;  // never, but the compiler cannot know
}

extern "C" __global__ void multiply_add_double(double *out, int n, double by) {
  multiply_add<double>(out, n, by);
}

extern "C" __global__ void multiply_add_float(float *out, int n, float by) {
  multiply_add<float>(out, n, by);
}

extern "C" __global__ void multiply_add_int(int *out, int n, int by) {
  multiply_add<int>(out, n, by);
}

// All threads read n elements `times` times, neighbours side by side. What is volatile is not in
// the first-level cache.
extern "C" __global__ void read_all(const double *a, double *out, long long n, int times) {
  const long long all = (long long)gridDim.x * blockDim.x;
  double sum = 0;
  for (int t = 0; t < times; t++) {
#pragma unroll 4
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += all)
      sum += ((const volatile double *)a)[i];
  }
  if (sum == 12345) out[0] = sum;
}

// Every thread adds to elements that others add to at the same time, warps to one each.
extern "C" __global__ void add_all(double *out, int n, int times) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int t = 0; t < times; t++) atomicAdd(&out[(warp + t) % n], 1.0);
}

// One thread follows a chain: every load waits for the one before.
extern "C" __global__ void follow(const int *next, int *out, int n) {
  int at = 0;
  for (int i = 0; i < n; i++) at = ((const volatile int *)next)[at];
  out[0] = at;
}

extern "C" __global__ void nothing(const double *a, double *out, int i, int j, int k, double x) {
  if (i > j + k) out[0] = a[0] + x;
}
