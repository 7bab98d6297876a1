// The watching half of the host runner: who touched which word, and what CUDA forbids.
//
// Order of two accesses to a word: two blocks of a launch are never ordered; threads of one block
// are ordered by __syncthreads (`interval`), lanes of one warp also by __syncwarp (a vector clock
// per lane). Two unordered accesses by different threads, at least one a write, not both marked
// (atomic or volatile), are a race. Each word remembers a few accesses only, so a race may escape;
// one that is reported is real.
#pragma once
#include <link.h>
#include <cstdint>
#include <cstdlib>

namespace {
enum Kind : uint32_t { READ, WRITE, MARKED_READ, MARKED_WRITE, N_KINDS };
enum Fault : int32_t { NONE, RACE, BOUNDS, BARRIER, UNINITIALISED, TRAP, NO_MEMORY };
enum Place : int32_t { SHARED = -1, DYNAMIC_SHARED = -2, NOWHERE = -3 };  // else: an argument

struct Access { uint32_t block, interval, clock, thread, caller; };  // block counts from 1; 0: none
// Of each kind: the last access, the last by another thread, the last by another block.
struct Word { Access seen[N_KINDS][3]; };
struct Region { uint64_t start, bytes, word_bytes; };
struct Memory { Region region; int32_t place; Word* words; };
struct Side { uint32_t block, thread, kind, line; uint64_t caller; };
struct Report { int32_t fault, place; int64_t offset; uint32_t bytes; Side sides[2]; };

// What the running half knows, and host.cpp keeps.
uint32_t self, block, interval;   // the running thread, its block, barriers passed so far
const uint32_t* known_clocks();   // what the running lane knows of its warp's clocks
bool is_on_stack(uintptr_t address);
[[noreturn]] void stop();         // never run this thread again

Memory* memories;
uint32_t n_memories, last_hit;
uintptr_t library_start, library_end;
Report* report;
Report unset;  // a shared word read before it was written; a race if its writer comes after all

// Only the first fault is kept: what follows it may be its consequence.
void fail(Fault fault, int32_t place, int64_t offset, uint32_t bytes, Side a, Side b) {
  if (report->fault != NONE) return;
  *report = {fault, place, offset, bytes, {a, b}};
  if (fault != RACE && unset.fault != NONE) *report = unset;
}

bool found_unset() {
  if (unset.fault != NONE && report->fault == NONE) *report = unset;
  return unset.fault != NONE;
}

Memory* find(uintptr_t address) {
  for (uint32_t i = 0; i < n_memories; i++) {
    Memory& m = memories[(last_hit + i) % n_memories];
    if (address - m.region.start < m.region.bytes) {
      last_hit = uint32_t(&m - memories);
      return &m;
    }
  }
  return nullptr;
}

bool is_private(uintptr_t address) {
  return is_on_stack(address) || (address >= library_start && address < library_end);
}

bool conflict(Kind a, Kind b) {
  const bool writes = (a | b) & 1, both_marked = a >= MARKED_READ && b >= MARKED_READ;
  return writes && !both_marked;
}

bool ordered(const Access& before) {
  if (before.block != block + 1) return false;
  if (before.interval != interval || before.thread == self) return true;
  if (before.thread / 32 != self / 32) return false;
  return known_clocks()[before.thread % 32] > before.clock;
}

void remember(Access* seen, const Access& now) {
  if (seen[0].block && seen[0].block != now.block)
    seen[2] = seen[0];
  else if (seen[0].block && seen[0].thread != now.thread)
    seen[1] = seen[0];
  seen[0] = now;
}

bool was_written(const Word& word) {  // in this block; a shared word is born with its block
  return word.seen[WRITE][0].block == block + 1 || word.seen[MARKED_WRITE][0].block == block + 1;
}

void check(Word& word, const Memory& m, uintptr_t address, uint32_t bytes, Kind kind, bool reads,
           uint64_t caller) {
  const Side here = {block, self, kind, 0, caller};
  const int64_t offset = int64_t(address - m.region.start);
  const bool shared = m.place < 0;
  if (shared && reads && unset.fault == NONE && !was_written(word))
    unset = {UNINITIALISED, m.place, offset, bytes, {here, here}};
  for (uint32_t other = 0; other < N_KINDS; other++) {
    if (!conflict(kind, Kind(other))) continue;
    for (const Access& before : word.seen[other]) {
      if (!before.block || (shared && before.block != block + 1) || ordered(before)) continue;
      fail(RACE, m.place, offset, bytes,
           {before.block - 1, before.thread, other, 0, library_start + before.caller}, here);
      stop();
    }
  }
  const uint32_t clock = known_clocks()[self % 32];
  remember(word.seen[kind], {block + 1, interval, clock, self, uint32_t(caller - library_start)});
}

void outside(uintptr_t address, uint32_t bytes, Kind kind, uint64_t caller) {
  int32_t nearest = NOWHERE;
  int64_t offset = 0, least = INT64_MAX;
  for (uint32_t i = 0; i < n_memories; i++) {
    const int64_t from = int64_t(address - memories[i].region.start);
    const int64_t past = from - int64_t(memories[i].region.bytes);
    const int64_t distance = from < 0 ? -from : past;
    if (distance < least) least = distance, nearest = memories[i].place, offset = from;
  }
  const Side here = {block, self, kind, 0, caller};
  fail(BOUNDS, nearest, offset, bytes, here, here);
  stop();
}

void access(const void* pointer, uint64_t bytes, Kind kind, bool reads, void* caller) {
  const uintptr_t address = uintptr_t(pointer), end = address + bytes;
  Memory* m = find(address);
  if (!m && is_private(address)) return;
  if (!m || end > m->region.start + m->region.bytes)
    outside(address, uint32_t(bytes), kind, uint64_t(caller));
  const uint64_t step = m->region.word_bytes;
  const uint64_t first = (address - m->region.start) / step;
  const uint64_t last = (end - 1 - m->region.start) / step;
  for (uint64_t i = first; i <= last; i++)
    check(m->words[i], *m, address, uint32_t(bytes), kind, reads, uint64_t(caller));
}

int find_library(dl_phdr_info* info, size_t, void* tls) {
  uintptr_t low = UINTPTR_MAX, high = 0;
  uint64_t tls_bytes = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_TLS) tls_bytes = header.p_memsz;
    if (header.p_type != PT_LOAD) continue;
    if (start < low) low = start;
    if (start + header.p_memsz > high) high = start + header.p_memsz;
  }
  const uintptr_t own = uintptr_t(&find_library);
  if (own < low || own >= high) return 0;
  library_start = low & ~uintptr_t(4095), library_end = high;
  *static_cast<Region*>(tls) = {uintptr_t(info->dlpi_tls_data), tls_bytes, 1};
  return 1;
}

