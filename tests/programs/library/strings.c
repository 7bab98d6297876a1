#include "probe.h"
#include <ctype.h>
#include <wchar.h>
#include <libgen.h>
#include <errno.h>
#include <argz.h>
#include <envz.h>

static char text[] = "one two,three/four", copy[64], other[64], path[] = "/usr/lib", path2[] = "/usr/lib";
static wchar_t wide[] = L"one two", wide_copy[32];
struct pair { char *first, *second; };
static struct pair pair = {text, copy}, pair_copy, pair_moved, pair_parts;

int main(void) {
  PROBE(text);
  PROBE(text + 4);
  PROBE(text + 3);
  PROBE(strchr(text, 't'));
  PROBE(strrchr(text, ' '));
  PROBE(strstr(text, "two"));
  PROBE(strcasestr(text, "TWO"));
  PROBE(strpbrk(text, " "));
  PROBE(strchrnul(text, ' '));
  PROBE(index(text, ' '));
  PROBE(rindex(text, ' '));
  PROBE(memchr(text, ' ', sizeof text));
  PROBE(rawmemchr(text, ' '));
  PROBE(memrchr(text, ' ', 5));
  PROBE(memmem(text, sizeof text, "two", 3));
  PROBE(strcpy(copy, text));
  PROBE(strncpy(copy, text, 8));
  PROBE(strcat(copy, "x"));
  PROBE(strncat(copy, "x", 1));
  PROBE(copy);
  PROBE(stpcpy(copy, "abc"));
  PROBE(stpncpy(copy, "abc", 3));
  PROBE(copy + 3);
  PROBE(mempcpy(copy, text, 3));
  PROBE(memcpy(copy, text, 4));
  PROBE(memmove(copy, text, 4));
  PROBE(memset(copy, 0, 4));
  PROBE(memccpy(copy, text, ' ', 10));
  PROBE(copy + 4);
  strcpy(copy, "a b c");
  PROBE(strtok(copy, " "));
  PROBE(strtok(0, " "));
  PROBE(copy + 2);
  strcpy(other, "a b c");
  char *state = 0;
  PROBE(strtok_r(other, " ", &state));
  PROBE(state);
  PROBE(strtok_r(0, " ", &state));
  PROBE(other);
  PROBE(other + 2);
  strcpy(other, "a b c");
  char *list = other;
  PROBE(strsep(&list, " "));
  PROBE(list);
  char *duplicate = strdup(text), *bounded = strndup(text, 3);
  PROBE(duplicate);
  PROBE(bounded);
  PROBE(strerror(ENOENT));
  PROBE(strerror(ENOENT));
  PROBE(strerror_r(ENOENT, copy, sizeof copy));
  PROBE(strsignal(2));
  PROBE(basename(path));
  PROBE(path + 5);
  PROBE(dirname(path2));
  PROBE(path2);
  char *end;
  strtol("12x" + 0, &end, 10);
  static char number[] = "12x";
  strtol(number, &end, 10);
  PROBE(end);
  strtod(number, &end);
  PROBE(end);
  strtoull(number, &end, 10);
  PROBE(end);
  PROBE(number + 2);
  PROBE(__ctype_b_loc());
  PROBE(*__ctype_b_loc());
  PROBE(*__ctype_tolower_loc());

  PROBE(wide);
  PROBE(wide + 3);
  PROBE(wcschr(wide, L' '));
  PROBE(wcsstr(wide, L" two"));
  PROBE(wmemchr(wide, L' ', 7));
  PROBE(wcscpy(wide_copy, wide));
  PROBE(wmemcpy(wide_copy, wide, 4));
  PROBE(wide_copy);
  PROBE(wcpcpy(wide_copy, L"abc"));
  PROBE(wmempcpy(wide_copy, wide, 3));
  PROBE(wide_copy + 3);
  wchar_t *wide_state;
  PROBE(wcstok(wide, L" ", &wide_state));
  PROBE(wide_state);
  PROBE(wide + 4);
  const char *narrow = text;
  mbsrtowcs(wide_copy, &narrow, 3, &(mbstate_t){0});
  PROBE(narrow);
  const wchar_t *from = wide;
  wcsrtombs(copy, &from, 2, &(mbstate_t){0});
  PROBE(from);
  PROBE(wide + 2);

  memcpy(&pair_copy, &pair, sizeof pair);
  memmove(&pair_moved, &pair, sizeof pair);
  bcopy(&pair, &pair_parts, 8);
  mempcpy((char *)&pair_parts + 8, (char *)&pair + 8, 8);
  PROBE(pair_copy.first);
  PROBE(pair_moved.second);
  PROBE(pair_parts.first);
  PROBE(pair_parts.second);

  char *argz;
  size_t length;
  if (!argz_create((char *[]){"a", "b", 0}, &argz, &length)) {
    PROBE(argz);
    PROBE(argz_next(argz, length, 0));
    PROBE(argz_next(argz, length, argz));
    PROBE(argz + 2);
  }
  return 0;
}
