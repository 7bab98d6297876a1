// Kernels that a person would write for five of the computations, and for a convolution.
// benchmarks/kernels_cuda.py launches them beside the generated ones.

// c = alpha * a * b + beta * c.   A block of 256 threads has a tile of 128 x 64 of c, a thread
// 8 x 4 elements of it; 8 values of k at a time are in shared memory, the next 8 in registers.
extern "C" __global__ void __launch_bounds__(256, 2)
gemm(int ni, int nj, int nk, double alpha, double beta, double *__restrict__ c,
     const double *__restrict__ a, const double *__restrict__ b) {
  __shared__ double rows[2][8][128 + 2], columns[2][8][64];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16, t = threadIdx.x;
  const int i0 = blockIdx.y * 128, j0 = blockIdx.x * 64;
  double sum[8][4] = {}, next_row[4], next_column[2];
  auto fetch = [&](int k0) {
#pragma unroll
    for (int m = 0; m < 4; m++) {  // 8 threads follow a row of a
      const int i = i0 + t / 8 + 32 * m, k = k0 + t % 8;
      next_row[m] = i < ni && k < nk ? a[(size_t)i * nk + k] : 0;
    }
#pragma unroll
    for (int m = 0; m < 2; m++) {  // 64 threads follow a row of b
      const int k = k0 + t / 64 + 4 * m, j = j0 + t % 64;
      next_column[m] = k < nk && j < nj ? b[(size_t)k * nj + j] : 0;
    }
  };
  auto keep = [&](int half) {
#pragma unroll
    for (int m = 0; m < 4; m++) rows[half][t % 8][t / 8 + 32 * m] = next_row[m];
#pragma unroll
    for (int m = 0; m < 2; m++) columns[half][t / 64 + 4 * m][t % 64] = next_column[m];
  };
  fetch(0);
  keep(0);
  __syncthreads();
  int half = 0;
  for (int k0 = 0; k0 < nk; k0 += 8, half ^= 1) {
    if (k0 + 8 < nk) fetch(k0 + 8);
#pragma unroll
    for (int k = 0; k < 8; k++) {
      double row[8], column[4];
#pragma unroll
      for (int m = 0; m < 8; m += 2) {
        const double2 both = *(const double2 *)&rows[half][k][2 * y + 16 * m];
        row[m] = both.x, row[m + 1] = both.y;
      }
#pragma unroll
      for (int n = 0; n < 4; n += 2) {
        const double2 both = *(const double2 *)&columns[half][k][2 * x + 16 * n];
        column[n] = both.x, column[n + 1] = both.y;
      }
#pragma unroll
      for (int m = 0; m < 8; m++)
#pragma unroll
        for (int n = 0; n < 4; n++) sum[m][n] += row[m] * column[n];
    }
    if (k0 + 8 < nk) keep(half ^ 1);
    __syncthreads();
  }
#pragma unroll
  for (int m = 0; m < 8; m++)
#pragma unroll
    for (int n = 0; n < 4; n++) {
      const int i = i0 + 2 * y + 16 * (m & ~1) + (m & 1), j = j0 + 2 * x + 16 * (n & ~1) + (n & 1);
      if (i < ni && j < nj) c[(size_t)i * nj + j] = beta * c[(size_t)i * nj + j] + alpha * sum[m][n];
    }
}

extern "C" __global__ void jacobi(int n, const double *__restrict__ from, double *__restrict__ to) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x + 1;
  const int i = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (i >= n - 1 || j >= n - 1) return;
  const double *p = from + (size_t)i * n + j;
  to[(size_t)i * n + j] = (p[0] + p[-1] + p[1] + p[n] + p[-n]) / 5;
}

// ax[i] = a[i] . x, a warp for each row.
extern "C" __global__ void atax_rows(int m, int n, const double *__restrict__ a,
                                     const double *__restrict__ x, double *__restrict__ ax) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (i >= m) return;
  double sum = 0;
  for (int j = lane; j < n; j += 32) sum += a[(size_t)i * n + j] * x[j];
  for (int by = 16; by; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
  if (lane == 0) ax[i] = sum;
}

// y += the part of a' * ax that 128 rows give; y is 0 before.   grid (ceil(n/256), ceil(m/128))
extern "C" __global__ void atax_columns(int m, int n, const double *__restrict__ a,
                                        const double *__restrict__ ax, double *__restrict__ y) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  const int first = blockIdx.y * 128, end = min(m, first + 128);
  double sum = 0;
