/* Each function stands alone: its arguments and unknown() are any values. */
#include <assert.h>
#include <stdlib.h>
extern int unknown(void);
extern unsigned unknown_unsigned(void);
extern void kleene_assume(int);
extern void kleene_check(int);

static int numbers[10];
int shared;

void count_up(void) {
  int i = 0;
  while (i < 10) {
    numbers[i] = i;  // expect: safe bounds
    i++;             // expect: safe overflow
  }
  assert(i == 10);   // expect: safe assert
}

void count_too_far(void) {
  for (int i = 0; i <= 10; i++)
    numbers[i] = i;  // expect: may fail bounds
}

void follow_limit(int n) {
  int i = 0;
  if (n < 0) return;
  while (i < n) i++;
  assert(i == n);  // expect: safe assert
}

void follow_limit_of_any_sign(int n) {
  int i = 0;
  while (i < n) i++;
  assert(i == n);  // expect: may fail assert
}

int guarded_division(int x) {
  if (x != 0) return 100 / x;  // expect: safe division
  return 0;
}

int any_division(int x) {
  return 100 / x;  // expect: may fail division
}

int never_division(int x) {
  int zero = x & 0;
  return 100 / zero;  // expect: fails always division
}

int least_by_minus_one(int x, int y) {
  if (y == 0) return 0;
  return x / y;  // expect: may fail overflow
}

int shifts(int by) {
  if (by < 0 || by > 31) return 0;
  return (int)(1u << by);  // expect: safe shift
}

int any_shift(int by) {
  return (int)(1u << by);  // expect: may fail shift
}

int sums(int a, int b) {
  if (a > 1000 || a < -1000 || b > 1000 || b < -1000) return 0;
  return a + b;  // expect: safe overflow
}

int any_sum(int a, int b) {
  return a + b;  // expect: may fail overflow
}

int squares(int a) {
  if (a > 46340 || a < -46340) return 0;
  return a * a;  // expect: safe overflow
}

int any_square(int a) {
  return a * a;  // expect: may fail overflow
}

void wraps_around(unsigned x) {
  unsigned y = x + 1;
  assert(y > x);  // expect: may fail assert
}

void does_not_wrap(unsigned x) {
  if (x > 1000) return;
  unsigned y = x + 1;
  assert(y > x);  // expect: safe assert
}

void unsigned_below_zero(unsigned x) {
  x = x - 1;
  assert(x < 4294967295u);  // expect: may fail assert
}

void mixed_signs(int i, unsigned n) {
  if (i < 0) return;
  if (n > 10) return;
  if ((unsigned)i < n) assert(i < 10);  // expect: safe assert
}

void negative_as_unsigned(int i) {
  if ((unsigned)i > 100u) assert(i > 100);  // expect: may fail assert
}

void narrow(int x) {
  char c = (char)x;
  assert(c == x);  // expect: may fail assert
}

void narrow_enough(int x) {
  if (x < 0 || x > 100) return;
  char c = (char)x;
  assert(c == x);  // expect: safe assert
}

void local_by_address(void) {
  int x = 3;
  int *p = &x;
  *p = 4;
  assert(x == 4);  // expect: safe assert
}

extern void take(int *);
void given_away(void) {
  int x = 3;
  take(&x);
  assert(x == 3);  // expect: may fail assert
}

void global_changes(void) {
  shared = 5;
  assert(shared == 5);  // expect: safe assert
  unknown();
  assert(shared == 5);  // expect: may fail assert
}

void through_argument(int *p) {
  shared = 5;
  *p = 6;               // expect: may fail null
  assert(shared == 5);  // expect: may fail assert
}

void heap(int n) {
  if (n < 1 || n > 100) return;
  int *p = malloc(n * sizeof(int));
  if (!p) return;
  for (int i = 0; i < n; i++)
    p[i] = i;  // expect: safe null, safe bounds
}

void heap_unchecked(void) {
  int *p = malloc(40);
  p[9] = 1;    // expect: may fail null, safe bounds
  p[10] = 1;   // expect: fails always bounds
}

static int clamp(int x) { return x < 0 ? 0 : x > 9 ? 9 : x; }
void calls(int x) {
  numbers[clamp(x)] = 1;  // expect: safe bounds
}

static int down(int n) { return n <= 0 ? 0 : down(n - 1); }
void recursion(int n) {
  assert(down(n) == 0);  // expect: may fail assert
}

void switches(int x) {
  int y = 0;
  switch (x) {
    case 1: y = 10; break;
    case 5: y = 50; break;
    default: y = -1;
  }
  if (y == 50) assert(x == 5);  // expect: safe assert
  assert(y <= 50);              // expect: safe assert
}

