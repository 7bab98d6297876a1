#include "probe.h"
#include <search.h>
#include <unistd.h>
#include <sys/mman.h>
#include <malloc.h>

static int values[4] = {3, 1, 2, 0};
static char *words[] = {"b", "a", "c"};
static int by_int(const void *a, const void *b) {
  PROBE(a);
  return *(const int *)a - *(const int *)b;
}
static int by_word(const void *a, const void *b) {
  PROBE(*(char **)a);
  return strcmp(*(char **)a, *(char **)b);
}
static int by_context(const void *a, const void *b, void *context) {
  PROBE(context);
  return *(const int *)a - *(const int *)b;
}
static int by_name(const void *a, const void *b) {
  PROBE(b);
  return strcmp(a, b);
}
static void visit(const void *node, VISIT which, int depth) {
  PROBE(node);
  PROBE(*(void **)node);
}
static void visit_r(const void *node, VISIT which, void *closure) {
  PROBE(closure);
  PROBE(*(void **)node);
}
static void drop(void *key) { PROBE(key); }

struct link { struct link *next, *previous; int number; };
static struct link links[3];

int main(void) {
  PROBE(words[0]);
  PROBE(words[2]);
  qsort(words, 3, sizeof *words, by_word);
  PROBE(words[0]);
  PROBE(words[2]);
  PROBE(values);
  qsort(values, 4, sizeof *values, by_int);
  qsort_r(values, 4, sizeof *values, by_context, &words);
  PROBE(&words);
  int key = 2;
  PROBE(bsearch(&key, values, 4, sizeof *values, by_int));
  PROBE(values + 2);
  size_t count = 4;
  PROBE(lfind(&key, values, &count, sizeof *values, by_int));
  static int more[5] = {3, 1, 2, 0};
  int absent = 9;
  PROBE(lsearch(&absent, more, &count, sizeof *more, by_int));
  PROBE(more + 4);
  static char *table[4];
  size_t n = 0;
  char *word = words[1];
  lsearch(&word, table, &n, sizeof *table, by_word);
  PROBE(table[0]);

  static char one[] = "one", two[] = "two", three[] = "three";
  void *root = 0;
  PROBE(one);
  PROBE(two);
  PROBE(*(void **)tsearch(one, &root, by_name));
  PROBE(*(void **)tsearch(two, &root, by_name));
  PROBE(*(void **)tsearch(three, &root, by_name));
  PROBE(*(void **)tfind("two", &root, by_name));
  PROBE(tfind("one", &root, by_name));
  PROBE(root);
  twalk(root, visit);
  twalk_r(root, visit_r, &key);
  PROBE(&key);

  hcreate(10);
  ENTRY entry = {one, values};
  ENTRY *entered = hsearch(entry, ENTER);
  PROBE(entered->key);
  PROBE(entered->data);
  ENTRY query = {"one", 0};
  ENTRY *found = hsearch(query, FIND);
  PROBE(entered);
  PROBE(found);
  PROBE(found->key);
  PROBE(found->data);
  static struct hsearch_data private_table;
  hcreate_r(10, &private_table);
  ENTRY *entered_r = 0;
  hsearch_r((ENTRY){two, more}, ENTER, &entered_r, &private_table);
  PROBE(entered_r->data);
  ENTRY *found_r = 0;
  hsearch_r((ENTRY){"two", 0}, FIND, &found_r, &private_table);
  PROBE(found_r);
  PROBE(found_r->data);

  insque(&links[0], 0);
  insque(&links[1], &links[0]);
  insque(&links[2], &links[0]);
  PROBE(links[0].next);
  PROBE(links[0].next->next);
  PROBE(links[1].previous);
  PROBE(&links[0]);
  PROBE(&links[1]);
  PROBE(&links[2]);
  remque(&links[2]);
  PROBE(links[0].next);
  PROBE(links[1].previous);

  char *low = sbrk(0);
  PROBE(low);
  PROBE(sbrk(4096));
  char *high = sbrk(0);
  PROBE(high);
  PROBE(low + 4096);
  void *mapped = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PROBE(mapped);
  PROBE(mremap(mapped, 8192, 4096, 0));
  int **cells = malloc(2 * sizeof *cells);
  PROBE(cells);
  cells[1] = values;
  cells = realloc(cells, 64);
  PROBE(cells[1]);
  int **larger = realloc(cells, 100000 * sizeof *cells);
  PROBE(larger[1]);
  cells = reallocarray(larger, 200000, sizeof *cells);
  PROBE(cells[1]);
  void *aligned = 0;
  posix_memalign(&aligned, 64, 64);
  PROBE(aligned);
  PROBE(aligned_alloc(64, 64));

  /* these free nodes, whose addresses others may get: so they come last */
  PROBE(tdelete("three", &root, by_name));
  tdestroy(root, drop);
  return 0;
}
