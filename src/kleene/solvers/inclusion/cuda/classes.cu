// Pushes and pulls through equal pointers, as one. n rules whose pointers hold the same set F ask
// for n * |F| flows of rows; by way of a row between, n + |F| do.
//
// Rules with one pointer and one map are a *pair*; pairs with equal pointers and one map a *class*,
// for this round alone: what is equal now may differ later. Pairs meet in a hash table, under a sum
// of their pointer's words, and are compared with the first to come: one that differs processes by
// itself. A class that pays gets two rows behind those of the problem: `held`, whose `all` is F as
// of the start of the round and whose `delta` is what any of the pointers gained, and `class_node`. Before
// a push, `class_node` gathers the sources: all of those with a pointer that gained, and the news of
// each. After a pull, `class_node` is spread to the destinations. Between, (held, class_node, map) is a rule
// like any other. F is copied, since pointers may grow apart while rules are processed.
//
// Why that is exact: each member holds all of F, so what passes through the class_node flows along flows
// its rules ask for. And a rule (p, s): an object new in p is in `delta` of `held`, and meets all of
// s; an old one meets the news of s, whether another member gained it (`all` of the class_node has them
// too) or not. Pulls likewise.
#include "rows.cuh"
#include "shares.cuh"
#include "targets.cuh"

#ifndef DETOUR
#define DETOUR 2  // flows without a slot that one through it costs
#endif
enum Kind { COPY, PUSH, PULL, OFFSET };

// Rules to process: light ones from the front, heavy ones, which many warps share, from the back.
struct RuleList {
  int *pointer, *other, *map, *counts;
  int n_most;

  __device__ void put(int place, bool is_heavy, int p, int o, int m) const {
    const int at = is_heavy ? n_most - 1 - place : place;
    pointer[at] = p;
    other[at] = o;
    map[at] = m;
  }
};

struct Wanted {
  const int *pointer, *other, *map;
  const word_t *delta_mask, *all_mask, *dirty_mask;
  int n, kind;

  __device__ bool operator()(int i) const {
    if (i >= n) return false;
    if (delta_mask[pointer[i]]) return true;
    if (kind == PUSH) return delta_mask[other[i]] != 0;
    return (all_mask[pointer[i]] & dirty_mask[map[i] == RESULT]) != 0;
  }
};

// n_wanted[pair] = how many of its rules have something to do. grid ceil(n / block)
extern "C" __global__ void want(
    const int* __restrict__ pointer, const int* __restrict__ other, const int* __restrict__ map,
    int n, int kind, const word_t* __restrict__ delta_mask, const word_t* __restrict__ all_mask,
    const word_t* __restrict__ dirty_mask, const int* __restrict__ pair_of, int* n_wanted) {
  const Wanted wanted = {pointer, other, map, delta_mask, all_mask, dirty_mask, n, kind};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (wanted(i)) atomicAdd(n_wanted + pair_of[i], 1);
}

// Pairs with something to do, into the table and into a list. A class is a place of the table; its
// `first` is a pair + 1. grid ceil(n_pairs / block)
extern "C" __global__ void enter(
    const int* __restrict__ pointer, const int* __restrict__ map,
    const int* __restrict__ pair_start, int n_pairs, const int* __restrict__ n_wanted,
    const word_t* __restrict__ sums, int n_places, word_t* keys, int* class_rules,
    int* class_first, int* __restrict__ class_of, int* __restrict__ active, int* n_active) {
  const int pair = blockIdx.x * blockDim.x + threadIdx.x;
  const int n_rules = pair < n_pairs ? n_wanted[pair] : 0;
  if (n_rules) {
    const int rule = pair_start[pair];
    const word_t key = mix(sums[pointer[rule]] + (word_t)(map[rule] + 3)) | 1;  // 0 is a free place
    int place = key >> 32 & (n_places - 1);
    for (;; place = (place + 1) & (n_places - 1)) {
      const word_t old = atomicCAS(keys + place, 0ull, key);
      if (!old || old == key) break;
    }
    atomicAdd(class_rules + place, n_rules);
    atomicCAS(class_first + place, 0, pair + 1);
    class_of[pair] = place;
  }
  const int at = place_in_list(n_rules > 0, n_active);
  if (n_rules) active[at] = pair;
}

struct Start {  // rows as they were when the round started; no rule processes meanwhile
  const word_t *all, *fresh, *fresh_mask;
  int n_words, block_words;

  __device__ word_t word(int row, int block, int w) const {
    const size_t at = (size_t)row * n_words + w;
    return fresh_mask[row] >> block & 1 ? all[at] & ~fresh[at] : all[at];
  }
  __device__ bool equal(int p, int q, word_t blocks) const {
    for (; blocks; blocks &= blocks - 1) {
      const int block = first_bit(blocks), start = block * block_words;
      const int end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w - lane_id() < end; w += 32) {
        const bool differ = w < end && word(p, block, w) != word(q, block, w);
        if (__any_sync(EVERY_LANE, differ)) return false;
      }
    }
    return true;
  }
};

