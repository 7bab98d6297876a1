/* What values were, while an instrumented program runs: one row for each slot, in a shared file.
 *
 * The file is mapped, so that a program that dies, or its children, leave what they have shown.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct row {
  int64_t n_seen, low, high;
  uint64_t least, most, all, any; /* all: bits that were always 1; any: that were once */
};
extern const uint8_t kleene_seen_width[];
extern const int64_t kleene_seen_n_slots;
static struct row *rows;

__attribute__((constructor(101))) static void begin(void) {
  const char *name = getenv("KLEENE_SEEN");
  size_t n_bytes = kleene_seen_n_slots * sizeof *rows;
  int file = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;
  if (file < 0 || ftruncate(file, n_bytes)) _exit(97);
  rows = mmap(0, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (rows == MAP_FAILED) _exit(97);
  close(file);
}

void kleene_seen(int32_t slot, uint64_t pattern) {
  if (!rows) return;
  struct row *row = &rows[slot];
  int shift = 64 - kleene_seen_width[slot];
  int64_t number = (int64_t)(pattern << shift) >> shift;
  if (!row->n_seen++) {
    *row = (struct row){1, number, number, pattern, pattern, pattern, pattern};
    return;
  }
  if (number < row->low) row->low = number;
  if (number > row->high) row->high = number;
  if (pattern < row->least) row->least = pattern;
  if (pattern > row->most) row->most = pattern;
  row->all &= pattern;
  row->any |= pattern;
}