void flags(void) {
  int b = 0, i = 0, j = 0;
  for (int n = 0; n < 200; n++) {
    if (b) i++; else j++;
    b = !b;
  }
  assert(i == j);  // expect: safe assert
}

void even(void) {
  unsigned x = 0;
  while (unknown()) x += 2;
  assert(x % 2 == 0);  // expect: safe assert
}

void by_three(void) {
  unsigned x = 0;
  while (unknown()) x += 3;
  assert(x % 3 == 0);  // expect: may fail assert
}

void linear(void) {
  int x = 0, y = 0;
  while (unknown() && x < 1000) { x++; y += 3; }
  assert(y == 3 * x);  // expect: safe assert
}

void sum_of_three(int x, int y, int k) {
  if (x > 100 || y > 100 || x < 0 || y < 0) return;
  if (x + y != k) return;
  while (unknown() && x < 1000 && y > -1000) { x++; y--; }
  assert(x + y == k);  // expect: safe assert
}

void assumed(int x) {
  kleene_assume(x > 3);
  kleene_check(x > 2);  // expect: safe assert
  kleene_check(x > 4);  // expect: may fail assert
}

void never(int x) {
  if (x > 3 && x < 3)
    assert(x == 17);  // expect: unreachable assert
}

void wrong(int x) {
  if (x > 3) {
    assert(x < 2);  // expect: fails always assert
  }
}

void stops(int x) {
  if (x < 0) exit(1);
  assert(x >= 0);  // expect: safe assert
}

void uninitialised(void) {
  int x[1];
  assert(x[0] == 3);  // expect: may fail assert
}

void swapped(int a, int b) {
  if (a > b || a < 0) return;
  while (unknown()) {
    int t = a;
    a = b;
    b = t;
  }
  assert(a >= 0 && b >= 0);  // expect: safe assert
}

void first_round(int y, int z) {
  int x = 0;
  while (x < 5) {
    x += 1;
    if (z <= y) y = z;
  }
  assert(z >= y);  // expect: safe assert
}

void phases(void) {
  unsigned x = 0;
  while (x < 1000000) {
    if (x < 1000) x++; else x += 2;
  }
  assert(x % 2 == 0);  // expect: safe assert
}

void error_behind_a_loop(void) {
  int x = 0, y = 50;
  while (x < 100) {
    if (x < 50) x++; else { x++; y++; }
  }
  if (y != 100) {
    assert(0);  // expect: safe assert
  }
}

void square_root(int i) {
  if (i <= -10 || i >= 10) return;
  while (i * i < 100) i++;
  assert(i == 10);  // expect: safe assert
}

void unsigned_index(unsigned long at) {
  int local[4] = {1, 1, 1, 1};
  if (at < 4) {
    local[at] = 2;          // expect: safe bounds
    assert(local[0] == 1);  // expect: may fail assert
  }
}

void unsigned_index_wraps(unsigned long at) {
  int local[4];
  int *end = local + 4;
  end[at] = 2;  // expect: may fail bounds
}

char *strchr(const char *, int);
void pointer_that_comes_back(void) {
  char text[2] = {'a', 0};
  text[0] = 'a';
  char *found = strchr(text, 'a');
  if (found) *found = 'b';
  assert(text[0] == 'a');  // expect: may fail assert
}

struct large { int numbers[10]; };
static void change(struct large given) { given.numbers[0] = 7; }
void passed_by_value(void) {
  struct large mine;
  mine.numbers[0] = 1;
  change(mine);
  assert(mine.numbers[0] == 7);  // expect: fails always assert
}

void signed_of_unsigned(unsigned x) {
  int half = (int)x / 2;
  if (x > 10) assert((unsigned)half <= x);  // expect: may fail assert
}

void one_of_three(int x, int y, int z) {
  if (!(y > 0 || x > 0 || z > 0)) return;
  while (unknown()) {
    if (x > 0 && x < 1000) x++;
    if (y > 0 && y < 1000) y++; else if (z < 1000) z++;
  }
  assert(x > 0 || y > 0 || z > 0);  // expect: safe assert
}

void wraps_equally(void) {
  unsigned a = 0, b = 0;
  while (unknown()) {
    a += 3;
    b += 1;
  }
  assert(a == 3 * b);  // expect: safe assert
}

void wraps_not_by_half(unsigned b) {
  unsigned a = 2 * b;
  if (a == 0) assert(b == 0);  // expect: may fail assert
}

void forgotten_partner(int n) {
  if (n < 0) return;
  int x = n, y = 0;
  while (x > 0) { x--; y++; }
  assert(y == n);  // expect: safe assert
}

