/* The programs of the paper's figures: docs/explanation/dataflow.md draws them. */

int input(void);
void echo(int v);
int is_clean(int v);

/* Figure 2: is b constant? */
int constants(void) {
  int a = 1, b = 9;
  while (b > 0) b = b - 4 * a;
  return b;
}

/* Figure 3: taint ends where a check holds. */
void taint(int which) {
  int v = which ? input() : 7;
  if (v == 7)
    echo(v);
  else
    echo(-v);
}

/* Figure 4: behind an access a pointer is not null. */
int null(int *v, int which) {
  int n = 0;
  if (which) {
    n += *v;
    n += *v;
  }
  return n + *v;
}

/* The sum of a loop: i is 0..99 inside, and 100 behind. */
int ranges(void) {
  int i = 0, s = 0;
  while (i < 100) {
    i = i + 1;
    s = s + i;
  }
  return s + i;
}

int main(void) { return constants() + ranges(); }
