/* Loops with their verdicts: each comment is the verdict on the loop of its line. */
#include <math.h>

double table[100], other[100];
int counts[256], idx[100];
struct point { double x, y; int id; };
struct image { int width, height; unsigned char *pixels; };

void doall(int n, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) /* PAR */
    a[i] = b[i] * 2 + 1;
}

void may_alias(int n, double *a, double *b) {
  for (int i = 0; i < n; i++) /* PAR if a b */
    a[i] = b[i + 1];
}

void recurrence(int n) {
  for (int i = 1; i < n; i++) /* SEQ */
    table[i] = table[i - 1] + 1;
}

void anti(int n) {
  for (int i = 0; i < n; i++) /* COPY */
    table[i] = table[i + 1] + 1;
}

void distance(int n) {
  for (int i = 0; i < 10; i++) /* PAR */
    table[i] = table[i + 10];
  for (int i = 0; i < 11; i++) /* COPY */
    table[i] = table[i + 10];
}

double sum(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) /* RED */
    s += table[i];
  return s;
}

double biggest(int n) {
  double m = table[0], least = table[0];
  for (int i = 1; i < n; i++) /* RED */
    if (table[i] > m) m = table[i];
  for (int i = 1; i < n; i++) /* RED */
    least = table[i] < least ? table[i] : least;
  for (int i = 1; i < n; i++) /* RED */
    least = fmin(least, table[i]);
  return m - least;
}

int prefix(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) { /* SEQ */
    s += table[i];
    other[i] = s;
  }
  return 0;
}

void histogram(int n, const unsigned char *restrict data) {
  for (int i = 0; i < n; i++) /* RED */
    counts[data[i]] += 1;
}

void scatter(int n) {
  for (int i = 0; i < n; i++) /* MAY */
    table[idx[i]] = other[i];
  for (int i = 0; i < n; i++) /* PAR */
    table[i] = other[idx[i]];
}

void temporary(int n) {
  double t;
  for (int i = 0; i < n; i++) { /* PRIV */
    t = table[i] * 2;
    other[i] = t + 1;
  }
}

double last_value(int n) {
  double t = 0;
  for (int i = 0; i < n; i++) { /* PRIV */
    t = table[i] * 2;
    other[i] = t + 1;
  }
  return t;
}

void declared_inside(int n) {
  for (int i = 0; i < n; i++) { /* PAR */
    double t = table[i] * 2;
    other[i] = t + 1;
  }
}

void guarded(int n) {
  double t = 0;
  for (int i = 0; i < n; i++) /* PRIV */
    if (table[i] > 0) {
      t = table[i];
      other[i] = t;
    }
  for (int i = 0; i < n; i++) { /* MAY */
    if (table[i] > 0) t = table[i];
    other[i] = t;
  }
}

void private_array(int n) {
  double row[10];
  for (int i = 0; i < n; i++) { /* PRIV */
    for (int j = 0; j < 10; j++) /* PAR */
      row[j] = i + j;
    for (int j = 0; j < 10; j++) /* SEQ */
      table[i] = table[i] * row[j] + 1;
  }
}

void matrix(int n, int m, double a[n][m], double b[n][m]) {
  for (int i = 0; i < n; i++) /* PAR if a b */
    for (int j = 0; j < m; j++) /* PAR if a b */
      a[i][j] = b[i][j];
  for (int i = 1; i < n; i++) /* SEQ */
    for (int j = 0; j < m; j++) /* PAR */
      a[i][j] = a[i - 1][j];
}

void linearised(int n, int m, double *restrict a, const double *restrict b) {
  for (int i = 0; i < n; i++) /* PAR */
    for (int j = 0; j < m; j++) /* PAR */
      a[i * m + j] = b[j * n + i];
  for (int i = 0; i < n; i++) /* MAY */
    for (int j = 0; j < n; j++) /* PAR */
      a[i * m + j] = 0;
}

void induction(int n, double *restrict a) {
  int k = 10;
  for (int i = 0; i < n; i++) { /* PRIV */
    a[k] = i;
    k += 2;
  }
  k = 0;
  for (int i = 0; i < n; i++) { /* MAY */
    if (table[i] > 0) k++;
    a[k] = i;
  }
}

void walking(int n, double *restrict a, const double *restrict b) {
  double *end = a + n;
  for (double *p = a; p < end; p++) /* PAR */
    *p = 0;
  for (double *p = a; p != end; ++p) /* PRIV */
    *p = *b++;
  while (n-- > 0) /* PRIV */
    *a++ = 1;
}

void counted_while(int n) {
  int i = 0;
  while (i < n) { /* PAR */
    table[i] = 0;
    i++;
  }
  i = 0;
  do { /* PAR */
    table[i] = 1;
    i += 2;
  } while (i < n);
  for (i = n - 1; i >= 0; i--) /* PAR */
    table[i] = 2;
}

int search(int n, double x) {
  for (int i = 0; i < n; i++) /* MAY */
    if (table[i] == x) return i;
  return -1;
}

void skipping(int n) {
  for (int i = 0; i < n; i++) { /* PAR */
    if (i % 3 == 1) continue;
    table[i] = i;
  }
  for (int i = 0; i < n; i++) { /* PAR */
    if (i % 2 == 0) table[i] = 1;
    else table[i] = other[i];
  }
}

static double square(double x) { return x * x; }
static double clamp(double x) {
  if (x < 0) return 0;
  return x;
}

void inlined(int n) {
  for (int i = 0; i < n; i++) /* PAR */
    table[i] = square(other[i]) + clamp(other[i]) + sqrt(other[i]);
}

void fields(int n, struct point *restrict p) {
  for (int i = 1; i < n; i++) /* PAR */
    p[i].x = p[i - 1].y;
  for (int i = 1; i < n; i++) /* SEQ */
    p[i].x = p[i - 1].x;
}

void pixels(struct image *in, struct image *out) {
  for (int y = 0; y < in->height; y++) /* PAR if in in->pixels out out->pixels */
    for (int x = 0; x < in->width; x++) /* PAR if in in->pixels out out->pixels */
      out->pixels[y * in->width + x] = in->pixels[y * in->width + x];
}

void triangular(int n, double a[n][n]) {
  for (int i = 0; i < n; i++) /* PAR */
    for (int j = 0; j < i; j++) /* PAR */
      a[i][j] = a[j][i];
}

void wrapping(unsigned n, double *restrict a) {
  for (unsigned i = 0; i < n; i++) /* PAR */
    a[i] = 1;
  for (unsigned i = 0; i < n; i++) /* PAR */
    a[i + 1] = 1;
  for (unsigned i = 0; i < n; i++) /* MAY */
    a[i - 1] = 1;
  for (unsigned i = 0; i < n; i += 2) /* MAY */
    a[i] = 1;
}

void crossing(int n, double *restrict a) {
  for (int i = 0; i < n; i++) /* SEQ */
    a[i] = a[n - 1 - i];
}

void csr(int n, const int *restrict row, const int *restrict column,
         const double *restrict value, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) { /* PAR */
    double s = 0;
    for (int k = row[i]; k < row[i + 1]; k++) /* RED */
      s += value[k] * x[column[k]];
    y[i] = s;
  }
}
