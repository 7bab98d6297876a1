// Bit rows that grow in rounds, and how a warp adds to them.
//
// Row r of `all` is the set of node r. `delta` has what it gained last round and is only read in a
// round; `fresh` gets what it gains now. A row is cut into at most 64 blocks of `block_words`
// words (a multiple of 32, so that a warp reads a strip of 32 words at once), and three masks a row
// say which blocks have a bit in `all` (as of the start of the round), in `delta` and in `fresh`.
//
// Warps race for words of `all`, by atomics and volatile reads alone. The race is monotone: bits
// are only ever set, and each is set by exactly one atomicOr, the one whose old value lacks it. So
// `all` and `fresh` end a round the same under every schedule, but for flows out of rows that other
// warps extend meanwhile; what such a flow misses is in `fresh`, and flows next round.
#pragma once
#define EVERY_LANE 0xffffffffu
typedef unsigned long long word_t;

struct Rows {
  word_t *all, *fresh, *fresh_mask;
  const word_t *delta, *delta_mask, *all_mask;
  int n_words, block_words;
};

__device__ __forceinline__ word_t peek(const word_t* at) { return *(const volatile word_t*)at; }
__device__ __forceinline__ int lane_id() { return threadIdx.x % 32; }
__device__ __forceinline__ int first_bit(word_t bits) { return __ffsll((long long)bits) - 1; }
__device__ __forceinline__ long long warp_id() {
  return ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
}
__device__ __forceinline__ long long n_warps() { return (long long)gridDim.x * blockDim.x / 32; }

__device__ __forceinline__ word_t full_word(const Rows& r, int row, int w) {
  return w < r.n_words ? peek(r.all + (size_t)row * r.n_words + w) : 0;
}
__device__ __forceinline__ word_t new_word(const Rows& r, int row, int w) {
  return w < r.n_words ? r.delta[(size_t)row * r.n_words + w] : 0;
}

// One lane adds `bits` to word w of a row; the bits that were not there.
__device__ __forceinline__ word_t win_word(const Rows& r, int row, int w, word_t bits) {
  const size_t at = (size_t)row * r.n_words + w;
  const word_t won = bits & ~atomicOr(r.all + at, bits);
  if (won) atomicOr(r.fresh + at, won);
  return won;
}

// The same, where most words bring nothing new: a stale value lacks bits at worst, and then the
// atomic finds them.
__device__ __forceinline__ word_t add_word(const Rows& r, int row, int w, word_t bits) {
  if (!bits || !(bits & ~peek(r.all + (size_t)row * r.n_words + w))) return 0;
  return win_word(r, row, w, bits);
}

__device__ __forceinline__ void note_block(const Rows& r, int row, int block) {
  const word_t bit = 1ull << block;
  if (!(peek(r.fresh_mask + row) & bit)) atomicOr(r.fresh_mask + row, bit);
}

// A warp adds a word a lane, all in one block.
__device__ __forceinline__ void add_strip(const Rows& r, int row, int w, int block, word_t bits) {
  const word_t won = add_word(r, row, w, bits);
  if (__any_sync(EVERY_LANE, won != 0) && lane_id() == 0) note_block(r, row, block);
}

// A warp adds row `from` to row `to`: all of it, or what it gained last round; how many strips.
template <bool FULL>
__device__ __forceinline__ int flow(const Rows& r, int from, int to) {
  int n_strips = 0;
  for (word_t m = FULL ? r.all_mask[from] : r.delta_mask[from]; m; m &= m - 1) {
    const int block = first_bit(m), start = block * r.block_words;
    const int end = min(start + r.block_words, r.n_words);
    for (int w = start + lane_id(); w - lane_id() < end; w += 32)
      add_strip(r, to, w, block, FULL ? full_word(r, from, w) : new_word(r, from, w)), n_strips++;
  }
  return n_strips;
}

// A strip is up to 32 words of a row that a warp looks at at once: the unit of work.
__device__ __forceinline__ void count_strips(word_t* n_visited, int n_strips) {
  if (n_strips && lane_id() == 0) atomicAdd(n_visited, (word_t)n_strips);
}

// Every lane of a warp asks: the places of those that are wanted in a list of *n_listed so far.
__device__ __forceinline__ int place_in_list(bool wanted, int* n_listed) {
  const unsigned votes = __ballot_sync(EVERY_LANE, wanted);
  int place = 0;
  if (lane_id() == 0 && votes) place = atomicAdd(n_listed, __popc(votes));
  return __shfl_sync(EVERY_LANE, place, 0) + __popc(votes & ((1u << lane_id()) - 1));
}

__device__ __forceinline__ word_t mix(word_t x) {
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
  x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
  return x ^ x >> 32;
}
__device__ __forceinline__ word_t word_hash(int w, word_t bits) {
  return bits ? mix(bits + (w + 1) * 0x9e3779b97f4a7c15ull) : 0;
}

// A warp gives the objects of a row to `process`, one a lane (-1: none), up to 32 at a time: those
// `word(w)` has bits for, in the blocks of `mask` that are this part's. `buffer` is the warp's own.
#define BUFFER_OBJECTS 96  // 31 that wait, and a word
template <class Word, class Process>
__device__ __forceinline__ void for_objects(const Rows& r, word_t mask, int part, int parts,
                                            int* buffer, Word word, Process process) {
  int n = 0;
  for (; mask; mask &= mask - 1) {
    const int start = first_bit(mask) * r.block_words, end = min(start + r.block_words, r.n_words);
    if (first_bit(mask) % parts != part) continue;
    for (int w = start + lane_id(); w - lane_id() < end; w += 32) {
      const word_t held = w < end ? word(w) : 0;
      for (unsigned lanes = __ballot_sync(EVERY_LANE, held != 0); lanes; lanes &= lanes - 1) {
        const int lane = __ffs(lanes) - 1, first = (w - lane_id() + lane) * 64;
        const word_t bits = __shfl_sync(EVERY_LANE, held, lane);
        for (int bit = lane_id(); bit < 64; bit += 32)
          if (bits >> bit & 1) buffer[n + __popcll(bits & ((1ull << bit) - 1))] = first + bit;
        n += __popcll(bits);
        for (; n >= 32; n -= 32) {
          __syncwarp();
          const int o = buffer[n - 32 + lane_id()];
          __syncwarp();
          process(o);
        }
      }
    }
  }
  if (!n) return;
  __syncwarp();
  const int o = lane_id() < n ? buffer[lane_id()] : -1;
  __syncwarp();
  process(o);
}
