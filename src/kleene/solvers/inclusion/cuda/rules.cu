// One round of an inclusion problem: every rule on what its sets gained last round.
//
// A rule processes through the sets themselves; no edge is ever stored. With t(o) the node that stands
// for object o in a map (its contents, its formal at some place, its result):
//   copy (from, to):            to gains delta(from)
//   push (pointer, from, map):  t(o) gains all of `from` if o is new in the pointer, else its delta
//   pull (pointer, to, map):    `to` gains all of t(o) if o is new in the pointer, else its delta
//   offset (from, to, amount):  `to` gains o + amount, or o's allocation, for each new o of `from`
// So a pair (object of a pointer, bit of a source) is looked at when the later of the two is new.
// Kernels: `activate` lists the copies and offsets with something to do (classes.cu does so for the
// others), a warp processes one rule (or a part of one), `mark_targets` says which objects have a t(o)
// with news, `turn` ends the round, `digest` sums up the rows that changed.
#include "rows.cuh"
#include "shares.cuh"
#include "targets.cuh"

#ifndef BLOCK
#define BLOCK 256  // threads, where a kernel has shared memory
#endif
// The rules of one kind that have work, as *n_active triples. grid ceil(n / block)
extern "C" __global__ void activate(
    const int* __restrict__ from, const int* __restrict__ to, const int* __restrict__ amount,
    int n, const word_t* __restrict__ delta_mask, int* __restrict__ active_from,
    int* __restrict__ active_to, int* __restrict__ active_amount, int* n_active) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool wanted = i < n && delta_mask[from[i]] != 0;
  const int place = place_in_list(wanted, n_active);
  if (!wanted) return;
  active_from[place] = from[i];
  active_to[place] = to[i];
  active_amount[place] = amount[i];
}

extern "C" __global__ void process_copy(
    const int* __restrict__ from, const int* __restrict__ to, const int* __restrict__ amount,
    const int* __restrict__ counts, int n_most, word_t* all, word_t* fresh, word_t* fresh_mask,
    const word_t* __restrict__ delta, const word_t* __restrict__ delta_mask,
    const word_t* __restrict__ all_mask, int n_words, int block_words, word_t* n_visited) {
  const Rows r = {all, fresh, fresh_mask, delta, delta_mask, all_mask, n_words, block_words};
  int n_strips = 0;
  for (long long i = warp_id(); i < counts[0]; i += n_warps())
    n_strips += flow<false>(r, from[i], to[i]);
  count_strips(n_visited, n_strips);
}

// Up to 32 words of a source that are not zero, one a lane: `bits` at word w of the row.
struct Batch {
  int w;
  word_t bits;
};

