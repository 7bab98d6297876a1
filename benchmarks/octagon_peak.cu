// How many sums with minima can a GPU do on registers alone, as closure.cu does them?
// Each value takes the sum of its neighbour with a step: nothing can be left out, and a round waits
// for the one before only.
#include "closure.cu"
enum { N_VALUES = 32 };

extern "C" __global__ void __launch_bounds__(256) peak(word_t* out, word_t step, int n_rounds) {
  word_t x[N_VALUES];
#pragma unroll
  for (int i = 0; i < N_VALUES; i++) x[i] = (word_t)(threadIdx.x * 7 + i * 3);
  for (int round = 0; round < n_rounds; round++)
#pragma unroll
    for (int i = 0; i < N_VALUES; i++) x[i] = least_sum(x[(i + 1) % N_VALUES], step, x[i]);
  word_t total = x[0];
#pragma unroll
  for (int i = 1; i < N_VALUES; i++) total = least_sum(x[i], step, total);
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
