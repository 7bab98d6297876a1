/* What the clients of dataflow analysis say, each once. */
#include <stdio.h>
#include <stdlib.h>

static int limit = 3; /* nothing sets it */

static int first(int *numbers) {
  if (numbers == NULL) puts("none");
  return *numbers; // expect: dataflow/null-dereference
}

static int share(int n) {
  int parts = n > 9 ? n : 0;
  return 100 / parts; // expect: dataflow/division-by-zero
}

static int chosen(int n) {
  int which;
  if (n > 2) which = n;
  return which + 1; // expect: dataflow/uninitialised
}

static int asked(void) {
  return system(getenv("ASKED")); // expect: dataflow/tainted-use
}

static int small(int n) {
  if (limit > 5) // expect: dataflow/decided-condition
    return n; // expect: dataflow/dead-code
  return n & 1;
}

static void *made(const char *text) {
  unsigned n = (unsigned)atoi(text);
  return malloc(n * 8); // expect: dataflow/overflowing-size expect: dataflow/tainted-use
}

static int *current;

static void forget(void) { current = NULL; }

static int used(int n) {
  int sum = n + rand(); // expect: dataflow/dead-store
  return *current; // expect: dataflow/possible-null
}

int main(int argc, char **argv) {
  int numbers[1] = {argc};
  current = numbers;
  argc += used(argc);
  forget();
  free(made(argv[1]));
  return first(argc > 3 ? numbers : NULL) + share(argc) + chosen(argc) + asked() + small(argc);
}
