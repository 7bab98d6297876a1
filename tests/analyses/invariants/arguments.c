/* Arguments of `main`: there are `argc`, and a null pointer behind them. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

static int count(char **list) {
  int n = 0;
  while (*list) {  // expect: safe bounds
    list++;
    if (n < 1000) n++;
  }
  return n;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char *end = strchr(argv[i], '=');  // expect: safe bounds, safe null
    if (end) puts(end + 1);
  }
  assert(argc >= 0);           // expect: safe assert
  assert(argv[argc] == 0);     // expect: safe assert, safe bounds
  if (argc > 1) puts(argv[1]); // expect: safe bounds, safe null
  char **p = argv;
  while (*p) p++;              // expect: safe bounds
  puts(*argv);                 // expect: safe bounds, may fail null
  count(argv);
  puts(argv[argc + 1]);        // expect: fails always bounds
  return 0;
}
