// What the other side of a hybrid round found: words to be added to rows, as fresh ones.
#include "rows.cuh"

// Add index/word[offsets[r] .. offsets[r + 1]) to row r, for every row. A warp takes a row.
// The words that a row is given are distinct, but a word of `all` may also get bits that this side
// found itself: those are already there, and only what is new to both becomes fresh.
extern "C" __global__ void merge_words(const long long* __restrict__ offsets,
                                       const int* __restrict__ index,
                                       const word_t* __restrict__ word, int n_rows, word_t* all,
                                       word_t* fresh, word_t* fresh_mask, int n_words,
                                       int block_words) {
  const Rows r = {all, fresh, fresh_mask, nullptr, nullptr, nullptr, n_words, block_words};
  for (long long row = warp_id(); row < n_rows; row += n_warps())
    for (long long i = offsets[row] + lane_id(); i < offsets[row + 1]; i += 32)
      if (add_word(r, row, index[i], word[i])) note_block(r, row, index[i] / block_words);
}
