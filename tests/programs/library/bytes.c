/* Pointers whose bytes are copied as text, by characters, or through memory of files. */
#include "probe.h"
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

static int things[0x40];
#define THING(i) ((void *)&things[i])
union pointer { void *pointer; char text[sizeof(void *) + 1]; wchar_t wide[4]; };

static void *from_text(const char *text) {
  static union pointer found;
  found.pointer = 0;
  strncpy(found.text, text, sizeof found.text);
  return found.pointer;
}

static void *printed(const char *format, ...) {
  union pointer found = {0};
  va_list list;
  va_start(list, format);
  vsnprintf(found.text, sizeof found.text, format, list);
  va_end(list);
  return found.pointer;
}

static void *written(FILE *file, const char *format, ...) {
  union pointer found = {0};
  va_list list;
  va_start(list, format);
  rewind(file);
  vfprintf(file, format, list);
  va_end(list);
  rewind(file);
  fgets(found.text, sizeof found.text, file);
  rewind(file);
  return found.pointer;
}

static void *scanned(const char *text, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsscanf(text, format, list);
  va_end(list);
  return 0;
}

static ucontext_t home, there;
static char stack[1 << 16];
static void in_context(void *first, void *second) {
  PROBE(first);
  PROBE(second);
}

static int in_clone(void *argument) {
  PROBE(argument);
  return 0;
}

int main(void) {
  union pointer in, out = {0};
#define COPIED(i, statement) in.pointer = THING(i), out.pointer = 0, in.text[8] = 0, (statement);
  COPIED(1, strcpy(out.text, in.text))
  PROBE(out.pointer);
  COPIED(2, strcat(out.text, in.text))
  PROBE(out.pointer);
  COPIED(3, stpcpy(out.text, in.text))
  PROBE(out.pointer);
  COPIED(4, snprintf(out.text, 9, "%s", in.text))
  PROBE(out.pointer);
  COPIED(5, sprintf(out.text, "%.9s", in.text))
  PROBE(out.pointer);
  COPIED(6, out.pointer = from_text(in.text))
  PROBE(out.pointer);
  COPIED(7, out.pointer = printed("%s", in.text))
  PROBE(out.pointer);
  COPIED(8, out.pointer = from_text(strdup(in.text)))
  PROBE(out.pointer);
  COPIED(9, sscanf(in.text, "%8c", out.text))
  PROBE(out.pointer);
  COPIED(10, scanned(in.text, "%8c", out.text))
  PROBE(out.pointer);
  char *made = 0;
  COPIED(11, asprintf(&made, "%s", in.text))
  PROBE(from_text(made));
  wmemcpy(out.wide, (in.pointer = THING(12), in.wide), 2);
  PROBE(out.pointer);
  wmemmove(out.wide, (in.pointer = THING(13), in.wide), 2);
  PROBE(out.pointer);
  wmempcpy(out.wide, (in.pointer = THING(14), in.wide), 2);
  PROBE(out.pointer);
  in.pointer = THING(15), in.wide[2] = 0, out.pointer = 0;
  wcscpy(out.wide, in.wide);
  PROBE(out.pointer);
  in.pointer = THING(16), out.pointer = 0;
  wcpcpy(out.wide, in.wide);
  PROBE(out.pointer);
  in.pointer = THING(17);
  PROBE(((union pointer *)wcsdup(in.wide))->pointer);

  FILE *file = tmpfile();
#define RETURNED(i, write, read) \
  in.pointer = THING(i), in.text[8] = 0, out.pointer = 0, rewind(file), (write), rewind(file), (read);
  RETURNED(20, fputs(in.text, file), fgets(out.text, 9, file))
  PROBE(out.pointer);
  RETURNED(21, fprintf(file, "%s", in.text), fread(out.text, 1, 8, file))
  PROBE(out.pointer);
  RETURNED(22, fwrite(in.text, 1, 8, file), fscanf(file, "%8c", out.text))
  PROBE(out.pointer);
  in.pointer = THING(23), in.text[8] = 0;
  PROBE(written(file, "%s", in.text));
  size_t room = 0;
  char *line = 0;
  RETURNED(24, fwrite(in.text, 1, 9, file), getdelim(&line, &room, 0, file))
  PROBE(from_text(line));

  char *stream = 0;
  size_t size = 0;
  FILE *memory = open_memstream(&stream, &size);
  in.pointer = THING(30);
  fwrite(&in, 1, sizeof in, memory);
  fflush(memory);
  PROBE(((union pointer *)stream)->pointer);
  static union pointer fixed;
  FILE *over = fmemopen(&fixed, sizeof fixed, "w+");
  in.pointer = THING(31);
  fwrite(&in, 1, sizeof in, over);
  fflush(over);
  PROBE(fixed.pointer);
  static union pointer source = {THING(32)};
  FILE *of = fmemopen(&source, sizeof source, "r");
  fread(&out, 1, sizeof out, of);
  PROBE(out.pointer);

  int shared = memfd_create("x", 0);
  ftruncate(shared, 4096);
  void **once = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
  void **twice = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
  once[0] = THING(33);
  PROBE(twice[0]);
  in.pointer = THING(34);
  pwrite(shared, &in, sizeof in, 8);
  PROBE(twice[1]);
  once[2] = THING(35);
  pread(shared, &out, sizeof out, 16);
  PROBE(out.pointer);
  void **own = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  PROBE(own);
  PROBE(mremap(own, 4096, 8192, MREMAP_MAYMOVE));
  uint64_t counted = 0;
  int counter = eventfd(0, 0);
  eventfd_write(counter, (uintptr_t)THING(36));
  eventfd_read(counter, &counted);
  PROBE((void *)counted);

  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, 0);
  int signals = signalfd(-1, &set, 0);
  sigqueue(getpid(), SIGUSR1, (union sigval){.sival_ptr = THING(37)});
  static struct signalfd_siginfo about;
  read(signals, &about, sizeof about);
  PROBE((void *)(uintptr_t)about.ssi_ptr);

  getcontext(&there);
  there.uc_stack.ss_sp = stack, there.uc_stack.ss_size = sizeof stack, there.uc_link = &home;
  makecontext(&there, (void (*)(void))in_context, 2, THING(38), THING(39));
  swapcontext(&home, &there);
  waitpid(clone(in_clone, stack + sizeof stack, CLONE_VM | SIGCHLD, THING(40)), 0, 0);
  for (int i = 0; i < 0x40; i++)
    PROBE(&things[i]);
  return 0;
}