// A warp takes a pair: it stays in its class only if it is equal to the first, and the first gives
// the class a slot, two rows, if that pays: flows through the class_node against flows without.
extern "C" __global__ void compare(
    const int* __restrict__ pointer, const int* __restrict__ map,
    const int* __restrict__ pair_start, const int* __restrict__ active,
    const int* __restrict__ n_active, word_t* all, const word_t* __restrict__ fresh,
    const word_t* __restrict__ fresh_mask, word_t* all_mask, int n_words, int block_words,
    const int* __restrict__ sizes, const int* __restrict__ class_rules,
    const int* __restrict__ class_first, int* __restrict__ class_of, int* __restrict__ class_slot,
    int first_slot_row, int n_slots, int* n_taken, int* __restrict__ rule_pointer,
    int* __restrict__ rule_other, int* __restrict__ rule_map, int* counts, int n_most) {
  const RuleList list = {rule_pointer, rule_other, rule_map, counts, n_most};
  const Start start = {all, fresh, fresh_mask, n_words, block_words};
  for (long long i = warp_id(); i < *n_active; i += n_warps()) {
    const int pair = active[i], rule = pair_start[pair], p = pointer[rule];
    const int place = class_of[pair], first = class_first[place] - 1;
    __syncwarp();  // every lane has read class_of
    if (pair != first) {
      const int q = pointer[pair_start[first]];
      const bool alike = map[rule] == map[pair_start[first]] && all_mask[p] == all_mask[q];
      if ((!alike || (p != q && !start.equal(p, q, all_mask[p]))) && lane_id() == 0)
        class_of[pair] = -1;
      continue;
    }
    const long long n = class_rules[place], size = sizes[p];
    if (n * size <= DETOUR * (n + size)) continue;
    int slot = lane_id() == 0 ? atomicAdd(n_taken, 1) : 0;
    slot = __shfl_sync(EVERY_LANE, slot, 0);
    if (slot >= n_slots) continue;
    const int held = first_slot_row + 2 * slot;
    for (word_t blocks = all_mask[p]; blocks; blocks &= blocks - 1) {
      const int block = first_bit(blocks), begin = block * block_words;
      const int end = min(begin + block_words, n_words);
      for (int w = begin + lane_id(); w < end; w += 32)
        all[(size_t)held * n_words + w] = start.word(p, block, w);
    }
    if (lane_id() != 0) continue;
    all_mask[held] = all_mask[p];
    class_slot[place] = slot + 1;
    const bool is_heavy = is_heavy_slot(size, blocks_of(n_words, block_words));
    list.put(atomicAdd(counts + is_heavy, 1), is_heavy, held, held + 1, map[rule]);
  }
}

// Rules with something to do, either into the list of those that are processed by themselves, or into that
// of those that go through the slot of their class. grid ceil(n / block)
extern "C" __global__ void assign(
    const int* __restrict__ pointer, const int* __restrict__ other, const int* __restrict__ map,
    int n, int kind, const word_t* __restrict__ delta_mask, const word_t* __restrict__ all_mask,
    const word_t* __restrict__ dirty_mask, const int* __restrict__ pair_of,
    const int* __restrict__ class_of, const int* __restrict__ class_slot,
    const int* __restrict__ sizes, int n_words, int block_words, int* __restrict__ rule_pointer,
    int* __restrict__ rule_other, int* __restrict__ rule_map, int* counts, int n_most,
    int* __restrict__ joined, int* __restrict__ joined_slot, int* n_joined) {
  const Wanted wanted = {pointer, other, map, delta_mask, all_mask, dirty_mask, n, kind};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool is_wanted = wanted(i);
  const int place = is_wanted ? class_of[pair_of[i]] : -1;
  const int slot = place < 0 ? -1 : class_slot[place] - 1;
  bool is_heavy = false;
  if (is_wanted && slot < 0) {
    const word_t blocks = delta_mask[pointer[i]] ? all_mask[other[i]] : delta_mask[other[i]];
    const long long size = sizes[pointer[i]], n_strips = size * __popcll(blocks) * block_words / 32;
    is_heavy = kind == PUSH ? is_heavy_push(n_strips, blocks_of(n_words, block_words))
                            : is_heavy_pull(size);
  }
  const int light = place_in_list(is_wanted && slot < 0 && !is_heavy, counts);
  const int heavy = place_in_list(is_heavy, counts + 1), at = place_in_list(slot >= 0, n_joined);
  const RuleList list = {rule_pointer, rule_other, rule_map, counts, n_most};
  if (slot >= 0) {
    joined[at] = i;
    joined_slot[at] = slot;
  } else if (is_wanted) {
    list.put(is_heavy ? heavy : light, is_heavy, pointer[i], other[i], map[i]);
  }
}

