// Calls: direct, through pointers and tables, recursive, variadic.
typedef int (*operation)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
int puts(const char *);
int printf(const char *, ...);

static const operation table[2] = { add, sub };
operation current = add;
struct device { const char *name; int (*open)(const char *); void *self; };
struct device console = { "console", puts, &console };

int apply(operation f, int a) { return f(a, 1); }
int choose(int n, int a) { return table[n](a, a) + current(a, 2) + apply(sub, a); }
int open_it(struct device *d) { return d->open(d->name); }
int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

int sum(int n, ...) {
  __builtin_va_list list;
  int total = 0;
  __builtin_va_start(list, n);
  while (n--)
    total += __builtin_va_arg(list, int);
  __builtin_va_end(list);
  return total;
}

void show(double x) { printf("%d %f\n", sum(2, 3, 4), x); }
_Noreturn void stop(void);
int old_style();
int calls_old(void) { return old_style(1, 2.0); }
int ends(int n) {
  if (n)
    stop();
  return 1;
}
