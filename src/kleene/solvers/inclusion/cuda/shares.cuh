// Rules by how many warps take them.
//
// Warps share a heavy rule: each takes a part of the pointer's blocks, of their words, and in a push
// of the source's blocks. A few rules have very large pointers, and one warp would be late; of the
// many light ones a warp takes one whole. Light rules are listed from the front, heavy ones from the
// back of a list with n_most places (`RuleList` in classes.cu).
#pragma once
#include "rows.cuh"

#define POINTER_PARTS 8
#define SOURCE_PARTS 16
#define WORD_PARTS 4
#define MOST_SHARES (1u << 23)  // of all heavy rules: to take one that turns out empty costs, too

__device__ __forceinline__ int blocks_of(int n_words, int block_words) {
  return (n_words + block_words - 1) / block_words;
}

// Whether warps should share a push of so many strips, a pull through so many objects, a slot of so
// many. Measured on an H200: with 4 blocks a row as few as 32 strips pay, with 23 blocks, where a
// rule has eight times as many shares, 512 are better than 32.
__device__ __forceinline__ bool is_heavy_push(long long n_strips, int n_blocks) {
  return n_strips >= min(n_blocks, POINTER_PARTS) * min(n_blocks, SOURCE_PARTS);
}
__device__ __forceinline__ bool is_heavy_pull(long long n_objects) { return n_objects >= 64; }
__device__ __forceinline__ bool is_heavy_slot(long long n_objects, int n_blocks) {
  return n_objects >= 4 * min(n_blocks, POINTER_PARTS);
}

struct Share {  // of a rule
  unsigned rule, pointer_part, pointer_parts, word_part, word_parts, part, parts;
};

struct Shares {
  unsigned n_light, n_heavy, n_most, pointer_parts, word_parts, source_parts;

  __device__ Shares(const Rows& r, const int* counts, int n_most, int most_of_source)
      : n_light(counts[0]), n_heavy(counts[1]), n_most(n_most), word_parts(WORD_PARTS) {
    const int n_blocks = blocks_of(r.n_words, r.block_words);
    pointer_parts = min(n_blocks, POINTER_PARTS);
    source_parts = min(n_blocks, most_of_source);
    while (n_of_heavy() > MOST_SHARES && source_parts > 1) source_parts /= 2;
    while (n_of_heavy() > MOST_SHARES && word_parts > 1) word_parts /= 2;
    while (n_of_heavy() > MOST_SHARES && pointer_parts > 1) pointer_parts /= 2;
  }
  __device__ word_t n_of_heavy() const {
    return (word_t)n_heavy * pointer_parts * word_parts * source_parts;
  }
  __device__ unsigned size() const { return (unsigned)n_of_heavy() + n_light; }

  // Parts of a pointer come fastest: warps that run together write different rows. The part of the
  // source comes slowest: they write the same blocks of these, which then fit the L2 cache.
  __device__ Share operator[](unsigned i) const {
    const unsigned first_light = n_of_heavy();
    if (i >= first_light) return {i - first_light, 0, 1, 0, 1, 0, 1};
    const unsigned j = i / pointer_parts, k = j / word_parts;
    return {n_most - 1 - k % n_heavy, i % pointer_parts, pointer_parts, j % word_parts,
            word_parts,               k / n_heavy,       source_parts};
  }
};

// A warp takes its next share; each of its lanes reads it from shared memory, for want of registers.
__device__ __forceinline__ void share_out(const Shares& shares, unsigned i, Share* mine) {
  __syncwarp();
  if (lane_id() == 0) mine[threadIdx.x / 32] = shares[i];
  __syncwarp();
}
