// Long chains of flows in one launch: list the flows the rules ask for now, and once the host has
// ordered them, carry everything along them, level by level.
#include "rows.cuh"
#include "targets.cuh"

#ifndef BLOCK
#define BLOCK 256  // threads
#endif
#define SLICE 4  // words, one sector of memory; a block owns a slice of every row

// counts[i]: how many flows rule i asks for; then, with `offsets`, ends[2 j] and ends[2 j + 1] are
// from where and to where. A warp takes a rule; `into` tells a push from a pull.
extern "C" __global__ void list_flows(
    const int* __restrict__ pointer, const int* __restrict__ other, const int* __restrict__ map,
    int n_rules, int into, const word_t* __restrict__ all, const word_t* __restrict__ all_mask,
    int n_words, int block_words, const int* __restrict__ contents,
    const int* __restrict__ function_of, const int* __restrict__ result,
    const int* __restrict__ rest, const int* __restrict__ formal_offsets,
    const int* __restrict__ formals, int outside, int unknown_row, int escaped_row, int is_counting,
    long long* __restrict__ counts, const long long* __restrict__ offsets,
    int* __restrict__ ends) {
  __shared__ int buffers[BLOCK / 32][BUFFER_OBJECTS];
  const Rows r = {nullptr, nullptr, nullptr, nullptr, nullptr, all_mask, n_words, block_words};
  const Targets t = {contents, function_of, result, rest, formal_offsets, formals,
                     outside, unknown_row, escaped_row};
  for (long long rule = warp_id(); rule < n_rules; rule += n_warps()) {
    const int p = pointer[rule], node = other[rule];
    long long n_found = is_counting ? 0 : offsets[rule];
    for_objects(
        r, all_mask[p], 0, 1, buffers[threadIdx.x / 32],
        [&](int w) { return all[(size_t)p * n_words + w]; },
        [&](int o) {
          const int at = o < 0 ? -1 : target(t, map[rule], o, into);
          const bool flows = at >= 0 && at != node;
          const unsigned found = __ballot_sync(EVERY_LANE, flows);
          if (flows && !is_counting) {
            const long long j = 2 * (n_found + __popc(found & ((1u << lane_id()) - 1)));
            ends[j] = into ? node : at;
            ends[j + 1] = into ? at : node;
          }
          n_found += __popc(found);
        });
    if (is_counting && lane_id() == 0) counts[rule] = n_found;
  }
}

// Group g (rows that flow into each other, mostly one) gets what its members have and what flows
// in from rows of lower levels. grid n_words / SLICE: words of different columns never meet, so
// levels need a barrier within the block only, and words no atomics.
extern "C" __global__ void sweep(
    const int* __restrict__ level_offsets, int n_levels, const int* __restrict__ source_offsets,
    const int* __restrict__ sources, const int* __restrict__ member_offsets,
    const int* __restrict__ members, word_t* __restrict__ all, word_t* __restrict__ fresh,
    word_t* fresh_mask, int n_words, int block_words) {
  const int w = blockIdx.x * SLICE + threadIdx.x % SLICE, worker = threadIdx.x / SLICE;
  const int n_workers = blockDim.x / SLICE, block = blockIdx.x * SLICE / block_words;
  for (int level = 0; level < n_levels; level++) {
    const int end = level_offsets[level + 1];
    for (int group = level_offsets[level] + worker; group < end; group += n_workers) {
      const int first = member_offsets[group], past = member_offsets[group + 1];
      word_t sum = 0;
      for (int i = source_offsets[group]; i < source_offsets[group + 1]; i++)
        sum |= all[(size_t)sources[i] * n_words + w];
      for (int i = first; past - first > 1 && i < past; i++)
        sum |= all[(size_t)members[i] * n_words + w];
      for (int i = first; sum && i < past; i++) {
        const size_t at = (size_t)members[i] * n_words + w;
        const word_t had = all[at];
        if (!(sum & ~had)) continue;
        all[at] = had | sum;
        fresh[at] |= sum & ~had;
        const word_t bit = 1ull << block;
        if (!(peek(fresh_mask + members[i]) & bit)) atomicOr(fresh_mask + members[i], bit);
      }
    }
    __syncthreads();
  }
}