// A warp adds the blocks of `mask` to row `to` of rows that no rule reads now.
__device__ __forceinline__ int add_blocks(const Rows& r, const word_t* from, word_t mask,
                                          word_t* rows, word_t* masks, int to) {
  int n_strips = 0;
  for (word_t blocks = mask; blocks; blocks &= blocks - 1) {
    const int start = first_bit(blocks) * r.block_words, end = min(start + r.block_words, r.n_words);
    for (int w = start + lane_id(); w < end; w += 32) {
      const word_t bits = peek(from + w);
      word_t* at = rows + (size_t)to * r.n_words + w;
      if (bits & ~peek(at)) atomicOr(at, bits);
    }
    n_strips += (end - start + 31) / 32;
  }
  if (lane_id() == 0 && mask & ~peek(masks + to)) atomicOr(masks + to, mask);
  return n_strips;
}

// What the rules bring to the slots of their classes. A warp takes a rule.
extern "C" __global__ void gather(
    const int* __restrict__ pointer, const int* __restrict__ other, int kind,
    const int* __restrict__ joined, const int* __restrict__ joined_slot,
    const int* __restrict__ n_joined, const int* __restrict__ pair_of,
    const int* __restrict__ pair_start, int first_slot_row, word_t* all, word_t* delta,
    word_t* all_mask, word_t* delta_mask, int n_words, int block_words, word_t* n_visited) {
  const Rows r = {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, n_words, block_words};
  int n_strips = 0;
  for (long long i = warp_id(); i < *n_joined; i += n_warps()) {
    const int rule = joined[i], p = pointer[rule], s = other[rule];
    const int held = first_slot_row + 2 * joined_slot[i], class_node = held + 1;
    const word_t *p_news = delta + (size_t)p * n_words, *s_news = delta + (size_t)s * n_words;
    if (delta_mask[p] && rule == pair_start[pair_of[rule]])  // one rule for all of the pair
      n_strips += add_blocks(r, p_news, delta_mask[p], delta, delta_mask, held);
    if (kind != PUSH) continue;
    n_strips += add_blocks(r, s_news, delta_mask[s], delta, delta_mask, class_node);
    const bool is_full = delta_mask[p] != 0;
    const word_t* brought = is_full ? all + (size_t)s * n_words : s_news;
    n_strips += add_blocks(r, brought, is_full ? all_mask[s] : delta_mask[s], all, all_mask, class_node);
  }
  count_strips(n_visited, n_strips);
}

// What pulls brought to the class nodes, to the destinations. A warp takes a rule.
extern "C" __global__ void spread(
    const int* __restrict__ other, const int* __restrict__ joined,
    const int* __restrict__ joined_slot, const int* __restrict__ n_joined, int first_slot_row,
    word_t* all, word_t* fresh, word_t* fresh_mask, int n_words, int block_words,
    word_t* n_visited) {
  const Rows r = {all, fresh, fresh_mask, nullptr, nullptr, nullptr, n_words, block_words};
  int n_strips = 0;
  for (long long i = warp_id(); i < *n_joined; i += n_warps()) {
    const int to = other[joined[i]], class_node = first_slot_row + 2 * joined_slot[i] + 1;
    for (word_t blocks = fresh_mask[class_node]; blocks; blocks &= blocks - 1) {
      const int block = first_bit(blocks), start = block * block_words;
      const int end = min(start + block_words, n_words);
      for (int w = start + lane_id(); w - lane_id() < end; w += 32)
        add_strip(r, to, w, block, full_word(r, class_node, w)), n_strips++;
    }
  }
  count_strips(n_visited, n_strips);
}

__device__ __forceinline__ void wipe(word_t* rows, int row, word_t blocks, int n_words,
                                     int block_words) {
  for (; blocks; blocks &= blocks - 1) {
    const int start = first_bit(blocks) * block_words, end = min(start + block_words, n_words);
    for (int w = start + lane_id(); w < end; w += 32) rows[(size_t)row * n_words + w] = 0;
  }
}

// Empty the table and the slots. A warp takes 32 pairs, and a row.
extern "C" __global__ void forget(
    const int* __restrict__ active, const int* __restrict__ n_active, int* __restrict__ n_wanted,
    const int* __restrict__ n_taken, int n_slots, int first_slot_row, int n_places,
    word_t* __restrict__ keys, int* __restrict__ class_rules, int* __restrict__ class_first,
    int* __restrict__ class_slot, word_t* __restrict__ all, word_t* __restrict__ delta,
    word_t* __restrict__ fresh, word_t* __restrict__ all_mask, word_t* __restrict__ delta_mask,
    word_t* __restrict__ fresh_mask, int n_words, int block_words) {
  const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long n_threads = (long long)gridDim.x * blockDim.x;
  for (long long i = thread; i < *n_active; i += n_threads) n_wanted[active[i]] = 0;
  for (long long i = thread; i < n_places; i += n_threads)
    if (keys[i]) keys[i] = 0, class_rules[i] = class_first[i] = class_slot[i] = 0;
  for (long long i = warp_id(); i < 2 * min(*n_taken, n_slots); i += n_warps()) {
    const int row = first_slot_row + i;
    wipe(all, row, all_mask[row] | fresh_mask[row], n_words, block_words);
    wipe(delta, row, delta_mask[row], n_words, block_words);
    wipe(fresh, row, fresh_mask[row], n_words, block_words);
    __syncwarp();
    if (lane_id() == 0) all_mask[row] = delta_mask[row] = fresh_mask[row] = 0;
  }
}
