/* GNU's C library beyond ISO C and POSIX. */
#include "probe.h"
#include <argp.h>
#include <argz.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <envz.h>
#include <gnu/libc-version.h>
#include <grp.h>
#include <libintl.h>
#include <locale.h>
#include <mcheck.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <obstack.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>
#include <wchar.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

int main(void);

static void expressions(void) {
  static struct re_pattern_buffer pattern;
  static struct re_registers registers;
  re_set_syntax(RE_SYNTAX_POSIX_EXTENDED);
  PROBE(re_compile_pattern("(a+)b", 5, &pattern) ? "" : pattern.buffer);
  static struct re_pattern_buffer copy;
  copy = pattern;
  PROBE(copy.buffer);
  re_search(&pattern, "xaab", 4, 0, 4, &registers);
  PROBE(registers.start);
  int *kept = registers.start;
  PROBE(kept);
  static struct re_registers others;
  re_match(&pattern, "aab", 3, 0, &others);
  PROBE(others.end);
  int *end = others.end;
  PROBE(end);
  static struct re_registers two, three;
  re_search_2(&pattern, "xa", 2, "ab", 2, 0, 4, &two, 4);
  PROBE(two.start);
  int *start = two.start;
  PROBE(start);
  re_match_2(&pattern, "a", 1, "ab", 2, 0, &three, 3);
  PROBE(three.start);
  int *from = three.start;
  PROBE(from);
  static regoff_t starts[30], ends[30];
  re_set_registers(&pattern, &registers, 30, starts, ends);
  PROBE(registers.start);
  PROBE(starts);
  PROBE(ends);
  PROBE(registers.end);
}

static char *word;
static int inner_input, outer_input;
static error_t parse_inner(int key, char *argument, struct argp_state *state) {
  if (key == 'i') {
    PROBE(argument);
    PROBE(state->input);
  }
  return key == 'i' ? 0 : ARGP_ERR_UNKNOWN;
}
static struct argp_option inner_options[] = {{"inner", 'i', "WORD", 0, "inner"}, {0}};
static struct argp inner = {inner_options, parse_inner};
static struct argp_child children[] = {{&inner}, {0}};
static error_t parse_outer(int key, char *argument, struct argp_state *state) {
  if (key == ARGP_KEY_INIT) {
    state->child_inputs[0] = &inner_input;
    PROBE(state->root_argp);
    PROBE(state->input);
    PROBE(state->argv);
    PROBE(state->name);
  }
  if (key == ARGP_KEY_ARG) {
    PROBE(argument);
    word = argument;
  }
  return key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}
static char *filtered(int key, const char *text, void *input) {
  PROBE(text);
  return (char *)text;
}
static char documentation[] = "what it is for";
static struct argp helped = {0, 0, 0, documentation, 0, filtered};
static struct argp outer = {0, parse_outer, "WORD", "doc", children};
static void arguments(void) {
  static char name[] = "program", option[] = "--inner=x", last[] = "last";
  static char *words[] = {name, option, last, 0};
  PROBE(name);
  PROBE(option + 8);
  PROBE(last);
  PROBE(words);
  PROBE(&outer);
  PROBE(&outer_input);
  PROBE(&inner_input);
  PROBE(documentation);
  argp_help(&helped, stderr, ARGP_HELP_DOC, name);
  argp_parse(&outer, 3, words, 0, 0, &outer_input);
  PROBE(word);
}

static void vectors(void) {
  static char *words[] = {"a", "b=1", 0};
  char *argz, *envz = 0;
  size_t length, envz_length = 0;
  argz_create(words, &argz, &length);
  PROBE(argz);
  PROBE(argz_next(argz, length, 0));
  PROBE(argz_next(argz, length, argz));
  PROBE(argz + 2);
  char *list[4];
  argz_extract(argz, length, list);
  PROBE(list[0]);
  PROBE(list[1]);
  PROBE(envz_entry(argz, length, "b"));
  PROBE(envz_get(argz, length, "b"));
  PROBE(argz + 4);
  envz_add(&envz, &envz_length, "name", "value");
  PROBE(envz);
  char *same = envz;
  PROBE(same);
  char *separated;
  argz_create_sep("a:b", ':', &separated, &length);
  PROBE(separated);
  char *again = separated;
  PROBE(again);
}

