/* What pointers held, and who was called, while an instrumented program runs.
 *
 * A map from addresses to pieces of storage is kept up to date; each pointer is looked up in it at
 * the moment it is seen, because storage is used again. Every fact is written once, when it is new,
 * so that a program that dies leaves what it has shown. Kinds and sites are the caller's numbers.
 *
 * Storage leaves the map when other storage takes its addresses, and that of a frame also when the
 * frame has gone. Freed blocks stay until then: a pointer to one may still be copied. All blocks of
 * the C library's heap are seen, even those that the library makes for itself (without a site).
 */
#define _GNU_SOURCE 1 /* mincore */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

enum { VALUE, CALL, ENTRY };        /* what a fact is about */
enum { NOWHERE = -1, NOTHING = -2, LABEL = -3 }; /* kinds: no known storage; no second reading;
                                                    a block of code, whose address is no pointer */

struct place {
  int32_t kind, site;
  int64_t byte;
};
struct fact {
  int32_t what, value;
  struct place at, or_at; /* an address between two pieces of storage may be either's */
};
struct global {
  void *address;
  int64_t n_bytes;
  int32_t kind, site;
};
extern const struct global kleene_trace_globals[];
extern const int64_t kleene_trace_n_globals;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void die(const char *why) {
  ssize_t ignored = write(2, why, strlen(why));
  (void)ignored;
  _exit(97);
}

/* The map: a treap over starts; no two pieces overlap. Node 0 is none. */

struct node {
  uintptr_t start, end;
  int32_t kind, site;
  uint32_t serial, birth, priority, left, right; /* birth: of a block of the heap, when; else 0 */
};
static struct node *nodes;
static uint32_t n_nodes = 1, n_room, free_node, last_serial, seed = 2463534242u;

static uint32_t new_node(uintptr_t start, uintptr_t end, int32_t kind, int32_t site) {
  uint32_t n = free_node ? free_node : n_nodes++;
  if (n >= n_room) {
    n_room = n_room ? 2 * n_room : 1024;
    nodes = __libc_realloc(nodes, n_room * sizeof *nodes);
    if (!nodes) die("pointer trace: no memory\n");
  } else if (free_node) {
    free_node = nodes[n].left;
  }
  seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
  nodes[n] = (struct node){start, end, kind, site, ++last_serial, 0, seed, 0, 0};
  return n;
}

/* Starts below `key` go to `low`, the others to `high`. */
static void split(uint32_t n, uintptr_t key, uint32_t *low, uint32_t *high) {
  if (!n) {
    *low = *high = 0;
  } else if (nodes[n].start < key) {
    *low = n;
    split(nodes[n].right, key, &nodes[n].right, high);
  } else {
    *high = n;
    split(nodes[n].left, key, low, &nodes[n].left);
  }
}

static uint32_t merge(uint32_t low, uint32_t high) {
  if (!low || !high) return low ? low : high;
  if (nodes[low].priority > nodes[high].priority) {
    nodes[low].right = merge(nodes[low].right, high);
    return low;
  }
  nodes[high].left = merge(low, nodes[high].left);
  return high;
}

static uint32_t root;

/* The last piece that starts at or before `address`. */
static uint32_t before(uintptr_t address) {
  uint32_t found = 0;
  for (uint32_t n = root; n;) {
    if (nodes[n].start <= address) {
      found = n;
      n = nodes[n].right;
    } else {
      n = nodes[n].left;
    }
  }
  return found;
}

static void release(uint32_t n) {
  if (!n) return;
  release(nodes[n].left);
  release(nodes[n].right);
  nodes[n].left = free_node;
  nodes[n].serial = 0;
  free_node = n;
}

static void remove_from(uintptr_t start, uintptr_t end) {
  uint32_t low, middle, high;
  split(root, start, &low, &middle);
  split(middle, end, &middle, &high);
  release(middle);
  root = merge(low, high);
}

static uint32_t add(uintptr_t start, uint64_t n_bytes, int32_t kind, int32_t site) {
  uintptr_t end = start + (n_bytes ? n_bytes : 1);
  uint32_t old = before(start);
  if (old && nodes[old].end > start) remove_from(nodes[old].start, nodes[old].start + 1);
  remove_from(start, end);
  uint32_t low, high, n = new_node(start, end, kind, site);
  split(root, start, &low, &high);
  root = merge(merge(low, n), high);
  return n;
}

/* Storage of frames: the stack grows downwards, so what lies below the frame of now is gone. */

struct local {
  uintptr_t start;
  uint32_t node, serial;
};
static _Thread_local struct local *locals;
static _Thread_local uint32_t n_locals, n_local_room;

static void drop_frames(uintptr_t frame) {
  while (n_locals && locals[n_locals - 1].start < frame) {
    struct local last = locals[--n_locals];
    if (nodes[last.node].serial == last.serial) remove_from(last.start, last.start + 1);
  }
}

