/* Strings: tables of literals, pointers into them, splitting in place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alias.h"

static const char *const days[] = {"mon", "tue", "wed"};
static char text[] = "alpha=1;beta=2";

int main(void) {
  char *save = NULL, *fields[2];
  int n = 0, sum = 0;
  for (char *f = strtok_r(text, ";", &save); f; f = strtok_r(NULL, ";", &save)) fields[n++] = f;
  for (int i = 0; i < n; i++) {
    char *equals = strchr(fields[i], '=');
    if (!equals) return 1;
    *equals = '\0';
    sum += (int)strtol(equals + 1, &save, 10);
    MAYALIAS(save, text);
  }
  const char *day = days[sum % 3], *tail = strrchr(day, 'n');
  MAYALIAS(fields[1], text + 8);
  NOALIAS(day, text);
  char other[] = "one two", *word = strtok(other, " ");
  MAYALIAS(word, other);
  word = strtok(NULL, " ");
  printf("%s %s %s %d %s\n", fields[0], fields[1], day, sum, word);
  return tail == day + 2 && !strcmp(word, "two") ? 0 : 1;
}