// A warp adds its batch to the rows of lanes whose `to` is one (-1: none), four rows at a time: the
// loads of four rows are under way together. How many rows.
__device__ __forceinline__ int add_batch(const Rows& r, const Batch& batch, int to) {
  unsigned lanes = __ballot_sync(EVERY_LANE, to >= 0);
  const int n_rows = __popc(lanes);
  while (lanes) {
    int row[4];
    word_t lacking[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      row[k] = __shfl_sync(EVERY_LANE, to, lanes ? __ffs(lanes) - 1 : 0);
      lacking[k] = lanes ? batch.bits : 0;
      lanes &= lanes - 1;
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (lacking[k]) lacking[k] &= ~peek(r.all + (size_t)row[k] * r.n_words + batch.w);
#pragma unroll
    for (int k = 0; k < 4; k++)
      if (lacking[k] && win_word(r, row[k], batch.w, lacking[k]))
        note_block(r, row[k], batch.w / r.block_words);
  }
  return n_rows;
}

// The strips of row s in every parts-th block, as far as they have been taken.
struct Cursor {
  int block, strip;
};

// A warp takes the next words of row s that are not zero, up to 32; whether there are any.
__device__ __forceinline__ bool next_batch(const Rows& r, int s, bool full, word_t mask, int parts,
                                           int* kept_at, word_t* kept, Cursor& c, Batch& batch) {
  int n_kept = 0;
  while (c.block * r.block_words < r.n_words) {
    const int w = c.block * r.block_words + c.strip + lane_id();
    if (!(mask >> c.block & 1) || c.strip == r.block_words || w - lane_id() >= r.n_words) {
      c.block += parts;
      c.strip = 0;
      continue;
    }
    const word_t bits = full ? full_word(r, s, w) : new_word(r, s, w);
    const unsigned found = __ballot_sync(EVERY_LANE, bits != 0);
    if (n_kept + __popc(found) > 32) break;  // the strip waits for the next batch
    const int at = n_kept + __popc(found & ((1u << lane_id()) - 1));
    if (bits) kept_at[at] = w, kept[at] = bits;
    n_kept += __popc(found);
    c.strip += 32;
  }
  __syncwarp();
  const bool here = lane_id() < n_kept;
  batch.w = here ? kept_at[lane_id()] : 0;
  batch.bits = here ? kept[lane_id()] : 0;
  __syncwarp();
  return n_kept > 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4) process_push(
    const int* __restrict__ pointer, const int* __restrict__ from, const int* __restrict__ map,
    const int* __restrict__ counts, int n_most, word_t* all, word_t* fresh, word_t* fresh_mask,
    const word_t* __restrict__ delta, const word_t* __restrict__ delta_mask,
    const word_t* __restrict__ all_mask, int n_words, int block_words, word_t* n_visited,
    const int* __restrict__ contents, const int* __restrict__ function_of,
    const int* __restrict__ result, const int* __restrict__ rest,
    const int* __restrict__ formal_offsets, const int* __restrict__ formals, int outside,
    int unknown_row, int escaped_row) {
  __shared__ int kept_at[BLOCK], buffers[BLOCK / 32][BUFFER_OBJECTS];
  __shared__ word_t kept[BLOCK];
  __shared__ Share mine[BLOCK / 32];
  const Rows r = {all, fresh, fresh_mask, delta, delta_mask, all_mask, n_words, block_words};
  const Targets t = {contents, function_of, result, rest, formal_offsets, formals,
                     outside, unknown_row, escaped_row};
  const int first = threadIdx.x - lane_id();
  const Shares shares(r, counts, n_most, SOURCE_PARTS);
  const Share& share = mine[first / 32];
  int n_strips = 0;
  for (unsigned i = warp_id(); i < shares.size(); i += n_warps()) {
    share_out(shares, i, mine);
    const int p = pointer[share.rule], s = from[share.rule];
    for (int to_new = 0; to_new < 2; to_new++) {
      const word_t mask = !to_new ? delta_mask[s] : delta_mask[p] ? all_mask[s] : 0;
      Cursor c = {(int)share.part, 0};
      Batch batch;
      while (next_batch(r, s, to_new, mask, share.parts, kept_at + first, kept + first, c, batch))
        for_objects(
            r, to_new ? delta_mask[p] : all_mask[p], share.pointer_part, share.pointer_parts,
            buffers[first / 32],
            [&](int w) {
              if (w % share.word_parts != share.word_part) return (word_t)0;
              const word_t recent = new_word(r, p, w);
              return to_new ? recent : full_word(r, p, w) & ~recent;
            },
            [&](int o) {
              const int to = o < 0 ? -1 : target(t, map[share.rule], o, true);
              n_strips += add_batch(r, batch, to == s ? -1 : to);
            });
    }
  }
  count_strips(n_visited, n_strips);
}

// Row d gains the rows of lanes whose `source` is one (-1: none), all of them or their news; how
// many strips. The strips of up to four sources are under way together, and d is touched once.
__device__ __forceinline__ int add_sources(const Rows& r, int source, bool full, int d) {
  const word_t mask = source < 0 ? 0 : full ? r.all_mask[source] : r.delta_mask[source];
  const word_t* from = full ? r.all : r.delta;
  word_t blocks = mask;
  for (int step = 16; step; step /= 2) blocks |= __shfl_xor_sync(EVERY_LANE, blocks, step);
  int n_strips = 0;
  for (; blocks; blocks &= blocks - 1) {
    const int block = first_bit(blocks), start = block * r.block_words;
    const int end = min(start + r.block_words, r.n_words);
    const unsigned having = __ballot_sync(EVERY_LANE, mask >> block & 1);
    for (int w = start + lane_id(); w - lane_id() < end; w += 32) {
      word_t sum = 0;
      for (unsigned lanes = having; lanes;) {
        word_t found[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
          const int lane = lanes ? __ffs(lanes) - 1 : 0;
          const int row = __shfl_sync(EVERY_LANE, source, lane);
          found[k] = lanes && w < end ? peek(from + (size_t)row * r.n_words + w) : 0;
          lanes &= lanes - 1;
        }
        sum |= found[0] | found[1] | found[2] | found[3];
      }
      n_strips += __popc(having);
      add_strip(r, d, w, block, sum);
    }
  }
  return n_strips;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4) process_pull(
    const int* __restrict__ pointer, const int* __restrict__ to, const int* __restrict__ map,
    const int* __restrict__ counts, int n_most, word_t* all, word_t* fresh, word_t* fresh_mask,
    const word_t* __restrict__ delta, const word_t* __restrict__ delta_mask,
    const word_t* __restrict__ all_mask, int n_words, int block_words, word_t* n_visited,
    const int* __restrict__ contents, const int* __restrict__ function_of,
    const int* __restrict__ result, const int* __restrict__ rest,
    const int* __restrict__ formal_offsets, const int* __restrict__ formals, int outside,
    int unknown_row, int escaped_row, const word_t* __restrict__ dirty) {
  __shared__ int buffers[BLOCK / 32][BUFFER_OBJECTS];
  __shared__ Share mine[BLOCK / 32];
  const Rows r = {all, fresh, fresh_mask, delta, delta_mask, all_mask, n_words, block_words};
  const Targets t = {contents, function_of, result, rest, formal_offsets, formals,
                     outside, unknown_row, escaped_row};
  int n_strips = 0;
  const Shares shares(r, counts, n_most, 1);
  const Share& share = mine[threadIdx.x / 32];
  for (unsigned i = warp_id(); i < shares.size(); i += n_warps()) {
    share_out(shares, i, mine);
    const int p = pointer[share.rule], d = to[share.rule], m = map[share.rule];
    const word_t* dirty_words = dirty + (m == RESULT ? n_words : 0);
    for (int is_new = 0; is_new < 2; is_new++)
      for_objects(
          r, is_new ? delta_mask[p] : all_mask[p] & dirty[2 * n_words + (m == RESULT)],
          share.pointer_part, share.pointer_parts, buffers[threadIdx.x / 32],
          [&](int w) {
            if (w % share.word_parts != share.word_part) return (word_t)0;
            const word_t recent = new_word(r, p, w);
            return is_new ? recent : full_word(r, p, w) & ~recent & dirty_words[w];
          },
          [&](int o) {
            const int source = o < 0 ? -1 : target(t, m, o, false);
            n_strips += add_sources(r, source == d ? -1 : source, is_new, d);
          });
  }
  count_strips(n_visited, n_strips);
}

// Columns by object, then the tables of their images: see images.py.
struct Images {
  const int *first, *end, *layout;
  int n_layouts;
  const int *rows, *offsets, *images;
};

constexpr int BY_LAYOUT = -2;  // amount BY_LAYOUT - k is offset kind k

// Row d gains object o.
__device__ void add_object(const Rows& r, int d, int o) {
  if (add_word(r, d, o / 64, 1ull << o % 64)) note_block(r, d, o / 64 / r.block_words);
}

// Row d gains what lies `amount` behind object o.
__device__ void add_images(const Rows& r, const Images& m, int d, int o, int amount) {
  const int start = m.first[o], end = m.end[o];
  if (amount <= BY_LAYOUT && m.layout[o] >= 0) {
    const int row = m.rows[(BY_LAYOUT - amount) * m.n_layouts + m.layout[o]];
    if (row >= 0) {
      const int at = row + o - start;
      for (int i = m.offsets[at]; i < m.offsets[at + 1]; i++)
        add_object(r, d, start + m.images[i]);
      return;
    }
  }
  const bool inside = amount >= 0 && amount < end - o;
  int low = inside ? o + amount : start;
  const int high = inside ? low + 1 : end;
  while (low < high) {  // the objects low .. high - 1, a word at a time
    const int word = low / 64, stop = min(high, word * 64 + 64);
    const word_t ones = ~0ull >> (64 - (stop - low));
    if (add_word(r, d, word, ones << low % 64)) note_block(r, d, word / r.block_words);
    low = stop;
  }
}

// A lane takes a word of `from`.
extern "C" __global__ void process_offset(
    const int* __restrict__ from, const int* __restrict__ to, const int* __restrict__ amount,
    const int* __restrict__ counts, int n_most, word_t* all, word_t* fresh, word_t* fresh_mask,
    const word_t* __restrict__ delta, const word_t* __restrict__ delta_mask,
    const word_t* __restrict__ all_mask, int n_words, int block_words, word_t* n_visited,
    const int* __restrict__ first, const int* __restrict__ past, const int* __restrict__ layout,
    int n_layouts, const int* __restrict__ image_rows, const int* __restrict__ image_offsets,
    const int* __restrict__ images) {
  const Rows r = {all, fresh, fresh_mask, delta, delta_mask, all_mask, n_words, block_words};
  const Images m = {first, past, layout, n_layouts, image_rows, image_offsets, images};
  for (long long i = warp_id(); i < counts[0]; i += n_warps()) {
    const int s = from[i], d = to[i], k = amount[i];
    for (word_t blocks = delta_mask[s]; blocks; blocks &= blocks - 1) {
      const int start = first_bit(blocks) * block_words, end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w < end; w += 32)
        for (word_t bits = new_word(r, s, w); bits; bits &= bits - 1)
          add_images(r, m, d, w * 64 + first_bit(bits), k);
    }
  }
}

