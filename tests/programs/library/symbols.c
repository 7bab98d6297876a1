/* What is found by name, what the system gave to the process, and what the library refers to. */
#include "probe.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <glob.h>
#include <libgen.h>
#include <langinfo.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>

extern char **environ;
int visible;
int *also_visible = &visible;
void called(void *argument) { PROBE(argument); }
void called_too(void *argument) { PROBE(argument); }
static const char *names[] = {"called_too", "visible"};

static void *opened(const char *path) { return opendir(path); }
static struct dirent *next(void *folder) { return readdir(folder); }
static void closed(void *folder) { closedir(folder); }
static char **symbols_of(void **found, int n) { return backtrace_symbols(found, n); }

int main(int n, char **arguments) {
  void (*function)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, "called");
  PROBE(function);
  PROBE(called);
  function(names);
  PROBE(names);
  PROBE(dlsym(RTLD_DEFAULT, "visible"));
  PROBE(&visible);
  int **pointer = dlsym(RTLD_DEFAULT, "also_visible");
  PROBE(*pointer);
  void *self = dlopen(0, RTLD_NOW);
  void (*other)(void *) = (void (*)(void *))dlsym(self, names[n - 1]);
  other(&names[1]);
  PROBE(&names[1]);
  PROBE(other);
  PROBE(called_too);
  char ***variable = dlsym(RTLD_DEFAULT, "environ");
  PROBE(variable);
  PROBE(&environ);
  PROBE(*variable);
  PROBE(environ);

  PROBE(program_invocation_name);
  PROBE(program_invocation_short_name);
  PROBE(arguments[0]);
  PROBE(basename(arguments[0]));
  PROBE(arguments + n + 1);
  PROBE(environ);
  PROBE(arguments[n + 1]);
  PROBE(environ[0]);
  PROBE((void *)getauxval(AT_EXECFN));
  PROBE((void *)getauxval(AT_EXECFN));
  PROBE((void *)getauxval(AT_RANDOM));
  PROBE((void *)getauxval(AT_RANDOM));

  static char empty[] = "";
  PROBE(dirname(empty));
  PROBE(__xpg_basename(empty));
  PROBE(nl_langinfo(RADIXCHAR));
  DIR *folder = opendir("/");
  struct dirent *entry = readdir(folder);
  PROBE(entry);
  PROBE(entry->d_name);
  glob_t paths = {.gl_opendir = opened, .gl_readdir = next, .gl_closedir = closed};
  paths.gl_lstat = lstat, paths.gl_stat = stat;
  glob("/pr*", GLOB_ALTDIRFUNC, 0, &paths);
  PROBE(paths.gl_pathv);

  void *frames[8];
  int depth = backtrace(frames, 8);
  char **texts = symbols_of(frames, depth);
  PROBE(texts);
  PROBE(texts[0]);
  Dl_info info;
  if (dladdr((void *)called, &info)) {
    PROBE(info.dli_saddr);
    PROBE(info.dli_sname);
  }
  return 0;
}