void of_four(int y) {
  if (y < 0 || y > 1000) return;
  int x = 4 * y;
  while (x > 0) { x -= 4; y--; }
  assert(y >= 0);  // expect: safe assert
}

void excluded(int x, int y) {
  int i = x, j = y;
  while (x != 0) { x--; y--; }
  if (y != 0) assert(i != j);  // expect: safe assert
}

void exact_quotient(void) {
  int i = 0;
  while (unknown() && i < 1000) i += 4;
  int j = i / 4;
  assert(j * 4 == i);  // expect: safe assert
}

void fields(void) {
  struct { int a, b; } s;
  s.a = 1;
  s.b = 2;
  s.a = s.b + 1;
  assert(s.a == 3 && s.b == 2);  // expect: safe assert
}

union both { int whole; short half; };
void overlapping(union both *given) {
  union both u = *given;
  u.whole = 1;
  u.half = 0;
  assert(u.whole == 1);  // expect: may fail assert
}

void first_side_holds(int x) {
  int y = x;
  y++;
  assert(y == x + 1 || x == 7);  // expect: safe assert
}

void second_side_never_holds(int x) {
  if (x == 9) return;
  assert(x > 5 || x == 9);  // expect: may fail assert
}

void no_side_holds(int x) {
  if (x > 3) return;
  assert(x > 5 || x == 9);  // expect: fails always assert
}

void both_sides_hold(int x, int y) {
  if (x < 1 || y < 2) return;
  assert((x > 0 && y > 1) || x == y);  // expect: safe assert
}

static void positive(int x) {
  assert(x > 0);  // expect: may fail assert
}

void two_callers(void) {
  positive(1);
  positive(-1);
}

int same_test_twice(int c, int x) {
  int n = 5;
  if (c > 3) n = 0;
  for (int i = 0; i < x; i++) unknown();
  if (c > 3) return 0;
  return 10 / n;  // expect: safe division
}

void chosen_by_a_flag(int c) {
  int ok = c > 3 && c < 10;
  int y = 0;
  if (ok) y = c;
  if (y != 0) assert(y > 3);  // expect: safe assert
}

void chosen_by_another_flag(int c, int d) {
  int ok = c > 3 && c < 10;
  int y = 0;
  if (ok || d) y = c;
  if (y != 0) assert(y > 3);  // expect: may fail assert
}

void rounds_change_it(int c, int x) {
  int n = 1;
  for (int i = 0; i < x; i++) {
    if (c > 3) n = 0;
    if (c > -1000) c--;
  }
  if (c <= 4) assert(n == 1);  // expect: may fail assert
}

void rounds_do_not_change_it(int c, int x) {
  int n = 1;
  for (int i = 0; i < x; i++) {
    if (c > 3) n = i - 1;
  }
  if (c <= 3) assert(n == 1);  // expect: safe assert
}

static int never_written, five = 5;
int by_a_flag_never_written(int x) {
  if (never_written) return 100 / x;  // expect: unreachable division
  unknown();
  return 100 / five;  // expect: safe division
}

static int written_elsewhere = 5;
void writes(void) { written_elsewhere = 0; }
int by_a_flag_that_is_written(void) {
  return 100 / written_elsewhere;  // expect: may fail division
}

static int constant(void) { return 5; }
int by_a_constant_function(int x) {
  if (constant() != 5) return 100 / x;  // expect: unreachable division
  return 100 / (constant() - 4);        // expect: safe division
}

int sum_of_parameter(const int *a, int n) {
  int sum = 0;
  if (!a) return 0;
  for (int i = 0; i < n; i++) sum ^= a[i];  // expect: safe bounds
  return sum;
}

extern long total;
void sum_of_too_many(const long *given, long count) {
  if (!given) return;
  for (long i = 0; i <= count; i++) total ^= given[i];
}

static int sum_of_some(const int *a, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum ^= a[i];  // expect: may fail bounds
  return sum;
}

int calls_with_too_many(int x) {
  int local[4] = {1, 2, x, x};
  return sum_of_some(local, 5) + sum_of_some(local, 4);
}

int through_a_pointer(int (*callee)(int *), int x) {
  int mine = 3, hidden = 4;
  shared = 5;
  x = callee(&mine);
  assert(hidden == 4);  // expect: safe assert
  assert(mine == 3);    // expect: may fail assert
  assert(shared == 5);  // expect: may fail assert
  return x;
}

static int called_with(int x) { return x; }
int called_through(int (*f)(int), int which) {
  int (*g)(int) = which ? called_with : 0;
  if (which) which = f(1);  // expect: may fail null
  if (g) which += g(2);  // expect: safe null
  int (*none)(int) = 0;
  if (which > 100) return none(3);  // expect: fails always null
  return which;
}