static char *chunks[99];
static int n_chunks;
static void *chunk(void *extra, size_t size) {
  PROBE(extra);
  PROBE(chunks[n_chunks] = calloc(1, size));
  return chunks[n_chunks++];
}
static void dropped(void *extra, void *old) { PROBE(old); }
static void formatted(struct obstack *stack, char *format, ...) {
  va_list list;
  va_start(list, format);
  obstack_vprintf(stack, format, list);
  va_end(list);
}
static void stacks(void) {
  static struct obstack plain, own;
  obstack_init(&plain);
  char *first = obstack_alloc(&plain, 8);
  PROBE(first);
  PROBE((char *)plain.chunk->contents);
  char **held = obstack_alloc(&plain, sizeof *held);
  *held = first;
  PROBE(*held);
  obstack_ptr_grow(&plain, first);
  for (int i = 0; i < 700; i++) obstack_ptr_grow(&plain, (void *)0);
  char **grown = obstack_finish(&plain);
  PROBE(grown[0]);
  static int extra;
  PROBE(&extra);
  obstack_specify_allocation_with_arg(&own, 200, 8, chunk, dropped, &extra);
  PROBE(own.chunk);
  char *base = obstack_alloc(&own, 8);
  for (int i = 0; i < 40; i++) obstack_alloc(&own, 40);
  PROBE(own.chunk->prev);
  PROBE(chunks[n_chunks - 2]);
  obstack_printf(&own, "%d", 3);
  formatted(&own, "%s", "text");
  char *finished = obstack_finish(&own);
  PROBE(finished);
  char *kept = finished;
  PROBE(kept);
  obstack_free(&own, base);
  PROBE(obstack_next_free(&own));
  PROBE(base);
}

static char content[] = "0123456789";
static ssize_t read_cookie(void *cookie, char *buffer, size_t size) {
  PROBE(cookie);
  memcpy(buffer, content, size < 4 ? size : 4);
  return size < 4 ? size : 4;
}
static int close_cookie(void *cookie) {
  PROBE(cookie);
  return 0;
}
static void streams(void) {
  static int cookie;
  PROBE(&cookie);
  FILE *file = fopencookie(&cookie, "r", (cookie_io_functions_t){.read = read_cookie, .close = close_cookie});
  PROBE(file);
  FILE *same = file;
  PROBE(same);
  getc(file);
  fclose(file);
  static char name[L_tmpnam];
  PROBE(tmpnam_r(name));
  PROBE(name);
  static wchar_t line[9];
  FILE *wide = fopen("/etc/passwd", "r");
  PROBE(fgetws_unlocked(line, 9, wide));
  PROBE(line);
  struct dirent **names;
  if (scandirat(AT_FDCWD, "/", &names, 0, alphasort) > 0) {
    PROBE(names);
    struct dirent **kept = names;
    PROBE(kept);
  }
}

static void scanned(wchar_t *text, wchar_t *format, ...) {
  va_list list;
  va_start(list, format);
  vswscanf(text, format, list);
  va_end(list);
}
static void wide_scan(void) {
  static int *found;
  scanned(L"word", L"%ms", &found);
  PROBE(found);
  int *kept = found;
  PROBE(kept);
}

static void visit(const void *node, VISIT which, void *closure) {
  PROBE(closure);
  PROBE(*(void **)node);
}
static int by_name(const void *a, const void *b) { return strcmp(a, b); }
static void tables(void) {
  static struct hsearch_data table;
  static char key[] = "key", datum[] = "datum";
  hcreate_r(9, &table);
  ENTRY *found;
  hsearch_r((ENTRY){key, datum}, ENTER, &found, &table);
  hsearch_r((ENTRY){"key"}, FIND, &found, &table);
  PROBE(found->key);
  PROBE(key);
  PROBE(found->data);
  PROBE(datum);
  static void *root;
  static char apple[] = "apple";
  tsearch(apple, &root, by_name);
  PROBE(apple);
  twalk_r(root, visit, &root);
  PROBE(&root);
}

static void numbers(void) {
  static char state[128], buffer[32];
  char *before = initstate(7, state, sizeof state);
  PROBE(before);
  PROBE(setstate(before));
  PROBE(state);
  PROBE(gcvt(1.5, 3, buffer));
  PROBE(buffer);
  int point, sign;
  PROBE(ecvt(1.5, 3, &point, &sign));
  PROBE(ecvt(2.5, 3, &point, &sign));
  PROBE(l64a(77));
  PROBE(l64a(78));
  unsigned short seed[3] = {1, 2, 3};
  PROBE(seed48(seed));
  PROBE(seed48(seed));
  static struct random_data data;
  initstate_r(3, state, sizeof state, &data);
  static struct random_data other;
  other = data;
  PROBE(data.state);
  PROBE(other.state);
  static char second[128];
  initstate_r(4, second, sizeof second, &data);
  setstate_r(state, &data);
  PROBE(data.state);
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  static char digits[] = "12x";
  char *end;
  strtoll_l(digits, &end, 10, c);
  PROBE(end);
  PROBE(digits + 2);
  static wchar_t wide[] = L"34y", *wide_end;
  wcstoimax(wide, &wide_end, 10);
  PROBE(wide_end);
  PROBE(wide + 2);
  wcstod_l(wide, &wide_end, c);
  PROBE(wide_end);
  PROBE(wcschrnul(wide, L'z'));
  PROBE(wide + 3);
  static void *from[2], *to[2];
  from[0] = &to;
  PROBE(wmempcpy((wchar_t *)to, (wchar_t *)from, sizeof from / sizeof(wchar_t)));
  PROBE(to + 2);
  PROBE(to[0]);
  PROBE(&to);
  static struct tm parts;
  static char year[] = "2001-";
  PROBE(strptime_l(year, "%Y", &parts, c));
  PROBE(year + 4);
}

