// The host runner: executes a CUDA grid thread by thread, and watches every access.
//
// Blocks run one after the other. The threads of a block are fibers on one system thread, switched
// by a few instructions of assembly (swapcontext would make a system call each time). A fiber runs
// until it waits at a barrier or a warp intrinsic, or leaves the kernel.
//
// Order of two accesses to a word: two blocks of a launch are never ordered; threads of one block
// are ordered by __syncthreads (`interval`), lanes of one warp also by __syncwarp (`known`, a
// vector clock per lane). Two unordered accesses by different threads, at least one a write, not
// both marked (atomic or volatile), are a race. Each word remembers a few accesses only, so a race
// may escape; one that is reported is real.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#ifndef __x86_64__
#error "the host runner's context switch is written for x86-64"
#endif

namespace {
constexpr uint32_t kMaxThreads = 1024;
constexpr size_t kStackBytes = 256 << 10;  // a page below each is a guard; pages are lazily real

enum Kind : uint32_t { READ, WRITE, MARKED_READ, MARKED_WRITE, N_KINDS };
enum Fault : int32_t { NONE, RACE, BOUNDS, BARRIER, UNINITIALISED, TRAP, NO_MEMORY };
enum State : uint8_t { READY, AT_BARRIER, AT_WARP, DONE };
enum Place : int32_t { SHARED = -1, DYNAMIC_SHARED = -2, NOWHERE = -3 };  // else: an argument

struct Access { uint32_t block, interval, clock, thread, caller; };  // block counts from 1; 0: none
// Of each kind: the last access, the last by another thread, the last by another block.
struct Word { Access seen[N_KINDS][3]; };
struct Region { uint64_t start, bytes, word_bytes; };
struct Memory { Region region; int32_t place; Word* words; };
struct Side { uint32_t block, thread, kind, line; uint64_t caller; };
struct Report { int32_t fault, place; int64_t offset; uint32_t bytes; Side sides[2]; };

struct Thread {
  void* stack_pointer;
  State state;
  uint32_t x, y, z;
  int line, op, value;      // where and how it waits
  uint32_t mask, arrived;   // warp intrinsics: who was named, who came
  uint64_t sent, got[32];
  uint32_t known[32];       // what this lane knows of its warp's clocks; its own is its clock
};

Thread threads[kMaxThreads];
uint32_t order[kMaxThreads];
uint32_t n_threads, n_done, n_at_barrier, self, block, interval, barrier_result;
uint64_t random_state;  // 0: threads in order, no switch at atomics
char* stacks;
void* scheduler_stack_pointer;
void (*entry)(void**);
void** arguments;
Memory* memories;
uint32_t n_memories, last_hit;
uintptr_t library_start, library_end;
Report* report;
Report unset;  // a shared word read before it was written; a race if its writer comes after all
}  // namespace

// Variables here, const to the kernel: a fiber never sees them change.
struct Grid { uint32_t x, y, z; };
Grid threadIdx, blockIdx, blockDim, gridDim;

extern "C" void kleene_switch(void** save, void* to);
asm(R"(
.text
.globl kleene_switch
.hidden kleene_switch
.type kleene_switch, @function
kleene_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size kleene_switch, .-kleene_switch
)");

namespace {
void leave() { kleene_switch(&threads[self].stack_pointer, scheduler_stack_pointer); }

void fiber_main() {
  entry(arguments);
  threads[self].state = DONE;
  n_done++;
  leave();
  abort();  // a finished fiber is never resumed
}

void resume(uint32_t id) {
  self = id;
  threadIdx = {threads[id].x, threads[id].y, threads[id].z};
  kleene_switch(&scheduler_stack_pointer, threads[id].stack_pointer);
}

uint32_t random_below(uint32_t n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return uint32_t((random_state >> 32) * n >> 32);
}

void shuffle(uint32_t* items, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) items[i] = i;
  if (random_state)
    for (uint32_t i = n; i > 1; i--) {
      const uint32_t j = random_below(i), item = items[i - 1];
      items[i - 1] = items[j];
      items[j] = item;
    }
}

Side waiting_side(uint32_t id) {
  return {block, id, threads[id].state, uint32_t(threads[id].line), 0};
}

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

// A fiber in the wrong never runs on; its stack is simply dropped (kernels own no resources).
[[noreturn]] void stop() {
  leave();
  abort();
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
  const uintptr_t base = uintptr_t(stacks);
  return address - base < kMaxThreads * kStackBytes ||
         (address >= library_start && address < library_end);
}

bool conflict(Kind a, Kind b) {
  const bool writes = (a | b) & 1, both_marked = a >= MARKED_READ && b >= MARKED_READ;
  return writes && !both_marked;
}