// Bit o of dirty: the contents of o gained something; of dirty + n_words: the result of function o.
// Behind both come the masks of their blocks, dirty_mask.
// A warp takes a word; grid ceil(n_words * 32 / block)
extern "C" __global__ void mark_targets(
    const word_t* __restrict__ delta_mask, word_t* __restrict__ dirty, word_t* dirty_mask,
    int n_objects, int n_words, int block_words, const int* __restrict__ contents,
    const int* __restrict__ function_of, const int* __restrict__ result, int outside,
    int unknown_row) {
  const long long w = warp_id();
  if (w >= n_words) return;  // whole warps
  word_t found[2] = {0, 0};
  for (int half = 0; half < 2; half++) {
    const long long o = w * 64 + half * 32 + lane_id();
    int at[2] = {-1, -1};
    if (o < n_objects) {
      const int f = function_of[o];
      at[0] = o == outside ? unknown_row : contents[o];
      at[1] = o == outside ? unknown_row : f < 0 ? -1 : result[f];
    }
    for (int map = 0; map < 2; map++) {
      const bool marked = at[map] >= 0 && delta_mask[at[map]] != 0;
      found[map] |= (word_t)__ballot_sync(EVERY_LANE, marked) << half * 32;
    }
  }
  if (lane_id() != 0) return;
  for (int map = 0; map < 2; map++) {
    dirty[(size_t)map * n_words + w] = found[map];
    if (found[map]) atomicOr(dirty_mask + map, 1ull << w / block_words);
  }
}

