/* Minima and maxima by functions of the program, and with what belongs to them. */

int found, wanted[100];

static int larger(int a, int b) { return a > b ? a : b; }
static double least(double x, double y) {
  if (x < y)
    return x;
  return y;
}
static int not_larger(int a, int b) { return a > b ? a : a + b; }
static int sum_of(int a, int b) { return a + b; }

int by_function(int n, const int *a) {
  int best = 0;
  for (int i = 0; i < n; i++) /* RED */
    best = larger(best, a[i]);
  return best;
}

double by_branches(int n, const double *a) {
  double best = 100;
  for (int i = 0; i < n; i++) /* RED */
    best = least(a[i], best);
  return best;
}

int by_a_sum(int n, const int *a) {
  int total = 0;
  for (int i = 0; i < n; i++) /* RED */
    total = sum_of(total, a[i]);
  return total;
}

int by_none(int n, const int *a) {
  int best = 0;
  for (int i = 0; i < n; i++) /* SEQ */
    best = not_larger(best, a[i]);
  return best;
}

int first_maximum(int n, const int *a) {
  int best = -1, at = -1;
  for (int i = 0; i < n; i++) /* RED */
    if (a[i] % 3 > best) {
      best = a[i] % 3;
      at = i;
    }
  return 1000 * best + at;
}

int last_minimum(int n, const int *a) {
  int best = 1000, at = -1, before = -2;
  for (int i = 0; i < n; i++) /* RED */
    if (best >= a[i] % 3) {
      at = i;
      best = a[i] % 3;
      before = i - 1;
    }
  return 1000 * best + 10 * at + before;
}

int of_a_value(int n, const int *a) {
  int best = -1;
  found = -1;
  for (int i = 0; i < n; i++) { /* RED if a found */
    int value = a[i] % 2;
    if (value > best) {
      best = value;
      found = a[i];
    }
  }
  return best;
}

int counted_too(int n, const int *a) {
  int best = -1, at = -1, many = 0;
  for (int i = 0; i < n; i++) /* MAY */
    if (a[i] % 3 > best) {
      best = a[i] % 3;
      at = i;
      many = many + 1;
    }
  return 1000 * best + 10 * at + many;
}

int read_elsewhere(int n, const int *a) {
  int best = -1, at = 0;
  for (int i = 0; i < n; i++) { /* MAY if a wanted */
    if (a[i] % 3 > best) {
      best = a[i] % 3;
      at = i;
    }
    wanted[i] = at;
  }
  return best;
}

int written_elsewhere(int n, const int *a) {
  int best = -1, at = 0;
  for (int i = 0; i < n; i++) { /* MAY */
    if (a[i] % 3 > best) {
      best = a[i] % 3;
      at = i;
    }
    if (a[i] == 7)
      at = -1;
  }
  return 10 * best + at;
}

int without_the_place(int n, const int *a) {
  int best = -1, at = 0;
  for (int i = 0; i < n; i++) { /* MAY */
    if (a[i] % 3 > best)
      best = a[i] % 3;
    if (a[i] % 5 > best) {
      best = a[i] % 5;
      at = i;
    }
  }
  return 10 * best + at;
}

int of_every_row(int n, int m, int a[n][m]) {
  int best, at = 0;
  for (int i = 0; i < n; i++) { /* PRIV */
    best = -1;
    for (int j = 0; j < m; j++) /* RED */
      if (a[i][j] % 3 > best) {
        best = a[i][j] % 3;
        at = j;
      }
  }
  return at;
}
