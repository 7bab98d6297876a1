/* Streams and lines: memory that the library makes and fills for its caller. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alias.h"

int main(void) {
  static char text[] = "red\ngreen\n";
  FILE *stream = tmpfile(), *same = stream;
  char *line = NULL, *made = NULL, short_line[8];
  size_t room = 0;
  if (!stream || fputs(text, stream) < 0) return 1;
  rewind(stream);
  MAYALIAS(stream, same);
  NOALIAS(stream, text);
  if (getline(&line, &room, same) != 4) return 1;
  NOALIAS(line, text);
  char *got = fgets(short_line, sizeof short_line, stream);
  MAYALIAS(got, short_line);
  if (asprintf(&made, "%.3s %s", line, got ? got : "") < 0) return 1;
  NOALIAS(made, line);
  int n = printf("%s", made);
  free(made);
  free(line);
  fclose(stream);
  return n == 10 ? 0 : 1;
}