bool watch(Region region, int32_t place) {
  if (!region.bytes) return true;
  const uint64_t n_words = (region.bytes + region.word_bytes - 1) / region.word_bytes;
  Word* words = static_cast<Word*>(calloc(n_words, sizeof(Word)));
  if (words) memories[n_memories++] = {region, place, words};
  return words != nullptr;
}

bool watch_all(const Region* regions, uint32_t n_regions, Region dynamic, uint32_t shared_bytes) {
  Region tls = {0, 0, 1};
  dl_iterate_phdr(find_library, &tls);
  memories = static_cast<Memory*>(calloc(n_regions + 4, sizeof(Memory)));
  n_memories = last_hit = 0;
  bool good = memories != nullptr;
  for (uint32_t i = 0; good && i < n_regions; i++) good = watch(regions[i], int32_t(i));
  // Dynamic shared memory lies in the same segment: cut it out, as long as the launch asked for.
  const uint64_t before = dynamic.bytes ? dynamic.start - tls.start : tls.bytes;
  const uint64_t after = dynamic.start + dynamic.bytes - tls.start;
  good = good && watch({tls.start, before, 1}, SHARED);
  if (dynamic.bytes) {
    good = good && watch({dynamic.start, shared_bytes, 1}, DYNAMIC_SHARED);
    good = good && watch({tls.start + after, tls.bytes - after, 1}, SHARED);
  }
  return good;
}
}  // namespace
