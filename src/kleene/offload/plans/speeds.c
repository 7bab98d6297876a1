// What the calibration of a CPU calls, beside the pool of threads of generated code.

typedef struct {
  double *a, *b;
  long long n;
  int times;
} Given;

// a[i] = a[i] * x + b[i] with what is in the first cache: 2 * 2048 * times operations.
static void in_cache(void *args, long long first, long long end) {
  const Given *given = args;
  for (long long part = first; part < end; part++) {
    double a[2048], b[2048];
    for (int i = 0; i < 2048; i++) a[i] = i, b[i] = part;
    for (int t = 0; t < given->times; t++) {
      for (int i = 0; i < 2048; i++) a[i] = a[i] * 0.999 + b[i];
      __asm__ volatile("" : : "r"(a) : "memory");
    }
    given->a[part] = a[7];
  }
}

// One sum whose additions wait for each other: 2048 * times.
static void in_order(void *args, long long first, long long end) {
  const Given *given = args;
  for (long long part = first; part < end; part++) {
    double b[2048], sum = 0;
    for (int i = 0; i < 2048; i++) b[i] = i;
    for (int t = 0; t < given->times; t++) {
      for (int i = 0; i < 2048; i++) sum += b[i] * b[i];
      __asm__ volatile("" : : "r"(b) : "memory");
    }
    given->a[part] = sum;
  }
}

static void copied(void *args, long long first, long long end) {
  const Given *given = args;
  const long long part = given->n / 64;
  for (long long at = first * part; at < end * part; at++) given->a[at] = given->b[at] * 1.5;
}

// Elements `times` apart: part of a column each.
static void apart(void *args, long long first, long long end) {
  const Given *given = args;
  for (long long part = first; part < end; part++) {
    double sum = 0;
    for (long long at = part * 8; at < given->n; at += given->times) sum += given->b[at];
    given->a[part] = sum;
  }
}

static void empty(void *args, long long first, long long end) { (void)args, (void)first, (void)end; }

// kind: 0 in_cache, 1 in_order, 2 copied, 3 apart, 4 nothing; `parts` of it, or one thread has all.
void kleene_speed(int kind, int is_parallel, long long parts, double *a, double *b, long long n,
                  int times) {
  Given given = {a, b, n, times};
  kleene_work *const work[] = {in_cache, in_order, copied, apart, empty};
  if (is_parallel)
    kleene_parallel(work[kind], &given, parts, 1e18);
  else
    work[kind](&given, 0, parts);
}
