/* Each function stands alone: pointers that point into one of several objects. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
struct record { int a, b; };
static int *either(int *a, int *b, int c) { return c ? a : b; }
static int *found(int *a, int n, int x) {
  for (int i = 0; i < n; i++)
    if (a[i] == x) return a + i;
  return 0;
}
static const char *name(int c) {
  switch (c) {
    case 0: return "zero";
    case 1: return "one";
    default: return "many";
  }
}

int one_array_or_another(int c) {
  int a[4] = {0}, b[8] = {0};
  int *p = c ? a : b;
  for (int i = 0; i < 4; i++) p[i] = i;  // expect: safe bounds
  p[4] = 1;                              // expect: may fail bounds
  assert(!c);                            // expect: safe assert
  return 0;
}

int one_local_or_another(int c) {
  int x = 1, y = 2;
  int *p = c > 0 ? &x : &y;
  *p = 3;                      // expect: safe bounds
  assert(x == 3 || y == 3);    // expect: safe assert
  assert(x == 1 || y == 2);    // expect: safe assert
  assert(c > 0 || x == 1);     // expect: safe assert
  assert(x == 3);              // expect: may fail assert
  return 100 / x + 100 / y;    // expect: safe division, safe division
}

int the_same_place(int c) {
  int x = 1, y = 2;
  int *p = c ? &x : &y;
  if (p != &x) *p = 7;
  assert(x == 1);   // expect: safe assert
  assert(y != 7 || !c);   // expect: safe assert
  assert(y == 2);   // expect: may fail assert
  return *p;
}

int one_global_or_another(int flag) {
  static int one = 1, other = 2;
  int *p = flag ? &one : &other;
  *p = 7;
  assert(flag ? one == 7 : other == 7);  // expect: safe assert
  assert(*p == 7);                       // expect: safe assert
  return *p;
}

int one_text_or_another(int c) {
  const char *s = c ? "yes" : "no";
  int n = 0;
  for (int i = 0; s[i]; i++) n ^= s[i];  // expect: safe bounds, safe bounds
  assert(strlen(s) <= 3);                // expect: safe assert
  assert(strlen(s) == 3);                // expect: may fail assert
  return s[2];                           // expect: safe bounds
}

int one_field_or_another(int c) {
  struct record v;
  v.a = 1, v.b = 2;
  int *p = c ? &v.a : &v.b;
  *p = 5;
  assert(v.a == 5 || v.b == 5);  // expect: safe assert
  assert(v.a == 1 || v.b == 2);  // expect: safe assert
  return 10 / v.a;               // expect: safe division
}

int given_or_not(int *given) {
  int own = 3;
  int *p = given ? given : &own;
  *p = 4;            // expect: safe null, may fail bounds
  assert(own >= 3);  // expect: safe assert
  assert(own == 4);  // expect: may fail assert
  return p[0];       // expect: safe bounds
}

int one_allocation_or_another(int c) {
  char *p = c ? malloc(4) : malloc(8);
  if (!p) return 0;
  p[3] = 1;         // expect: safe bounds
  int read = p[3];  // expect: safe uninitialised
  if (c) p[4] = 1;  // expect: fails always bounds
  free(p);          // expect: safe freed
  return read;
}

void freed_where_allocated(int n) {
  char small[16];
  char *p = small;
  if (n > 16) p = malloc(n);
  if (!p) return;
  memset(p, 0, n > 0 ? n : 0);  // expect: safe bounds
  if (p != small) free(p);      // expect: safe freed
  p[0] = 1;                     // expect: may fail freed
}

void chosen_by_a_function(int c) {
  int x = 1, y = 2;
  int *p = either(&x, &y, c);
  *p = 3;                     // expect: safe bounds
  assert(x == 3 || y == 3);   // expect: safe assert
  assert(x == 1 || y == 2);   // expect: safe assert
}

int found_by_a_function(int x) {
  int a[5] = {1, 2, 3, 4, 5};
  int *p = found(a, 5, x);
  if (p) assert(p - a < 5);  // expect: safe assert
  return *p;                 // expect: may fail null, safe bounds
}

int named_by_a_function(int c) {
  const char *s = name(c);
  return (int)strlen(s) + s[3];  // expect: safe bounds
}

int made_in_a_loop(int n) {
  int last = 0, *p = &last;
  for (int i = 0; i < n; i++) {
    int *made = malloc(sizeof *made);
    if (!made) break;
    *made = 1;
    last ^= *p;  // expect: safe bounds, may fail bounds
    p = made;
  }
  return *p;
}

void stored_and_read_in_a_loop(int **at, int n) {
  int *p = *at;
  for (int i = 0; i < n; i++) {
    *at = p;
    p = *at;
    *p = 3;
    p = p + 1;
  }
}

struct link {
  int value;
  struct link *next;
};

void in_a_table(int i) {
  int x = 1, y = 2;
  int *t[2] = {&x, &y};
  if (i < 0 || i > 1) return;
  *t[i] = 3;                 // expect: safe bounds, safe null, safe bounds
  assert(x == 3 || y == 3);  // expect: safe assert
  assert(x == 1 || y == 2);  // expect: safe assert
  *t[1] = 4;
  assert(y == 4);            // expect: safe assert
  assert(x == 3);            // expect: may fail assert
}

int from_node_to_node(void) {
  struct link first, second;
  first.value = 1, first.next = &second;
  second.value = 2, second.next = 0;
  for (struct link *p = &first; p; p = p->next) p->value = 3;  // expect: safe bounds, safe bounds, safe null, safe null
  return 10 / first.value;                                     // expect: safe division
}

static void put(int **to, int *p) { *to = p; }

void stored_by_a_function(int c) {
  int x = 1, y = 2;
  int *p = &x;
  put(&p, c ? &x : &y);
  *p = 3;                    // expect: safe bounds, safe null
  assert(x == 1 || y == 2);  // expect: safe assert
  p = 0;
  put(&p, 0);
  *p = 4;                    // expect: fails always null
}

extern void others(int **p);
void written_by_others(void) {
  int x = 1;
  int *p = &x;
  others(&p);
  *p = 3;         // expect: safe bounds, may fail bounds, may fail null
  assert(x == 3); // expect: may fail assert
}

static const char *const names[3] = {"a", "bb", "ccc"};
int named_by_a_table(unsigned i) {
  if (i > 2) return 0;
  int two = names[i][1];  // expect: safe bounds, safe null
  return two + names[i][2];  // expect: safe bounds, may fail bounds
}

int stale_in_memory(int n) {
  int *kept = 0, **at = &kept, sum = 0;
  for (int i = 0; i < n; i++) {
    int *made = malloc(sizeof *made);
    if (!made) break;
    *made = 1;
    if (kept) sum ^= *kept;  // expect: safe bounds, may fail bounds
    *at = made;
  }
  return sum;
}

int one_is_not_written(int c) {
  int x, y = 1;
  int *p = c ? &x : &y;
  return *p;  // expect: safe bounds, may fail uninitialised
}

int a_part_is_not_written(int c) {
  int a[4], b[4] = {0};
  int *p = c ? a : b;
  p[0] = 1;
  int first = p[0];     // expect: safe uninitialised
  return first ^ p[1];
}

int written_where_it_is_read(int c) {
  int x, y = 1;
  int *p = c ? &x : &y;
  if (c) x = 2;
  return *p;  // expect: safe uninitialised
}
