/* The other file: callees of functions elsewhere. */
#include "shared.h"

static int stored = 3;
int *other_find(int key) { return key > 5 ? NULL : &stored; }
int *other_always(int key) { return key > 5 ? &stored + 0 : &stored; }
int other_read(int *at) { return *at + 1; }
void other_fill(int *at) { *at = 7; }
int other_divisor(int key) { return key > 5 ? 0 : 2; }
int other_positive(int key) { return key > 5 ? 1 : 2; }
char *other_input(void) { return getenv("PLANTED"); }
const char *other_constant(void) { return "ls"; }
void other_run(const char *command) { system(command); } /* BAD 78 */
void other_print(const char *format) { printf(format); } /* BAD 134 */
int other_sum(const unsigned short *a, const int *b) { return *a + *b; }
