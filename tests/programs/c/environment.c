/* What comes from outside: the command line, the environment, time, formatted text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alias.h"

static char buffer[64];

int main(int argc, char **argv) {
  const char *program = argc > 0 ? argv[0] : "";
  const char *base = strrchr(program, '/');
  base = base ? base + 1 : program;
  MAYALIAS(base, program);
  NOALIAS(base, buffer);
  const char *home = getenv("HOME");
  if (home && !strchr(home, '/')) home = NULL;
  NOALIAS(home, buffer);
  time_t zero = 0;
  struct tm *date = gmtime(&zero);
  char *text = date ? strcpy(buffer, "year ") : buffer;
  MAYALIAS(text, buffer);
  int n = sprintf(text + 5, "%d", date ? date->tm_year : 0);
  char *number = strstr(buffer, "70");
  printf("%s %d\n", buffer, n);
  return number == buffer + 5 && *base ? 0 : 1;
}