static void people(void) {
  static struct passwd one, *found;
  static char buffer[4096];
  setpwent();
  if (!getpwent_r(&one, buffer, sizeof buffer, &found)) {
    PROBE(found);
    PROBE(&one);
    PROBE(one.pw_name);
    PROBE(buffer + (one.pw_name - buffer));
  }
  FILE *groups = fopen("/etc/group", "r");
  static struct group group, *of_group;
  static char lines[4096];
  if (groups && !fgetgrent_r(groups, &group, lines, sizeof lines, &of_group)) {
    PROBE(of_group);
    PROBE(&group);
    PROBE(group.gr_mem);
    PROBE(lines + ((char *)group.gr_mem - lines));
    struct group *again = fgetgrent(groups);
    if (again) {
      PROBE(again);
      struct group *kept = again;
      PROBE(kept);
    }
  }
  PROBE(gnu_get_libc_version());
  PROBE(gnu_get_libc_version());
  static struct ether_addr address;
  PROBE(ether_aton_r("1:2:3:4:5:6", &address));
  PROBE(&address);
  static char text[32];
  PROBE(ether_ntoa_r(&address, text));
  PROBE(text);
  static char one_word[] = "one", many[] = "many";
  PROBE(dcngettext("domain", one_word, many, 2, LC_MESSAGES));
  PROBE(many);
  char *host, *user, *domain;
  if (getnetgrent(&host, &user, &domain)) PROBE(host);
  char *shell = getusershell();
  PROBE(shell);
  char *same = shell;
  PROBE(same);
}

static void accounts(void) {
  static char name[] = "/tmp/kleene-utmp";
  static struct utmpx record = {.ut_type = USER_PROCESS, .ut_line = "x", .ut_id = "x"};
  fclose(fopen(name, "w"));
  utmpxname(name);
  setutxent();
  PROBE(pututxline(&record));
  PROBE(&record);
  setutxent();
  struct utmpx *read = getutxent();
  PROBE(read);
  setutxent();
  PROBE(getutxline(&record));
  static struct utmp buffer, *found;
  setutent();
  if (!getutent_r(&buffer, &found)) {
    PROBE(found);
    PROBE(&buffer);
  }
  setutent();
  static struct utmp wanted = {.ut_type = USER_PROCESS, .ut_line = "x", .ut_id = "x"};
  if (!getutline_r(&wanted, &buffer, &found)) PROBE(found);
  remove(name);
}

static void (*handled)(int);
static void handler(int number) {}
static void faulty(enum mcheck_status status) {}
static void loader(void) {
  mcheck(faulty);
  ssignal(SIGUSR1, handler);
  handled = ssignal(SIGUSR1, SIG_DFL);
  PROBE(handled);
  PROBE(handler);
  static Dl_info about;
  void *extra = 0;
  dladdr1(main, &about, &extra, RTLD_DL_LINKMAP);
  PROBE(about.dli_fname);
  const char *kept = about.dli_fname;
  PROBE(kept);
  PROBE(extra);
}

static char stack[1 << 16];
static int child(void *argument) {
  PROBE(argument);
  return 0;
}
static void *thread(void *argument) { return argument; }
static void processes(void) {
  static int given;
  PROBE(&given);
  clone(child, stack + sizeof stack, CLONE_VM | CLONE_VFORK, &given);
  pthread_t one;
  pthread_create(&one, 0, thread, &given);
  void *result;
  struct timespec late = {.tv_sec = time(0) + 60};
  pthread_clockjoin_np(one, &result, CLOCK_REALTIME, &late);
  PROBE(result);
}

int main(void) {
  expressions();
  wide_scan();
  loader();
  arguments();
  vectors();
  stacks();
  streams();
  tables();
  numbers();
  people();
  accounts();
  processes();
  return 0;
}
