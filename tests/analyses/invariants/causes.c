/* Why checks are open. `// expect: kind: words` is what is said of the check on its line; the line
 * that is named there is the one marked `// origin`, of the same function or with the same word. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int any(void);
double real(void);
void *outside(int);
extern int shared[];
static int table[8];

/* A result of a function that nobody knows. */
static int result(void) {
  int i = any();                     // origin result
  return table[i];                   // expect result: bounds: what any returns
}
/* A constant that is too large, passed by one of two calls. */
static int passed(int i) { return table[i]; }  // expect passed: bounds: passes 9 as the parameter 'i'
static int passes(void) {
  int good = passed(3);
  return good + passed(9);           // origin passed
}
/* A test that is too weak. */
static int tested(void) {
  int i = any();
  if (i < 0 || i > 8)                // origin tested
    return 0;
  return table[i];                   // expect tested: bounds: bounds 'i' by no more
}
/* Memory: one store of any value. */
static int where;
static void sets(int i) { if (i >= 0) where = i; }
static int stored(void) {
  sets(any());                       // origin stored
  return table[where];               // expect stored: bounds: what any returns
}
/* Memory: one store of a constant. */
static int last = 3;
static void finds(void) { last = 12; }  // origin constant
static int constant(void) {
  finds();
  return table[last];                // expect constant: bounds: stores 12 in last
}
/* A loop without a limit. */
static int looped(void) {
  int i = 0;
  while (any())                      // origin looped
    i++;
  return table[i];                   // expect looped: bounds: changes 'i' each time around
}
/* A null pointer that a function returns. */
static int *found(int c) {
  if (c)
    return 0;                        // origin returned
  return table;
}
static int returned(void) { return *found(any()); }  // expect returned: null: it is null
/* A null pointer that is stored. */
static int *kept = table;
static void drops(void) { kept = 0; }  // origin dropped
static int dropped(void) {
  drops();
  return *kept;                      // expect dropped: null: stores null in kept
}
/* What an allocator returns. */
static int *made(void) {
  int *p = malloc(sizeof *p);        // origin made
  *p = 1;                            // expect made: null: what malloc returns
  return p;
}
/* A size that is not known. */
static char sized(void) {
  int n = any();                     // origin sized
  char *p = malloc((unsigned long)n);
  if (!p) return 0;
  p[0] = 1;                          // expect sized: bounds: what any returns
  char c = p[0];
  free(p);
  return c;
}
/* A pointer from outside. */
static int pointer(void) {
  int *p = outside(1);               // origin pointer
  if (!p) return 0;
  return p[0];                       // expect pointer: bounds: what outside returns
}
/* A divisor that may be 0 on one way. */
static int divided(int c) {
  int d = 2;
  if (c)
    d = 0;                           // origin divided
  return 100 / d;                    // expect divided: division: it is 0
}
/* A shift by what was read. */
static int shifted(void) {
  int by = any();                    // origin shifted
  return 1 << by;                    // expect shifted: shift: what any returns
}
/* A sum of what was read. */
static int summed(void) {
  int a = any();                     // origin summed
  return a + 1;                      // expect summed: overflow: what any returns
}
/* Storage that was freed. */
static int freed(void) {
  int *p = malloc(4);
  if (!p) return 0;
  *p = 1;
  free(p);                           // origin freed
  return *p;                         // expect freed: freed: free
}
/* A local that is not written on every way. */
static int unwritten(int c) {
  int a[2];
  if (c) a[c & 1] = 1;
  return a[0];                       // expect unwritten: uninitialised: begins with nothing written
}
/* An array whose length is not known. */
static int declared(void) { return shared[0]; }  // expect declared: bounds: the size of 'shared'
/* A floating-point number that does not fit. */
static int converted(void) {
  double x = real();                 // origin converted
  return (int)x;                     // expect converted: conversion: what real returns
}
/* An assertion. */
void __assert_fail(const char *, const char *, unsigned, const char *);
static int asserted(void) {
  int i = any();                     // origin asserted
  if (!(i < 7)) __assert_fail("i < 7", "causes.c", 1, "f");  // expect asserted: assert: what any returns
  return 0;
}
/* A length of memory. */
static int copied(char *from) {
  char to[8];
  unsigned n = (unsigned)any();      // origin copied
  memset(to, 0, n);                  // expect copied: bounds: what any returns
  return to[0] + from[0];
}
/* What the program is called with. */
static int entered(int i) { return table[i]; }  // expect entered: bounds: is what the program is called with
/* Memory that code outside has. */
static int through(void) {
  int *p = outside(2), n = 3;
  outside(n);
  if (!p) return 0;
  return 7 / *p;                     // expect through: division: is read
}

int main(int argc, char **argv) {
  char text[8] = "abc";
  return result() + passes() + tested() + stored() + constant() + looped() + returned() + dropped()
    + *made() + sized() + pointer() + divided(argc) + shifted() + summed() + freed()
    + unwritten(argc) + declared() + converted() + asserted() + copied(text) + entered(argc) + through();
}
