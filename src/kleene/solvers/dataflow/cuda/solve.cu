// Constraints on values, component by component of the graph of operands. Names are numbered by
// their places in the schedule. Facts are rows of STRIDE numbers: row `place` is a name's fact, row
// `n_names + place` is for what its constraint gives.
#include "operators.cuh"

#ifndef STRIDE
#define STRIDE 8
#endif
#define COLUMNS                                                                                   \
  const unsigned char *__restrict__ op, const unsigned char *__restrict__ width,                  \
      const i64 *__restrict__ attribute, const i64 *__restrict__ offsets,                         \
      const int *__restrict__ operands, const i64 *__restrict__ given,                            \
      const i64 *__restrict__ user_offsets, const int *__restrict__ users,                        \
      const i64 *__restrict__ component_offsets, const int *__restrict__ threshold_set,           \
      const i64 *__restrict__ threshold_offsets, const i64 *__restrict__ bounds,                  \
      const i64 *__restrict__ patterns, int n_names, int narrowing

// Threads of a warp that take different ways wait for each other: few items have a warp each, many
// share one with those next to them, which are mostly alike. A thread takes the items from `at` on,
// every `step`-th.
struct Share {
  i64 at, step;
};
__device__ Share share_of(i64 n_items, i64 thread, i64 n_threads) {
  const i64 n_warps = n_threads / 32;
  i64 lanes = (n_items + n_warps - 1) / n_warps;
  if (lanes > 32) lanes = 32;
  const i64 lane = thread % 32;
  return {lane < lanes ? thread / 32 * lanes + lane : n_items, n_warps * lanes};
}

// Small components, a thread each. A block is one warp, which takes the next group, waits until all
// is done that its components read, and solves them. Groups are taken in their order, and what a
// group reads is in groups before it: the first one that is not done never waits, and so no warp
// waits for ever, however few are on the device at once.
//
// What a group reads was written by other warps in this launch. A writer's fence is between its
// facts and `is_done`, a reader's between `is_done` and the facts it reads: where the reader sees
// the one, it sees the other.
extern "C" __global__ void __launch_bounds__(32, 16)
    small(const i64* __restrict__ group_offsets, const int* __restrict__ items,
          const unsigned char* __restrict__ is_cyclic, int first, int last, COLUMNS, i64* facts,
          unsigned char* __restrict__ is_due, i64* __restrict__ counts, int* is_done, int* next) {
  while (true) {
    int group = 0;
    if (threadIdx.x == 0) group = first + atomicAdd(next, 1);
    group = __shfl_sync(0xffffffffu, group, 0);
    if (group >= last) return;
    const i64 at = group_offsets[group] + threadIdx.x;
    if (at < group_offsets[group + 1]) {
      const int component = items[at];
      const i64 start = component_offsets[component], end = component_offsets[component + 1];
      for (i64 edge = offsets[start]; edge < offsets[end]; ++edge)
        if (operands[edge] < start)
          while (*(volatile int*)(is_done + operands[edge]) == 0) __nanosleep(20);
      __threadfence();
      if (is_cyclic[component] == 0) {
        evaluate(facts, start * STRIDE, start, op, width, attribute, offsets, operands, given);
        counts[2 * component] = 1;
      } else {
        solve_component(facts, (n_names + start) * STRIDE, start, end, op, width, attribute, offsets,
                        operands, given, user_offsets, users, threshold_set, threshold_offsets, bounds,
                        patterns, narrowing, is_due, n_names + start, counts, 2 * component);
      }
      __threadfence();
      for (i64 place = start; place < end; ++place) *(volatile int*)(is_done + place) = 1;
    }
    __syncwarp();
  }
}

// Large components, a block each. Upwards, rounds on a list of names: first all are evaluated into
// their second rows, then those that grew are copied and their users listed. The least solution is
// one thing, however it is computed. Downwards, names are evaluated in the order of places, as the
// CPU does it: steps of names that do not see each other's new facts are done at once.
extern "C" __global__ void __launch_bounds__(384, 1)
    large(const int* __restrict__ items, const i64* __restrict__ step_begins,
          const i64* __restrict__ step_offsets, const int* __restrict__ step_places, COLUMNS,
          i64* __restrict__ facts, int* __restrict__ due, unsigned char* __restrict__ has_changed,
          int* __restrict__ list, int* __restrict__ next_list, i64* __restrict__ counts,
          int* __restrict__ is_done) {
  __shared__ int n_listed, n_next;
  const int component = items[blockIdx.x];
  const i64 start = component_offsets[component], end = component_offsets[component + 1];
  if (threadIdx.x == 0) {
    n_listed = (int)(end - start);
    n_next = 0;
  }
  for (i64 place = start + threadIdx.x; place < end; place += blockDim.x)
    list[place] = (int)place;
  __syncthreads();
  int* here = list;
  int* there = next_list;
  while (n_listed > 0) {
    const int n = n_listed;
    const Share share = share_of(n, threadIdx.x, blockDim.x);
    for (i64 k = share.at; k < n; k += share.step) {
      const i64 place = here[start + k];
      due[place] = 0;
      has_changed[place] = (unsigned char)evaluate_up(
          facts, place, (n_names + place) * STRIDE, op, width, attribute, offsets, operands, given,
          threshold_set, threshold_offsets, bounds, patterns);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
      const i64 place = here[start + k];
      if (!has_changed[place]) continue;
      copy(facts, place * STRIDE, (n_names + place) * STRIDE);
      for (i64 edge = user_offsets[place]; edge < user_offsets[place + 1]; ++edge) {
        const int user = users[edge];
        if (user < start || user >= end || atomicExch(&due[user], 1)) continue;
        there[start + atomicAdd(&n_next, 1)] = user;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      counts[2 * component] += n;
      n_listed = n_next;
      n_next = 0;
    }
    int* const last = here;
    here = there;
    there = last;
    __syncthreads();
  }
  for (i64 place = start + threadIdx.x; place < end; place += blockDim.x) due[place] = 1;
  __syncthreads();
  for (int sweep = 0; sweep < narrowing; ++sweep) {
    for (i64 step = step_begins[blockIdx.x]; step < step_begins[blockIdx.x + 1]; ++step) {
      const i64 begin = step_offsets[step], n = step_offsets[step + 1] - begin;
      const Share share = share_of(n, threadIdx.x, blockDim.x);
      for (i64 at = share.at; at < n; at += share.step) {
        const i64 place = step_places[begin + at];
          has_changed[place] = 0;
        if (due[place] == 0) continue;
        due[place] = 0;
        has_changed[place] = (unsigned char)evaluate_down(facts, place, (n_names + place) * STRIDE,
                                                          op, width, attribute, offsets, operands,
                                                          given);
      }
      __syncthreads();
      for (i64 at = threadIdx.x; at < n; at += blockDim.x) {
        const i64 place = step_places[begin + at];
        if (!has_changed[place]) continue;
          copy(facts, place * STRIDE, (n_names + place) * STRIDE);
        for (i64 edge = user_offsets[place]; edge < user_offsets[place + 1]; ++edge) {
          const int user = users[edge];
          if (user >= start && user < end) atomicExch(&due[user], 1);
        }
      }
      __syncthreads();
    }
  }  for (i64 place = start + threadIdx.x; place < end; place += blockDim.x) is_done[place] = 1;
}