// End a round: forget the old delta (its rows serve as `fresh` next), list the rows with news.
// A warp takes 32 rows; grid ceil(n_rows / block)
extern "C" __global__ void turn(
    word_t* __restrict__ delta, word_t* __restrict__ delta_mask, word_t* __restrict__ all_mask,
    const word_t* __restrict__ fresh_mask, int n_rows, int n_words, int block_words,
    word_t* __restrict__ dirty_mask, int* __restrict__ counts, int n_counts,
    int* __restrict__ changed, int* n_changed) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  word_t old = 0, fresh = 0;
  if (row < n_rows) {
    old = delta_mask[row];
    fresh = fresh_mask[row];
    if (old) delta_mask[row] = 0;
    if (fresh) all_mask[row] |= fresh;
  }
  for (unsigned lanes = __ballot_sync(EVERY_LANE, old != 0); lanes; lanes &= lanes - 1) {
    const int lane = __ffs(lanes) - 1;
    word_t* words = delta + (size_t)(row - lane_id() + lane) * n_words;
    for (word_t blocks = __shfl_sync(EVERY_LANE, old, lane); blocks; blocks &= blocks - 1) {
      const int start = first_bit(blocks) * block_words, end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w < end; w += 32) words[w] = 0;
    }
  }
  const int place = place_in_list(fresh != 0, n_changed);
  if (fresh) changed[place] = row;
  if (row < n_counts) counts[row] = 0;
  if (row < 2) dirty_mask[row] = 0;
}

// Bring sums (of a hash of each word) and sizes (in objects) up to date: a warp takes a row that
// changed. Between `turn` and the first rule, so nobody writes.
extern "C" __global__ void digest(
    const int* __restrict__ changed, const int* __restrict__ n_changed,
    const word_t* __restrict__ all, const word_t* __restrict__ delta,
    const word_t* __restrict__ delta_mask, int n_words, int block_words,
    word_t* __restrict__ sums, int* __restrict__ sizes) {
  for (long long i = warp_id(); i < *n_changed; i += n_warps()) {
    const int row = changed[i];
    word_t sum = 0;
    int size = 0;
    for (word_t blocks = delta_mask[row]; blocks; blocks &= blocks - 1) {
      const int start = first_bit(blocks) * block_words, end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w < end; w += 32) {
        const word_t now = all[(size_t)row * n_words + w], news = delta[(size_t)row * n_words + w];
        if (news) sum += word_hash(w, now) - word_hash(w, now & ~news);
        size += __popcll(news);
      }
    }
    for (int step = 16; step; step /= 2) {
      sum += __shfl_xor_sync(EVERY_LANE, sum, step);
      size += __shfl_xor_sync(EVERY_LANE, size, step);
    }
    if (lane_id() == 0) sums[row] += sum, sizes[row] += size;
  }
}

// The facts to start from: object objects[i] is in row rows[i]. grid ceil(n / block)
extern "C" __global__ void seed(const int* __restrict__ rows, const int* __restrict__ objects,
                                int n, word_t* all, word_t* fresh, word_t* fresh_mask,
                                int n_words, int block_words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Rows r = {all, fresh, fresh_mask, nullptr, nullptr, nullptr, n_words, block_words};
  const int w = objects[i] / 64;
  if (add_word(r, rows[i], w, 1ull << objects[i] % 64)) note_block(r, rows[i], w / block_words);
}