/* Kept by falling start, so that what has gone is at the end. */
static void push_local(uintptr_t start, uint32_t node) {
  if (n_locals == n_local_room) {
    n_local_room = n_local_room ? 2 * n_local_room : 64;
    locals = __libc_realloc(locals, n_local_room * sizeof *locals);
    if (!locals) die("pointer trace: no memory\n");
  }
  uint32_t i = n_locals++;
  for (; i && locals[i - 1].start < start; i--) locals[i] = locals[i - 1];
  locals[i] = (struct local){start, node, nodes[node].serial};
}

/* Facts, each once. */

static struct fact *facts;
static uint64_t n_facts, n_slots;
static int output = -1;

static uint64_t hash(const struct fact *fact) {
  const uint32_t *words = (const uint32_t *)fact;
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < sizeof *fact / 4; i++) h = (h ^ words[i]) * 1099511628211u;
  return h ^ h >> 29;
}

static struct fact *slot_of(const struct fact *fact) {
  uint64_t i = hash(fact) & (n_slots - 1);
  while (facts[i].what >= 0 && memcmp(&facts[i], fact, sizeof *fact)) i = (i + 1) & (n_slots - 1);
  return &facts[i];
}

static void grow(void) {
  struct fact *old = facts;
  uint64_t n_old = n_slots;
  n_slots = n_slots ? 4 * n_slots : 4096;
  facts = __libc_malloc(n_slots * sizeof *facts);
  if (!facts) die("pointer trace: no memory\n");
  memset(facts, 0xff, n_slots * sizeof *facts);
  for (uint64_t i = 0; i < n_old; i++)
    if (old[i].what >= 0) *slot_of(&old[i]) = old[i];
  free(old);
}

static void state(int32_t what, int32_t value, struct place at, struct place or_at) {
  struct fact fact;
  memset(&fact, 0, sizeof fact);
  fact.what = what, fact.value = value, fact.at = at, fact.or_at = or_at;
  if (4 * n_facts >= 3 * n_slots) grow();
  struct fact *slot = slot_of(&fact);
  if (slot->what >= 0) return;
  *slot = fact;
  n_facts++;
  if (write(output, &fact, sizeof fact) != sizeof fact) die("pointer trace: cannot write\n");
}

static const struct place nowhere = {NOWHERE, -1, 0}, nothing = {NOTHING, -1, 0};

/* An address outside of all known storage: `byte` is the same for two pointers to the same byte of
 * the library's storage, and 0 where that cannot be told. A block of the heap is told from an earlier
 * one at its addresses by its serial number (16 bits of it, above 47 bits of address). Frames of
 * the library come and go unseen: what lies between this frame and the first one is told from
 * nothing, while arguments and environment, above the first frame, are. */
static struct place outside(uint32_t serial, uintptr_t address) {
  extern void *__libc_stack_end;
  const uintptr_t frame = (uintptr_t)__builtin_frame_address(0), reach = 8 << 20;
  int is_in_frames = address + reach > frame && address < frame + reach;
  if (address >= (uintptr_t)__libc_stack_end) is_in_frames = 0;
  if (is_in_frames) return nowhere;
  return (struct place){NOWHERE, -1, (int64_t)((uint64_t)(serial & 0xffff) << 47 | address)};
}

static struct place in(uint32_t n, uintptr_t address) {
  if (nodes[n].kind == NOWHERE) return outside(nodes[n].serial, address);
  return (struct place){nodes[n].kind, nodes[n].site, (int64_t)(address - nodes[n].start)};
}

static int is_mapped(uintptr_t address) {
  unsigned char in_core;
  int before_us = errno;
  int found = mincore((void *)(address & ~(uintptr_t)4095), 1, &in_core) == 0 || errno != ENOMEM;
  errno = before_us;
  return found;
}

static void observe(int32_t what, int32_t value, uintptr_t address) {
  if (address + 4096 < 8192) return; /* null, and small numbers that stand for something else */
  uint32_t n = before(address);
  if (n && nodes[n].kind == LABEL && address == nodes[n].start) return;
  if (!n || address > nodes[n].end) {
    if (!is_mapped(address)) return; /* half of an address, or a number that stands for something */
    state(what, value, outside(0, address), nothing);
  } else if (address == nodes[n].end) {
    state(what, value, in(n, address), nowhere);
  } else {
    uint32_t other = address == nodes[n].start ? before(address - 1) : 0;
    int touches = other && nodes[other].end == address;
    state(what, value, in(n, address), touches ? in(other, address) : nothing);
  }
}

/* Whether anything can be told: not while the loader still resolves functions (ifunc), which is
 * before the C library knows its environment; and not by the handler of a signal that has
 * interrupted the trace itself, whose lock this thread holds. */