bool ordered(const Access& before) {
  if (before.block != block + 1) return false;
  if (before.interval != interval || before.thread == self) return true;
  if (before.thread / 32 != self / 32) return false;
  return threads[self].known[before.thread % 32] > before.clock;
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
  const uint32_t clock = threads[self].known[self % 32];
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

void report_deadlock() {
  uint32_t waiting = 0, culprit = 0;
  while (threads[waiting].state == DONE) waiting++;
  const Thread& w = threads[waiting];
  for (culprit = 0; culprit < n_threads; culprit++) {
    const Thread& c = threads[culprit];
    const bool matters = w.state == AT_BARRIER || (culprit / 32 == waiting / 32 &&
                                                   w.mask >> culprit % 32 & 1);
    const bool same = c.state == w.state && c.op == w.op &&
                      (w.state == AT_BARRIER ? c.line == w.line : c.mask == w.mask);
    if (matters && !same && !(w.state == AT_WARP && c.state == DONE)) break;
  }
  if (culprit == n_threads) culprit = waiting;
  fail(BARRIER, NOWHERE, 0, 0, waiting_side(waiting), waiting_side(culprit));
}

void release_barrier() {
  if (found_unset()) return;
  uint32_t n_true = 0;
  for (uint32_t i = 0; i < n_threads; i++) {
    if (threads[i].line != threads[0].line || threads[i].op != threads[0].op)
      return fail(BARRIER, NOWHERE, 0, 0, waiting_side(0), waiting_side(i));
    n_true += threads[i].value != 0;
  }
  enum { SYNC, OR, AND, COUNT };
  const int op = threads[0].op;
  barrier_result = op == OR ? n_true > 0 : op == AND ? n_true == n_threads : n_true;
  for (uint32_t i = 0; i < n_threads; i++) {
    threads[i].state = READY;
    memset(threads[i].known, 0, sizeof threads[i].known);
  }
  n_at_barrier = 0;
  interval++;
}

// Release the warp intrinsic `self` waits at, if every lane it names is there or has left.
void release_warp() {
  const uint32_t base = self & ~31u, mask = threads[self].mask;
  uint32_t arrived = 0;
  for (uint32_t lane = 0; lane < 32 && base + lane < n_threads; lane++) {
    const Thread& t = threads[base + lane];
    if (!(mask >> lane & 1) || t.state == DONE) continue;
    if (t.state != AT_WARP || t.mask != mask || t.op != threads[self].op) return;
    arrived |= 1u << lane;
  }
  uint64_t values[32];
  uint32_t clocks[32] = {};
  memset(values, 0xa5, sizeof values);  // a lane that is not here sends garbage, as in CUDA
  for (uint32_t lane = 0; lane < 32; lane++) {
    if (!(arrived >> lane & 1)) continue;
    Thread& t = threads[base + lane];
    values[lane] = t.sent;
    if (t.op != 0) continue;  // only __syncwarp orders memory
    t.known[lane]++;
    for (uint32_t of = 0; of < 32; of++)
      if (t.known[of] > clocks[of]) clocks[of] = t.known[of];
  }
  for (uint32_t lane = 0; lane < 32; lane++) {
    if (!(arrived >> lane & 1)) continue;
    Thread& t = threads[base + lane];
    t.state = READY;
    t.arrived = arrived;
    memcpy(t.got, values, sizeof values);
    if (t.op == 0) memcpy(t.known, clocks, sizeof clocks);
  }
}

bool make_stacks() {
  if (stacks) return true;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* got = mmap(nullptr, kMaxThreads * kStackBytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (got == MAP_FAILED) return false;
  stacks = static_cast<char*>(got);
  for (uint32_t i = 0; i < kMaxThreads; i++) mprotect(stacks + i * kStackBytes, 4096, PROT_NONE);
  return true;
}

void start_thread(uint32_t id) {
  Thread& t = threads[id];
  memset(&t, 0, sizeof t);
  t.x = id % blockDim.x;
  t.y = id / blockDim.x % blockDim.y;
  t.z = id / blockDim.x / blockDim.y;
  void** top = reinterpret_cast<void**>(stacks + (id + 1) * kStackBytes);
  *--top = nullptr;  // where fiber_main would return to
  *--top = reinterpret_cast<void*>(&fiber_main);
  for (int i = 0; i < 6; i++) *--top = nullptr;
  t.stack_pointer = top;
}

void run_block() {
  n_done = n_at_barrier = interval = 0;
  for (uint32_t i = 0; i < n_threads; i++) start_thread(i);
  while (n_done < n_threads && report->fault == NONE) {
    bool progress = false;
    shuffle(order, n_threads);
    for (uint32_t i = 0; i < n_threads && report->fault == NONE; i++)
      if (threads[order[i]].state == READY) progress = true, resume(order[i]);
    if (!progress && report->fault == NONE) report_deadlock();
  }
  found_unset();
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

extern "C" {
unsigned kleene_lane() { return self % 32; }
unsigned kleene_arrived() { return threads[self].arrived; }
void kleene_yield() { leave(); }

void kleene_trap(int line) {
  const Side here = {block, self, 0, uint32_t(line), 0};
  fail(TRAP, NOWHERE, 0, 0, here, here);
  stop();
}

void kleene_marked(void* address, unsigned bytes, int mode, void* caller) {
  enum { LOAD, STORE, MODIFY };
  if (random_state && random_below(2)) leave();
  access(address, bytes, mode == LOAD ? MARKED_READ : MARKED_WRITE, mode != STORE, caller);
}

unsigned kleene_barrier(int line, int op, int value) {
  Thread& t = threads[self];
  t.state = AT_BARRIER, t.line = line, t.op = op, t.value = value;
  if (++n_at_barrier == n_threads) release_barrier();
  leave();
  return barrier_result;
}

const uint64_t* kleene_exchange(int line, int op, unsigned mask, uint64_t value) {
  Thread& t = threads[self];
  t.line = line, t.op = op, t.mask = mask, t.sent = value, t.state = AT_WARP;
  if (!(mask >> self % 32 & 1)) {
    fail(BARRIER, NOWHERE, 0, 0, waiting_side(self), waiting_side(self));
    stop();
  }
  release_warp();
  if (t.state != READY) leave();
  return t.got;
}

// Run one launch; 0 if nothing was found wrong.
int kleene_launch(void (*kernel)(void**), void** args, const Region* regions, uint32_t n_regions,
                  const uint32_t* grid, const uint32_t* size, uint64_t dynamic_start,
                  uint64_t dynamic_bytes, uint32_t shared_bytes, uint64_t seed, Report* out) {
  report = out, entry = kernel, arguments = args;
  random_state = seed ? seed * 0x9e3779b97f4a7c15u | 1 : 0;
  memset(out, 0, sizeof *out);
  unset = *out;
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {size[0], size[1], size[2]};
  n_threads = size[0] * size[1] * size[2];
  const uint32_t n_blocks = grid[0] * grid[1] * grid[2];
  uint32_t* blocks = static_cast<uint32_t*>(malloc(n_blocks * sizeof(uint32_t)));
  const Region dynamic = {dynamic_start, dynamic_bytes, 1};
  if (!blocks || !make_stacks() || !watch_all(regions, n_regions, dynamic, shared_bytes)) {
    out->fault = NO_MEMORY;
  } else {
    shuffle(blocks, n_blocks);
    for (uint32_t i = 0; i < n_blocks && out->fault == NONE; i++) {
      block = blocks[i];
      blockIdx = {block % grid[0], block / grid[0] % grid[1], block / grid[0] / grid[1]};
      run_block();
    }
  }
  for (uint32_t i = 0; memories && i < n_memories; i++) free(memories[i].words);
  free(memories);
  free(blocks);
  memories = nullptr;
  for (Side& side : out->sides)
    if (side.caller) side.caller -= library_start;
  return out->fault;
}

// The call-outs of -fsanitize=thread.
#define CALLER __builtin_return_address(0)
#define KLEENE_SIZE(n)                                                                    \
  void __tsan_read##n(void* p) { access(p, n, READ, true, CALLER); }                            \
  void __tsan_write##n(void* p) { access(p, n, WRITE, false, CALLER); }                          \
  void __tsan_volatile_read##n(void* p) { kleene_marked(p, n, 0, CALLER); }               \
  void __tsan_volatile_write##n(void* p) { kleene_marked(p, n, 1, CALLER); }              \
  void __tsan_unaligned_read##n(void* p) { access(p, n, READ, true, CALLER); }                  \
  void __tsan_unaligned_write##n(void* p) { access(p, n, WRITE, false, CALLER); }                \
  void __tsan_unaligned_volatile_read##n(void* p) { kleene_marked(p, n, 0, CALLER); }     \
  void __tsan_unaligned_volatile_write##n(void* p) { kleene_marked(p, n, 1, CALLER); }
KLEENE_SIZE(1)
KLEENE_SIZE(2)
KLEENE_SIZE(4)
KLEENE_SIZE(8)
KLEENE_SIZE(16)
void __tsan_read_range(void* p, size_t n) { access(p, n, READ, true, CALLER); }
void __tsan_write_range(void* p, size_t n) { access(p, n, WRITE, false, CALLER); }
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
