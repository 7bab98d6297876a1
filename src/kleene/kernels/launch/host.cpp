// The host runner: executes a CUDA grid thread by thread, and watches every access.
//
// Blocks run one after the other. The threads of a block are fibers on one system thread, switched
// by a few instructions of assembly (swapcontext would make a system call each time). A fiber runs
// until it waits at a barrier or a warp intrinsic, or leaves the kernel.
// What it may not do meanwhile is host_watch.h's business.
#include <sys/mman.h>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "host_watch.h"

#ifndef __x86_64__
#error "the host runner's context switch is written for x86-64"
#endif

namespace {
constexpr uint32_t kMaxThreads = 1024;
constexpr size_t kStackBytes = 256 << 10;  // a page below each is a guard; pages are lazily real

enum State : uint8_t { READY, AT_BARRIER, AT_WARP, DONE };
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
uint32_t n_threads, n_done, n_at_barrier, barrier_result;
uint64_t random_state;  // 0: threads in order, no switch at atomics
char* stacks;
void* scheduler_stack_pointer;
void (*entry)(void**);
void** arguments;
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

// A fiber in the wrong never runs on; its stack is simply dropped (kernels own no resources).
[[noreturn]] void stop() {
  leave();
  abort();
}

const uint32_t* known_clocks() { return threads[self].known; }

bool is_on_stack(uintptr_t address) {
  return address - uintptr_t(stacks) < kMaxThreads * kStackBytes;
}

Side waiting_side(uint32_t id) {
  return {block, id, threads[id].state, uint32_t(threads[id].line), 0};
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

// Each guard cuts a mapping in two, and a process may have 65,530 in all, over all its modules: so
// only the stacks that some block has used are guarded.
bool make_stacks() {
  static uint32_t n_guarded = 0;
  if (!stacks) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* got = mmap(nullptr, kMaxThreads * kStackBytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (got == MAP_FAILED) return false;
    stacks = static_cast<char*>(got);
  }
  for (; n_guarded < n_threads; n_guarded++)
    if (mprotect(stacks + n_guarded * kStackBytes, 4096, PROT_NONE)) return false;
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
// What clang makes of the copy of a struct, and of one that is all zeros.
void* __tsan_memcpy(void* to, const void* from, size_t n) {
  access(const_cast<void*>(from), n, READ, true, CALLER);
  access(to, n, WRITE, false, CALLER);
  return memmove(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, size_t n) {
  access(const_cast<void*>(from), n, READ, true, CALLER);
  access(to, n, WRITE, false, CALLER);
  return memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, size_t n) {
  access(to, n, WRITE, false, CALLER);
  return memset(to, value, n);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
}