#pragma unroll 8
  for (int i = first; i < end; i++) sum += a[(size_t)i * n + j] * ax[i];
  atomicAdd(&y[j], sum);
}

// The sum of each column, or with `is_squared` of the squares of its distances from the mean, by
// 128 rows at a time. `mean` has the sums themselves; before the first launch it has zeros.
extern "C" __global__ void column_sums(int m, int n, int is_squared, const double *data,
                                       const double *mean, double *sums) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m) return;
  const int first = blockIdx.y * 128, end = min(n, first + 128);
  const double at = is_squared ? mean[j] / n : 0;
  double sum = 0;
#pragma unroll 8
  for (int i = first; i < end; i++) {
    const double x = data[(size_t)i * m + j] - at;
    sum += is_squared ? x * x : x;
  }
  atomicAdd(&sums[j], sum);
}

extern "C" __global__ void standardise(int m, int n, double *__restrict__ data,
                                       const double *__restrict__ mean,
                                       const double *__restrict__ deviation) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= m) return;
  double by = sqrt(deviation[j] / n);
  by = by <= 0.1 ? 1 : by;
  data[(size_t)i * m + j] = (data[(size_t)i * m + j] - mean[j] / n) / (sqrt((double)n) * by);
}

extern "C" __global__ void finish(int m, int n, double *__restrict__ mean,
                                  double *__restrict__ deviation) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= m) return;
  mean[j] /= n;
  const double by = sqrt(deviation[j] / n);
  deviation[j] = by <= 0.1 ? 1 : by;
}

// corr = data' * data above the diagonal, mirrored below; tiles of 64 x 64, 4 x 4 a thread.
extern "C" __global__ void __launch_bounds__(256)
products(int m, int n, const double *__restrict__ data, double *__restrict__ corr) {
  if (blockIdx.x < blockIdx.y) return;
  __shared__ double left[16][64], right[16][64];
  const int x = threadIdx.x % 16, y = threadIdx.x / 16;
  const int i0 = blockIdx.y * 64, j0 = blockIdx.x * 64;
  double sum[4][4] = {};
  for (int k0 = 0; k0 < n; k0 += 16) {
    for (int at = threadIdx.x; at < 16 * 64; at += 256) {
      const int k = k0 + at / 64, i = i0 + at % 64, j = j0 + at % 64;
      left[at / 64][at % 64] = k < n && i < m ? data[(size_t)k * m + i] : 0;
      right[at / 64][at % 64] = k < n && j < m ? data[(size_t)k * m + j] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; k++) {
      double row[4], column[4];
#pragma unroll
      for (int e = 0; e < 4; e++) row[e] = left[k][y + 16 * e], column[e] = right[k][x + 16 * e];
#pragma unroll
      for (int e = 0; e < 4; e++)
#pragma unroll
        for (int f = 0; f < 4; f++) sum[e][f] += row[e] * column[f];
    }
    __syncthreads();
  }
  for (int e = 0; e < 4; e++)
    for (int f = 0; f < 4; f++) {
      const int i = i0 + y + 16 * e, j = j0 + x + 16 * f;
      if (i > j || j >= m) continue;
      corr[(size_t)i * m + j] = i == j ? 1 : sum[e][f];
      corr[(size_t)j * m + i] = i == j ? 1 : sum[e][f];
    }
}

// One round of Floyd and Warshall: row k and column k stay the same in it.
extern "C" __global__ void floyd_round(int n, int k, int *__restrict__ path) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= n || j >= n) return;
  const int through = path[(size_t)i * n + k] + path[(size_t)k * n + j];
  if (through < path[(size_t)i * n + j]) path[(size_t)i * n + j] = through;
}

// A thread for each point of the picture, as it is written.
extern "C" __global__ void convolve(int height, int width, int size, const int *__restrict__ picture,
                                    const int *__restrict__ filter, int *__restrict__ out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y >= height - size + 1 || x >= width - size + 1) return;
  int red = 0, green = 0, blue = 0;
  for (int v = 0; v < size; v++)
    for (int u = 0; u < size; u++) {
      const int by = filter[v * size + u];
      const int *p = picture + ((size_t)(y + v) * width + x + u) * 3;
      red += by * p[0], green += by * p[1], blue += by * p[2];
    }
  int *q = out + ((size_t)y * width + x) * 3;
  q[0] = red / 256, q[1] = green / 256, q[2] = blue / 256;
}
