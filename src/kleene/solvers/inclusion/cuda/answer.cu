// What a solved problem says, as sparse words and call edges: count first, then write.
#include "rows.cuh"

// Word w of a row as the answer has it: without the bit that stands for the outside, and without
// the escaped objects where that bit is set.
struct Answer {
  const word_t *all, *all_mask, *escaped;
  int n_words, block_words, outside;  // outside: an object, or -1

  __device__ bool is_unknown(int row) const {
    return outside >= 0 && all[(size_t)row * n_words + outside / 64] >> outside % 64 & 1;
  }
  __device__ word_t word(int row, int w, bool unknown) const {
    if (w >= n_words) return 0;
    word_t bits = all[(size_t)row * n_words + w];
    if (unknown) bits &= ~escaped[w];
    return outside / 64 == w && outside >= 0 ? bits & ~(1ull << outside % 64) : bits;
  }
};

// Rows meet under their sums in a table; first[place] is the first to come, + 1. grid ceil(n / block)
extern "C" __global__ void enter_rows(const word_t* __restrict__ sums, int n_rows, int n_places,
                                      word_t* keys, int* first, int* __restrict__ place_of) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n_rows) return;
  const word_t key = mix(sums[row]) | 1;  // 0 is a free place
  int place = key >> 32 & (n_places - 1);
  for (;; place = (place + 1) & (n_places - 1)) {
    const word_t old = atomicCAS(keys + place, 0ull, key);
    if (!old || old == key) break;
  }
  atomicCAS(first + place, 0, row + 1);
  place_of[row] = place;
}

// like[r]: the first to come if row r is equal to it, else r. A warp takes a row.
extern "C" __global__ void compare_rows(
    const word_t* __restrict__ all, const word_t* __restrict__ all_mask, int n_words,
    int block_words, int n_rows, const int* __restrict__ first, const int* __restrict__ place_of,
    int* __restrict__ like) {
  for (long long row = warp_id(); row < n_rows; row += n_warps()) {
    const int other = first[place_of[row]] - 1;
    word_t differ = all_mask[row] ^ all_mask[other];
    for (word_t blocks = differ || other == row ? 0 : all_mask[row]; blocks; blocks &= blocks - 1) {
      const int start = first_bit(blocks) * block_words, end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w < end; w += 32)
        differ |= all[(size_t)row * n_words + w] ^ all[(size_t)other * n_words + w];
    }
    const bool equal = !__any_sync(EVERY_LANE, differ != 0);
    if (lane_id() == 0) like[row] = equal ? other : row;
  }
}

// counts[i]: how many words of row chosen[i] are not zero. A warp takes a row.
extern "C" __global__ void count_words(
    const word_t* __restrict__ all, const word_t* __restrict__ all_mask,
    const word_t* __restrict__ escaped, const int* __restrict__ chosen, int n_rows, int n_words,
    int block_words, int outside, long long* __restrict__ counts,
    unsigned char* __restrict__ unknown) {
  const Answer a = {all, all_mask, escaped, n_words, block_words, outside};
  for (long long i = warp_id(); i < n_rows; i += n_warps()) {
    const int row = chosen[i];
    const bool is_unknown = a.is_unknown(row);
    int count = 0;
    for (word_t blocks = all_mask[row]; blocks; blocks &= blocks - 1) {
      const int start = first_bit(blocks) * block_words, end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w < end; w += 32) count += a.word(row, w, is_unknown) != 0;
    }
    for (int step = 16; step; step /= 2) count += __shfl_xor_sync(EVERY_LANE, count, step);
    if (lane_id() == 0) counts[i] = count, unknown[i] = is_unknown;
  }
}

// index/word[offsets[i] ..) = the words of row chosen[i] that are not zero, ascending.
extern "C" __global__ void write_words(
    const word_t* __restrict__ all, const word_t* __restrict__ all_mask,
    const word_t* __restrict__ escaped, const int* __restrict__ chosen, int n_rows, int n_words,
    int block_words, int outside, const long long* __restrict__ offsets, int* __restrict__ index,
    word_t* __restrict__ word) {
  const Answer a = {all, all_mask, escaped, n_words, block_words, outside};
  for (long long i = warp_id(); i < n_rows; i += n_warps()) {
    const int row = chosen[i];
    const bool is_unknown = a.is_unknown(row);
    long long place = offsets[i];
    for (word_t blocks = all_mask[row]; blocks; blocks &= blocks - 1) {
      const int start = first_bit(blocks) * block_words, end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w - lane_id() < end; w += 32) {
        const word_t bits = a.word(row, w, is_unknown);
        const unsigned found = __ballot_sync(EVERY_LANE, bits != 0);
        const long long at = place + __popc(found & ((1u << lane_id()) - 1));
        if (bits) index[at] = w, word[at] = bits;
        place += __popc(found);
      }
    }
  }
}

// counts[c]: how many functions call c may reach. A warp takes a call; `functions` is a bit row.
extern "C" __global__ void count_edges(
    const word_t* __restrict__ all, const word_t* __restrict__ all_mask,
    const word_t* __restrict__ functions, const int* __restrict__ callee, int n_calls, int n_words,
    int block_words, long long* __restrict__ counts) {
  for (long long call = warp_id(); call < n_calls; call += n_warps()) {
    const word_t* row = all + (size_t)callee[call] * n_words;
    int count = 0;
    for (word_t blocks = all_mask[callee[call]]; blocks; blocks &= blocks - 1) {
      const int start = first_bit(blocks) * block_words, end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w < end; w += 32) count += __popcll(row[w] & functions[w]);
    }
    for (int step = 16; step; step /= 2) count += __shfl_xor_sync(EVERY_LANE, count, step);
    if (lane_id() == 0) counts[call] = count;
  }
}

// edges[2 i], edges[2 i + 1] = call, function, by call and by object.
extern "C" __global__ void write_edges(
    const word_t* __restrict__ all, const word_t* __restrict__ all_mask,
    const word_t* __restrict__ functions, const int* __restrict__ callee, int n_calls, int n_words,
    int block_words, const long long* __restrict__ offsets, const int* __restrict__ function_of,
    int* __restrict__ edges) {
  for (long long call = warp_id(); call < n_calls; call += n_warps()) {
    const word_t* row = all + (size_t)callee[call] * n_words;
    long long place = offsets[call];
    for (word_t blocks = all_mask[callee[call]]; blocks; blocks &= blocks - 1) {
      const int start = first_bit(blocks) * block_words, end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w - lane_id() < end; w += 32) {
        word_t bits = w < n_words ? row[w] & functions[w] : 0;
        const int count = __popcll(bits);
        int before = count;  // of this lane and those below it, once summed
        for (int step = 1; step < 32; step *= 2) {
          const int below = __shfl_up_sync(EVERY_LANE, before, step);
          if (lane_id() >= step) before += below;
        }
        long long at = 2 * (place + before - count);
        for (; bits; bits &= bits - 1, at += 2) {
          edges[at] = call;
          edges[at + 1] = function_of[w * 64 + first_bit(bits)];
        }
        place += __shfl_sync(EVERY_LANE, before, 31);
      }
    }
  }
}
