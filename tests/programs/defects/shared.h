/* What the files of planted defects share: see README.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct item { int *value; struct item *next; int count; };
struct handler { int *(*find)(int); void (*use)(const char *); };

int *other_find(int key);            /* may return null */
int *other_always(int key);          /* does not */
int other_read(int *at);             /* reads what it is given */
void other_fill(int *at);            /* sets it */
int other_divisor(int key);          /* may return 0 */
int other_positive(int key);         /* does not */
char *other_input(void);             /* from the environment */
const char *other_constant(void);
void other_run(const char *command); /* a shell */
void other_print(const char *format);
int other_sum(const unsigned short *a, const int *b);
