// Accesses outside of locals whose address nobody else knows, which LLVM would leave out.
#include <string.h>
struct pair { int x, y; };
struct box { int a[2]; struct pair p; };

int behind(void) {
  int a[2] = {1, 2};
  return a[2];                                // expect: fails always bounds
}

int written(int n) {
  int a[2] = {1, 2};
  a[2] = n;                                   // expect: fails always bounds
  return a[0];
}

int by_pointer(void) {
  int a[2] = {1, 2}, *p = a + 2;
  return *p;                                  // expect: fails always bounds
}

int before(void) {
  int a[2] = {1, 2}, *p = a;
  return p[-1];                               // expect: fails always bounds
}

int of_struct(void) {
  struct box b;
  b.a[7] = 2;                                 // expect: fails always bounds
  return b.a[7];
}

int next_struct(void) {
  struct pair x = {1, 2}, *y = &x;
  int n = y->y;                               // expect: safe bounds
  return n + (y + 1)->x;                      // expect: fails always bounds
}

int of_scalar(void) {
  int x = 1;
  return (&x)[1];                             // expect: fails always bounds
}

int chosen(int n) {
  int a[2] = {1, 2}, b[3] = {0};
  int *p = n ? a : b;
  return p[2];                                // expect: may fail bounds
}

int too_wide(void) {
  short s = 2;
  return *(int *)&s;                          // expect: fails always bounds
}

int wide_at_the_end(void) {
  char a[8] = {0};
  return *(int *)(a + 6);                     // expect: fails always bounds
}

int filled(int n) {
  int a[2];
  memset(a, 0, sizeof a + 4);                 // expect: fails always bounds
  return a[n & 1];
}

int copied(void) {
  int a[2], b[4] = {0};
  memcpy(a, b, sizeof b);                     // expect: fails always bounds, safe bounds
  return a[0];
}

int matrix(void) {
  int a[2][3] = {{1, 2}};
  return a[1][2] + a[0][1];
}

int inside(void) {
  struct box b;
  b.a[1] = 2;
  b.p.y = 2;
  return b.a[1] + b.p.y;
}
