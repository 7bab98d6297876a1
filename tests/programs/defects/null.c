/* CWE 476: null pointers that are dereferenced. */
#include "shared.h"

static int zero_of(int *p) { return *p; } /* BAD 476 */
static int one_of(int *p) { return *p; }
static int *pick(int k) { static int v; return k ? &v : NULL; }
static int *always(int k) { static int v, w; return k ? &v : &w; }
static struct item *head;
static struct item box;
static int *global;

int bad_476_local(int k) { int *p = NULL; int v = k; if (k > 2) p = &v; return *p; } /* BAD 476 */
int good_476_local(int k) { int *p = NULL; int v = k; if (k > 2) p = &v; return p ? *p : 0; }
int bad_476_returned(int k) { return *pick(k); } /* BAD 476 */
int good_476_returned(int k) { return *always(k); }
int bad_476_passed(int k) { return zero_of(k > 3 ? &k : NULL); }
int good_476_passed(int k) { return one_of(k > 3 ? &k : always(k)); }
int bad_476_malloc(void) { int *p = malloc(4); *p = 1; return 0; } /* BAD 476 */
int good_476_malloc(void) { int *p = malloc(4); if (!p) return 1; *p = 1; free(p); return 0; }
int bad_476_field(int k) { struct item i; struct item *at = &i; at->value = pick(k); return *at->value; } /* BAD 476 */
int good_476_field(int k) { struct item i; struct item *at = &i; at->value = pick(k); if (at->value == NULL) return 0; return *at->value; }
int bad_476_heap(int k) {
  struct item *i = malloc(sizeof *i);
  if (!i) return 0;
  i->value = k ? NULL : &k;
  return *i->value; /* BAD 476 */
}
int good_476_heap(int k) {
  struct item *i = malloc(sizeof *i);
  if (!i) return 0;
  i->value = k ? &i->count : &k;
  return *i->value;
}
static void set_global(int k) { global = pick(k); }
int bad_476_global(int k) { set_global(k); return *global; } /* BAD 476 */
int good_476_global(int k) { set_global(k); if (global) return *global; return 0; }
int bad_476_file(int k) { return *other_find(k); } /* BAD 476 */
int good_476_file(int k) { return *other_always(k); }
int bad_476_callback(struct handler *h, int k) { return *h->find(k); } /* BAD 476 */
int good_476_callback(struct handler *h, int k) { int *p = h->find(k); return p != NULL ? *p : 0; }
int bad_476_strchr(const char *s) { return *strchr(s, ':'); } /* BAD 476 */
int good_476_strchr(const char *s) { char *at = strchr(s, ':'); return at ? *at : 0; }
int bad_476_getenv(void) { return (int)strlen(getenv("HOME")); } /* BAD 476 */
int good_476_getenv(void) { char *home = getenv("HOME"); return home ? (int)strlen(home) : 0; }
int bad_476_fopen(const char *name) { FILE *f = fopen(name, "r"); return fgetc(f); } /* BAD 476 */
int good_476_fopen(const char *name) { FILE *f = fopen(name, "r"); if (f == NULL) return 0; int c = fgetc(f); fclose(f); return c; }
int bad_476_list(int k) {
  struct item *at = head;
  while (at && at->count != k) at = at->next;
  return at->count; /* BAD 476 */
}
int good_476_list(int k) {
  struct item *at = head;
  while (at && at->count != k) at = at->next;
  return at ? at->count : 0;
}
int bad_476_wrong_test(int *q, int k) { int *p = pick(k); if (q) return *p; return 0; } /* BAD 476 */
int good_476_right_test(int *q, int k) { int *p = pick(k); if (q && p) return *p; return 0; }
int bad_476_or(int k) { int *p = pick(k); if (p || k > 9) return *p; return 0; } /* BAD 476 */
int good_476_or(int k) { int *p = pick(k); if (!p || k > 9) return 0; return *p; }
int bad_476_two_levels(int k) { box.next = k ? &box : NULL; return box.next->count; } /* BAD 476 */
int good_476_two_levels(int k) { box.next = k ? &box : NULL; return box.next ? box.next->count : 0; }
void grow(int k) { struct item *i = calloc(1, sizeof *i); if (i) { i->count = k; i->next = k > 3 ? NULL : head; head = i; } }
