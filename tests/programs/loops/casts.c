/* Storage whose type is told by a cast: subscripts are counted in bytes. */

union number { int i; float f; };
struct state { int n; float old[10]; double mem[10]; };

void scale(int n, void *out, const void *in) {
  double *a = (double *)out;
  const double *b = in;
  for (int i = 0; i < n; i++) /* PAR if out in */
    a[i] = 2 * b[i];
}

void walk(int n, void *out, const void *in) {
  float *to = out;
  const float *from = in;
  while (n-- > 0) /* PRIV if out in */
    *to++ = *from++;
}

void up_to_the_end(int n, void *out) {
  double *a = out, *end = a + n;
  for (; a != end; a++) /* PAR */
    *a = 0;
}

void prefix(int n, void *out) {
  double *a = out;
  for (int i = 1; i < n; i++) /* SEQ */
    a[i] = a[i - 1] + 1;
}

void shift(int n, void *out) {
  for (int i = 0; i < n; i++) /* COPY */
    ((double *)out)[i] = ((double *)out)[i + 1];
}

void two_sizes(int n, void *out) {
  int *a = out;
  short *b = out;
  for (int i = 0; i < n; i++) /* MAY */
    a[i] = b[i];
}

void two_signs(int n, void *out) {
  unsigned *a = out;
  int *b = out;
  for (int i = 0; i < n; i++) /* COPY */
    a[i] = b[i + 1];
}

void between_elements(int n, char *out) {
  for (int i = 0; i < n; i++) /* MAY */
    *(int *)(out + 2 * i) = i;
}

void clear(int n, double *x) {
  char *bytes = (char *)x;
  for (int i = 0; i < n; i++) /* PAR */
    bytes[i] = 0;
}

void rows(int n, int m, void *out) {
  double *a = out;
  for (int i = 0; i < n; i++) /* PAR */
    for (int j = 0; j < m; j++) /* PAR */
      a[i * m + j] = i;
}

void in_place(int n, union number *x) {
  for (int i = 0; i < n; i++) /* PAR */
    x[i].f = (float)x[i].i;
}

void to_the_next(int n, union number *x) {
  for (int i = 1; i < n; i++) /* SEQ */
    x[i].f = (float)x[i - 1].i;
}

void of_a_struct(int n, void *given) {
  struct state *st = (struct state *)given;
  for (int i = 0; i < 10; i++) /* PAR */
    st->old[i] = i;
  st->n = n;
  for (int i = 0; i < st->n; i++) /* PAR */
    st->mem[i] = st->old[i];
  for (int i = 1; i < 10; i++) /* SEQ */
    st->mem[i] = st->mem[i - 1];
}

void seen_twice(int n, void *given) {
  struct state *st = given;
  float *raw = given;
  for (int i = 0; i < n; i++) /* MAY */
    st->mem[i] = raw[i + 1];
}

void of_another_type(int n, double *given) {
  void *bytes = given;
  int *a = bytes;
  for (int i = 0; i < n; i++) /* MAY */
    given[i] = a[i + 1];
}
