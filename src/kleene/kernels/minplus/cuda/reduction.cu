// Which constraints of closed octagons to keep; `reference.minimal` has the definition.
// grid (octagons, shares), block a multiple of 32; a warp takes a row.
//
// Row i of octagon t has its leader, the first row at a fixed difference, at leader[begin + i], and
// is_lead[begin + i] says whether it speaks for its class to others.
#include "element.cuh"
#include "octagon.cuh"
#ifndef VALUE_T
#define VALUE_T int
#endif
#define INFINITE Limits<VALUE_T>::infinity()

__device__ int leader_of(const VALUE_T* m, int i) {
  for (int first = 0; first < i; first += 32) {
    const int j = first + lane_id();
    bool is_equal = false;
    if (j < i) {
      const VALUE_T there = m[cell(i, j)], back = m[cell(j, i)];
      is_equal = there != INFINITE && back != INFINITE && add_up(there, back) == 0;
    }
    const unsigned found = __ballot_sync(0xffffffffu, is_equal);
    if (found) return first + __ffs(found) - 1;
  }
  return i;
}

extern "C" __global__ void find_leaders(const VALUE_T* __restrict__ m,
                                        const long long* __restrict__ offsets,
                                        int* __restrict__ leader) {
  const Part o = part_of(offsets, blockIdx.x);
  if (o.n == 0 || m[o.begin] < 0) return;
  for (int i = warp_id(); i < 2 * o.n; i += n_warps()) {
    const int found = leader_of(m + o.begin, i);
    if (lane_id() == 0) leader[o.begin + i] = found;
  }
}

// The next row of row i's class, in a circle.
__device__ int next_member(const int* leader, int n_rows, int i) {
  for (int first = i + 1; first < n_rows; first += 32) {
    const int j = first + lane_id();
    const unsigned found = __ballot_sync(0xffffffffu, j < n_rows && leader[j] == leader[i]);
    if (found) return first + __ffs(found) - 1;
  }
  return leader[i];
}

// Both bounds of a fixed variable; the cycle through every other class, or through its dual. Of an
// empty octagon the first element. `out` is 0 before.
extern "C" __global__ void mark_classes(unsigned char* __restrict__ out,
                                        const VALUE_T* __restrict__ m,
                                        const long long* __restrict__ offsets,
                                        const int* __restrict__ leaders,
                                        unsigned char* __restrict__ is_lead) {
  const Part o = part_of(offsets, blockIdx.x);
  if (o.n == 0) return;
  if (m[o.begin] < 0) {
    if (thread_id() == 0) out[o.begin] = 1;
    return;
  }
  const int* leader = leaders + o.begin;
  for (int i = warp_id(); i < 2 * o.n; i += n_warps()) {
    const int head = leader[i];
    const bool is_fixed = leader[i ^ 1] == head, keeps = !is_fixed && head % 2 == 0;
    const int next = keeps ? next_member(leader, 2 * o.n, i) : i;
    if (lane_id() != 0) continue;
    is_lead[o.begin + i] = head == i && !is_fixed;
    if (is_fixed) out[o.begin + cell(i, i ^ 1)] = 1;
    if (next != i) out[o.begin + cell(i, next)] = 1;
  }
}

// The bounds between leaders that neither a path of two nor two unary bounds give, in octagons of
// up to `largest` variables; larger ones are left to the tiles of closure.cu.
extern "C" __global__ void mark_leads(unsigned char* __restrict__ out,
                                      const VALUE_T* __restrict__ m,
                                      const long long* __restrict__ offsets,
                                      const unsigned char* __restrict__ is_lead, int largest) {
  const Part o = part_of(offsets, blockIdx.x);
  if (o.n == 0 || o.n > largest || m[o.begin] < 0) return;
  const VALUE_T* here = m + o.begin;
  const unsigned char* leads = is_lead + o.begin;
  for (int i = warp_id(); i < 2 * o.n; i += n_warps()) {
    if (!leads[i]) continue;
    for (int j = lane_id(); j <= (i | 1); j += 32) {
      const VALUE_T bound = here[row_start(i) + j];
      bool is_needed = i != j && leads[j] && bound != INFINITE;
      if (is_needed && j != (i ^ 1))
        is_needed = bound < half_up(add_up(here[cell(i, i ^ 1)], here[cell(j ^ 1, j)]));
      for (int k = 0; is_needed && k < 2 * o.n; k++)
        if (k != i && k != j && leads[k])
          is_needed = bound < add_up(here[cell(i, k)], here[cell(k, j)]);
      if (is_needed) out[o.begin + row_start(i) + j] = 1;
    }
  }
}
