#include "probe.h"
#include <errno.h>
#include <stdarg.h>
#include <unistd.h>
#include <wchar.h>
#include <fcntl.h>
#include <netdb.h>

static int things[16];
static char text[128], other[128];
static wchar_t wide[128];

static void by_list(void *expected, const char *format, ...) {
  va_list list;
  void *found = 0;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  sscanf(text, "%p", &found);
  PROBE(expected);
  PROBE(found);
}
static void by_plain_list(void *expected, const char *format, ...) {
  va_list list;
  void *found = 0;
  va_start(list, format);
  vsprintf(text, format, list);
  va_end(list);
  sscanf(text, "%p", &found);
  PROBE(expected);
  PROBE(found);
}
static void scan_by_list(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsscanf(text, format, list);
  va_end(list);
}
static char *made_by_list(const char *format, ...) {
  va_list list;
  char *made = 0;
  va_start(list, format);
  vasprintf(&made, format, list);
  va_end(list);
  return made;
}

/* A file is written by one of the functions and read by the other; the same for wide characters. */
static FILE *file;
static void *through(int wide, void *pointer) {
  void *found = 0;
  rewind(file);
  if (wide ? fwscanf(file, L"%p", &found) : fscanf(file, "%p", &found))
    PROBE(found);
  file = tmpfile();
  PROBE(pointer);
  return found;
}
static void list_to_file(int wide, void *pointer, ...) {
  va_list list;
  va_start(list, pointer);
  if (wide)
    vfwprintf(file, L"%p", list);
  else
    vfprintf(file, "%p", list);
  va_end(list);
  through(wide, pointer);
  va_start(list, pointer);
  vdprintf(dup(fileno(file)), "%p", list);
  va_end(list);
  through(0, pointer);
}
static void list_to_output(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
}
static void list_to_wide(void *pointer, ...) {
  va_list list;
  void *found = 0;
  va_start(list, pointer);
  vswprintf(wide, 128, L"%p", list);
  va_end(list);
  swscanf(wide, L"%p", &found);
  PROBE(pointer);
  PROBE(found);
}
static void list_from_file(const char *format, ...) {
  va_list list;
  rewind(file);
  va_start(list, format);
  vfscanf(file, format, list);
  va_end(list);
}
static void list_from_input(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vscanf(format, list);
  va_end(list);
}
static void at_the_end(void) { PROBE(at_the_end); }

int main(void) {
  void *found = 0;
  atexit(at_the_end);
  PROBE(at_the_end);
  /* what goes to the output comes back by the input */
  FILE *round = freopen("/tmp/kleene-probe-printing", "w+", stdout);
  freopen("/tmp/kleene-probe-printing", "r", stdin);
  unlink("/tmp/kleene-probe-printing");
  printf("%p ", (void *)&things[13]);
  list_to_output("%p ", (void *)&things[14]);
  fflush(round);
  scanf("%p", &found);
  PROBE(found);
  PROBE(&things[13]);
  list_from_input("%p", &found);
  PROBE(found);
  PROBE(&things[14]);
  file = tmpfile();
  list_to_file(0, &things[15], (void *)&things[15]);
  list_to_file(1, &things[0], (void *)&things[0]);
  fwprintf(file, L"%p", (void *)&things[1]);
  through(1, &things[1]);
  list_to_wide(&things[2], (void *)&things[2]);
  fprintf(file, "%p", (void *)&things[4]);
  list_from_file("%p", &found);
  PROBE(found);
  PROBE(&things[4]);
  PROBE(&things[1]);
  sprintf(text, "%p", (void *)&things[1]);
  sscanf(text, "%p", &found);
  PROBE(found);
  PROBE(&things[2]);
  snprintf(text, sizeof text, "%s %*d %p", "word", 3, 1, (void *)&things[2]);
  sscanf(text, "%*s %*d %p", &found);
  PROBE(found);
  PROBE(&things[3]);
  snprintf(text, sizeof text, "%lu", (unsigned long)&things[3]);
  PROBE((void *)strtoul(text, 0, 10));
  PROBE((void *)atol(text));
  PROBE((void *)atoll(text));
  PROBE((void *)strtoumax(text, 0, 10));
  PROBE((void *)strtoimax(text, 0, 10));
  PROBE(&things[4]);
  sprintf(text, "%2$d %1$p", (void *)&things[4], 1);
  sscanf(text, "%*d %p", &found);
  PROBE(found);
  by_list(&things[5], "%p", (void *)&things[5]);
  by_plain_list(&things[6], "%p", (void *)&things[6]);
  sprintf(text, "%p", (void *)&things[7]);
  PROBE(&things[7]);
  scan_by_list("%p", &found);
  PROBE(found);
  PROBE(&things[8]);
  swprintf(wide, 128, L"%p", (void *)&things[8]);
  swscanf(wide, L"%p", &found);
  PROBE(found);
  PROBE((void *)wcstoul(wide, 0, 16));
  PROBE(&things[9]);
  file = tmpfile();
  fprintf(file, "%p\n", (void *)&things[9]);
  rewind(file);
  fscanf(file, "%p", &found);
  PROBE(found);
  PROBE(&things[10]);
  dprintf(fileno(file), "%p", (void *)&things[10]);
  PROBE(sscanf(made_by_list("%p", (void *)&things[11]), "%p", &found) ? found : 0);
  PROBE(&things[11]);
  char *allocated = 0;
  sscanf("some words", "%ms", &allocated);
  PROBE(allocated);
  char *made = 0;
  asprintf(&made, "%p", (void *)&things[12]);
  PROBE(&things[12]);
  sscanf(made, "%p", &found);
  PROBE(found);

  PROBE(fdopen(dup(1), "w"));
  PROBE(popen("true", "r"));
  wchar_t *stream = 0;
  size_t size;
  FILE *memory = open_wmemstream(&stream, &size);
  fputws(L"text", memory);
  fflush(memory);
  PROBE(stream);
  PROBE(fgetws(wide, 4, file));
  PROBE(wide);
  strcpy(text, "/tmp/kleeneXXXXXX");
  PROBE(mkdtemp(text));
  rmdir(text);
  PROBE(text);
  strcpy(other, "/tmp/kleeneXXXXXX");
  PROBE(mktemp(other));
  PROBE(other);
  PROBE(tempnam("/tmp", "k"));
  PROBE(get_current_dir_name());
  PROBE(canonicalize_file_name("/"));
  PROBE(&errno);
  PROBE(__errno_location());
  PROBE(&h_errno);
  PROBE(__h_errno_location());
  PROBE(hstrerror(1));
  PROBE(hstrerror(1));
  return 0;
}
