/* CWE 457: variables without a value. */
#include "shared.h"

int bad_457_branch(int k) { int x; if (k > 3) x = 1; return x + 1; } /* BAD 457 */
int good_457_branch(int k) { int x; if (k > 3) x = 1; else x = 2; return x + 1; }
int bad_457_never(int k) { int x; return x + k; } /* BAD 457 */
int good_457_never(int k) { int x = 0; return x + k; }
int bad_457_switch(int k) {
  int x;
  switch (k) { case 1: x = 1; break; case 2: x = 2; break; }
  return x * 2; /* BAD 457 */
}
int good_457_switch(int k) {
  int x;
  switch (k) { case 1: x = 1; break; case 2: x = 2; break; default: x = 3; }
  return x * 2;
}
int bad_457_loop(int k) { int x; for (int i = 0; i < k; i++) x = i; return x - 1; } /* BAD 457 */
int good_457_loop(int k) { int x = 0; for (int i = 0; i < k; i++) x = i; return x - 1; }
static int read_it(int *p) { return *p + 1; }
static void set_it(int *p) { *p = 1; }
int bad_457_passed(void) { int x; return read_it(&x); } /* BAD 457 */
int good_457_passed(void) { int x; set_it(&x); return read_it(&x); }
int bad_457_file(void) { int x; return other_read(&x); } /* BAD 457 */
int good_457_file(void) { int x; other_fill(&x); return other_read(&x); }
int bad_457_pointer(int k) { int *p; if (k > 3) p = &k; return *p; } /* BAD 457 */
int good_457_pointer(int k) { int *p = &k; if (k > 3) p = &k; return *p; }
int bad_457_condition(int k) { int ready; if (k > 3) ready = 1; if (ready == 1) return 1; return 0; } /* BAD 457 */
int good_457_condition(int k) { int ready = 0; if (k > 3) ready = 1; if (ready == 1) return 1; return 0; }
int bad_457_field(int k) { struct item i; struct item *at = &i; if (k) at->count = 1; return at->count + 1; } /* BAD 457 */
int good_457_field(int k) { struct item i; struct item *at = &i; at->count = k; return at->count + 1; }
