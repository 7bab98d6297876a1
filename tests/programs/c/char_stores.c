/* Pointers stored through char pointers at computed offsets. */
#include <stddef.h>
#include <stdio.h>

#include "alias.h"

struct options {
  int verbose;
  const char *name;
  int *level;
};
struct option {
  const char *key;
  size_t offset;
};
static const struct option table[] = {{"name", offsetof(struct options, name)},
                                      {"level", offsetof(struct options, level)}};

static void set(struct options *options, int which, const void *value) {
  char *place = (char *)options + table[which].offset;
  *(const void **)place = value;
}

int main(void) {
  struct options options = {0, NULL, NULL};
  int level = 4, other = 5;
  char text[] = "text";
  set(&options, 0, text);
  set(&options, 1, &level);
  MAYALIAS(options.level, &level);
  MAYALIAS(options.name, text);
  NOALIAS(options.level, &other);
  printf("%s %d\n", options.name, *options.level);
  return *options.level == 4 && options.name == text ? 0 : 1;
}
