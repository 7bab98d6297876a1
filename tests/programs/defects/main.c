/* Calls everything, with what it is given. */
#include "shared.h"

#define INT(f) int f(int)
#define OUT(f) void f(void)
#define ARG(f) void f(char **)
#define TEXT(f) int f(const char *)
#define TWICE(m, f) m(bad_##f); m(good_##f);
TWICE(INT, 476_local) TWICE(INT, 476_returned) TWICE(INT, 476_passed) TWICE(INT, 476_field)
TWICE(INT, 476_heap) TWICE(INT, 476_global) TWICE(INT, 476_file) TWICE(INT, 476_list)
TWICE(INT, 476_or) TWICE(INT, 476_two_levels)
TWICE(INT, 457_branch) TWICE(INT, 457_never) TWICE(INT, 457_switch) TWICE(INT, 457_loop)
TWICE(INT, 457_pointer) TWICE(INT, 457_condition) TWICE(INT, 457_field)
TWICE(INT, 369_returned) TWICE(INT, 369_local) TWICE(INT, 369_global) TWICE(INT, 369_field) TWICE(INT, 369_file)
TWICE(INT, 561_returned) TWICE(INT, 561_constant)
TWICE(TEXT, 476_strchr) TWICE(TEXT, 476_fopen) TWICE(TEXT, 369_input)
TWICE(OUT, 78_getenv) TWICE(OUT, 78_global) TWICE(OUT, 78_heap) TWICE(OUT, 78_exec) TWICE(OUT, 78_file)
TWICE(OUT, 134_read) TWICE(OUT, 190_field)
OUT(bad_78_other_file); OUT(bad_78_field); OUT(bad_134_file);
TWICE(ARG, 78_argument) TWICE(ARG, 78_copied) TWICE(ARG, 78_built) TWICE(ARG, 134_argument) TWICE(ARG, 134_snprintf)
int bad_476_malloc(void); int good_476_malloc(void); int bad_476_getenv(void); int good_476_getenv(void);
int bad_476_callback(struct handler *, int); int good_476_callback(struct handler *, int);
int bad_476_wrong_test(int *, int); int good_476_right_test(int *, int); void grow(int);
int bad_457_passed(void); int good_457_passed(void); int bad_457_file(void); int good_457_file(void);
int bad_369_scanned(void); int good_369_scanned(void);
int bad_369_loop(int, const int *); int good_369_loop(int, const int *);
void bad_78_callback(struct handler *); void good_78_callback(struct handler *);
void bad_134_getenv(FILE *); void good_134_getenv(FILE *);
void *bad_190_malloc(const char *); void *good_190_malloc(const char *);
void bad_190_memcpy(char *, const char *, const char *); void good_190_memcpy(char *, const char *, const char *);
void bad_190_signed(char *, const char *, const char *); void good_190_signed(char *, const char *, const char *);
int idioms(int, char **);
int bad_561_range(unsigned); int good_561_range(unsigned); int bad_561_unsigned(unsigned); int good_561_unsigned(unsigned);

static int *maybe(int k) { static int v; return k > 2 ? &v : NULL; }
static void shell(const char *c) { system(c); } /* BAD 78 */
static void safe(const char *c) { system(c); }
#define I(f) r += bad_##f(k) + good_##f(k);
#define O(f) bad_##f(), good_##f();
#define A(f) bad_##f(argv), good_##f(argv);
#define T(f) r += bad_##f(argv[1]) + good_##f(argv[1]);
int main(int argc, char **argv) {
  int k = argc, r = 0, some[3] = {k, -k, 2};
  char to[99], from[99] = "x";
  struct handler nulls = {maybe, shell}, fine = {other_always, safe};
  grow(k);
  I(476_local) I(476_returned) I(476_passed) I(476_field) I(476_heap) I(476_global) I(476_file) I(476_list)
  I(476_or) I(476_two_levels)
  I(457_branch) I(457_never) I(457_switch) I(457_loop) I(457_pointer) I(457_condition) I(457_field)
  I(369_returned) I(369_local) I(369_global) I(369_field) I(369_file) I(561_returned) I(561_constant)
  T(476_strchr) T(476_fopen) T(369_input)
  O(78_getenv) O(78_global) O(78_heap) O(78_exec) O(78_file) O(134_read) O(190_field)
  bad_78_other_file(), bad_78_field(), bad_134_file();
  A(78_argument) A(78_copied) A(78_built) A(134_argument) A(134_snprintf)
  r += bad_476_malloc() + good_476_malloc() + bad_476_getenv() + good_476_getenv();
  r += bad_476_callback(&nulls, k) + good_476_callback(&nulls, k);
  r += bad_476_wrong_test(k > 5 ? &r : 0, k) + good_476_right_test(k > 5 ? &r : 0, k);
  r += bad_457_passed() + good_457_passed() + bad_457_file() + good_457_file();
  r += bad_369_scanned() + good_369_scanned() + bad_369_loop(k, some) + good_369_loop(k, some);
  bad_78_callback(&nulls), good_78_callback(&fine);
  bad_134_getenv(stderr), good_134_getenv(stderr);
  free(bad_190_malloc(argv[1])), free(good_190_malloc(argv[1]));
  bad_190_memcpy(to, from, argv[1]), good_190_memcpy(to, from, argv[1]);
  bad_190_signed(to, from, argv[1]), good_190_signed(to, from, argv[1]);
  r += idioms(k, argv);
  return r + bad_561_range(k) + good_561_range(k) + bad_561_unsigned(k) + good_561_unsigned(k);
}
