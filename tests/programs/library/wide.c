#include "probe.h"
#include <ctype.h>
#include <wchar.h>
#include <locale.h>
#include <iconv.h>
#include <nl_types.h>
#include <signal.h>
#include <search.h>
#include <time.h>
#include <malloc.h>
#include <execinfo.h>
#include <dlfcn.h>
#include <unistd.h>

static wchar_t wide[64] = L"one two", target[64];
static char text[64] = "12.5x", out[64], back[64];

int main(void) {
  PROBE(wide);
  PROBE(wide + 3);
  PROBE(wide + 4);
  PROBE(wcsrchr(wide, L' '));
  PROBE(wcspbrk(wide, L" "));
  PROBE(target);
  PROBE(target + 3);
  PROBE(wcsncpy(target, wide, 3));
  PROBE(wcpncpy(target, L"abc", 3));
  PROBE(wcscat(target, L"x"));
  PROBE(wcsncat(target, L"x", 1));
  PROBE(wmemmove(target, wide, 3));
  PROBE(wmemset(target, L'x', 3));
  PROBE(wcsdup(wide));
  PROBE(strfry(back));
  PROBE(memfrob(back, 4));
  PROBE(back);
  swab(text, out, 4);
  char *end;
  wchar_t *wide_end, numbers[] = L"12.5x";
  PROBE(text + 4);
  strtof(text, &end);
  PROBE(end);
  strtold(text, &end);
  PROBE(end);
  PROBE(numbers + 4);
  wcstod(numbers, &wide_end);
  PROBE(wide_end);
  wcstof(numbers, &wide_end);
  PROBE(wide_end);
  wcstold(numbers, &wide_end);
  PROBE(wide_end);
  PROBE(numbers + 2);
  wcstol(numbers, &wide_end, 10);
  PROBE(wide_end);
  wcstoll(numbers, &wide_end, 10);
  PROBE(wide_end);
  wcstoull(numbers, &wide_end, 10);
  PROBE(wide_end);
  const char *narrow = text;
  mbsnrtowcs(target, &narrow, 2, 2, &(mbstate_t){0});
  PROBE(narrow);
  PROBE(text + 2);
  const wchar_t *from = wide;
  wcsnrtombs(out, &from, 3, 3, &(mbstate_t){0});
  PROBE(from);
  iconv_t converter = iconv_open("UTF-8", "ASCII");
  PROBE(converter);
  char *input = text, *output = out;
  size_t n_input = 2, n_output = sizeof out;
  iconv(converter, &input, &n_input, &output, &n_output);
  PROBE(input);
  PROBE(output);
  PROBE(out + 2);
  locale_t locale = newlocale(LC_ALL_MASK, "C", 0);
  PROBE(locale->__ctype_b);
  const unsigned short *classes = locale->__ctype_b;
  PROBE(classes);
  PROBE(locale);
  locale_t before = uselocale(locale);
  PROBE(uselocale(before));
  PROBE(before);
  PROBE(duplocale(locale));
  PROBE(catgets((nl_catd)-1, 1, 1, text));
  PROBE(text);
  PROBE(*__ctype_toupper_loc());
  PROBE(*__ctype_toupper_loc());
  PROBE(strerrorname_np(2));
  PROBE(strerrordesc_np(2));
  PROBE(strerror(2));
  PROBE(sigdescr_np(2));
  PROBE(strsignal(2));
  PROBE(sigabbrev_np(2));
  PROBE(calloc(1, 8));
  PROBE(memalign(64, 64));
  PROBE(valloc(64));
  PROBE(pvalloc(64));
  void *frames[4];
  int depth = backtrace(frames, 4);
  char **symbols = backtrace_symbols(frames, depth);
  if (symbols)
    PROBE(symbols[0]);
  dlopen("/no/such/library.so", RTLD_NOW);
  char *complaint = dlerror();
  PROBE(complaint);
  struct tm when = {.tm_year = 70, .tm_mday = 1};
  timelocal(&when);
  PROBE(when.tm_zone);
  tzset();
  PROBE(tzname[0]);
  PROBE(tzname[1]);
  return 0;
}