static _Thread_local volatile int is_busy;
static _Thread_local int may_be_cancelled;

static void enter(void) {
  is_busy = 1;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &may_be_cancelled); /* not with the lock held */
  pthread_mutex_lock(&lock);
}

static int begin(void) {
  if (!environ || is_busy) return 0;
  enter();
  if (output >= 0) return 1;
  const char *file = getenv("KLEENE_TRACE");
  output = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
  if (output < 0) die("pointer trace: KLEENE_TRACE names no file that can be written\n");
  for (int64_t i = 0; i < kleene_trace_n_globals; i++) {
    struct global g = kleene_trace_globals[i];
    if (g.address) add((uintptr_t)g.address, (uint64_t)g.n_bytes, g.kind, g.site);
  }
  return 1;
}

static void end(void) {
  pthread_mutex_unlock(&lock);
  pthread_setcancelstate(may_be_cancelled, &may_be_cancelled);
  is_busy = 0;
}

/* Events of the program. */

static _Thread_local void *target; /* whom the program is about to call */
#define ANYONE ((void *)-1)

void kleene_trace_value(int32_t value, void *pointer) {
  if (!begin()) return;
  drop_frames((uintptr_t)__builtin_frame_address(0));
  observe(VALUE, value, (uintptr_t)pointer);
  end();
}

void kleene_trace_call(int32_t call, void *callee) {
  if (!begin()) return;
  observe(CALL, call, (uintptr_t)callee);
  target = callee;
  end();
}

void kleene_trace_target(void *callee) { target = callee; }

/* Nothing of the frame that begins is known yet: what the map has below `frame` is of older ones. */
void kleene_trace_enter(int32_t function, void *self, void *frame) {
  if (!begin()) return;
  drop_frames((uintptr_t)frame);
  if (target != self && target != ANYONE) state(ENTRY, function, nowhere, nothing);
  target = 0;
  end();
}

void kleene_trace_local(int32_t kind, int32_t site, void *start, int64_t n_bytes) {
  if (!begin()) return;
  drop_frames((uintptr_t)__builtin_frame_address(0));
  push_local((uintptr_t)start, add((uintptr_t)start, (uint64_t)n_bytes, kind, site));
  end();
}

void kleene_trace_storage(int32_t kind, int32_t site, void *start, int64_t n_bytes) {
  if (!begin()) return;
  add((uintptr_t)start, (uint64_t)n_bytes, kind, site);
  end();
}

/* What has been made up to now is older than what the call that follows makes. */
int32_t kleene_trace_mark(void) {
  if (!begin()) return 0;
  int32_t mark = (int32_t)last_serial;
  end();
  return mark;
}

/* A call has returned a pointer, to storage of its own if that is younger than the mark: a block of
 * the heap, or the rest of one behind a header. Of storage unknown to us the first byte is known. */
void kleene_trace_made(int32_t kind, int32_t site, void *pointer, int32_t mark) {
  uintptr_t start = (uintptr_t)pointer;
  if (!start) return;
  if (!begin()) return;
  uint32_t n = before(start);
  if (!n || nodes[n].end <= start) {
    add(start, 1, kind, site);
  } else if (nodes[n].birth > (uint32_t)mark) {
    uint32_t birth = nodes[n].birth;
    nodes[add(start, nodes[n].end - start, kind, site)].birth = birth;
  }
  end();
}

/* The heap: every block is known from its start. */

static void *block(void *start, size_t n_bytes) {
  if (!start) return start;
  if (is_busy) return start;
  int before_us = errno;
  enter();
  uint32_t n = add((uintptr_t)start, n_bytes, NOWHERE, -1);
  nodes[n].birth = nodes[n].serial;
  end();
  errno = before_us;
  return start;
}

void *malloc(size_t n_bytes) { return block(__libc_malloc(n_bytes), n_bytes); }
void *calloc(size_t n, size_t n_bytes) { return block(__libc_calloc(n, n_bytes), n * n_bytes); }
void *realloc(void *old, size_t n_bytes) { return block(__libc_realloc(old, n_bytes), n_bytes); }
void *memalign(size_t to, size_t n_bytes) { return block(__libc_memalign(to, n_bytes), n_bytes); }
void *aligned_alloc(size_t to, size_t n_bytes) { return memalign(to, n_bytes); }
void *valloc(size_t n_bytes) { return memalign(sysconf(_SC_PAGESIZE), n_bytes); }
void *pvalloc(size_t n_bytes) {
  size_t page = sysconf(_SC_PAGESIZE);
  return memalign(page, (n_bytes + page - 1) / page * page);
}
int posix_memalign(void **found, size_t to, size_t n_bytes) {
  void *start = memalign(to, n_bytes);
  if (start) *found = start;
  return start ? 0 : ENOMEM;
}
