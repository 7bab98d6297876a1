/* Loops that look parallel and are not, and some that do not and are. */
double table[100], other[100];
int order[100], total, grid[20][20][20];
struct list { int n; double *data; struct list *next; };

void wrap_around(int n, double *restrict a, const double *restrict b) {
  int before = n - 1;
  for (int i = 0; i < n; i++) { /* SEQ */
    a[i] = b[before];
    before = i;
  }
}

void symbolic_stride(int n, int s, double *restrict a) {
  for (int i = 0; i < n; i++) /* MAY */
    a[i * s] = i;
  if (s > 0)
    for (int i = 0; i < n; i++) /* PAR */
      a[i * s] = i;
}

void fixed_element(int n, int m, double *restrict a) {
  for (int i = 0; i < n; i++) /* PAR */
    a[i] = a[n];
  for (int i = 0; i < n; i++) /* SEQ */
    a[i] = a[m] + 1;
}

void one_counter_twice(int n) {
  int i;
  for (i = 0; i < n; i++) /* MAY */
    for (i = 0; i < 3; i++) /* PAR */
      table[i] = i;
}

void counter_changed(int n) {
  for (int i = 0; i < n; i++) { /* MAY */
    table[i] = 1;
    if (other[i] > 0) i++;
  }
}

void swapped(int n, double *restrict a) {
  double t;
  for (int i = 0, j = n - 1; i < j; i++, j--) { /* PRIV */
    t = a[i];
    a[i] = a[j];
    a[j] = t;
  }
}

void backwards(unsigned n, double *restrict a) {
  for (unsigned i = n; i-- > 0;) /* PAR */
    a[i] = 0;
  for (unsigned char c = 0; c < n; c++) /* MAY */
    a[c] = 0;
}

void rows_of_rows(int n, double **rows) {
  for (int i = 0; i < n; i++) /* MAY */
    for (int j = 0; j < n; j++) /* PAR if rows rows[i] */
      rows[i][j] = 0;
}

void linked(struct list *at) {
  while (at) { /* MAY */
    for (int i = 0; i < at->n; i++) /* PAR if at at->data */
      at->data[i] = 0;
    at = at->next;
  }
}

static int drawn;
static int draw(void) { return drawn++; }
void hidden_state(int n) {
  for (int i = 0; i < n; i++) /* SEQ */
    table[i] = draw();
}

static int slot(int v) {
  int both[2] = {drawn, v};
  drawn = v;
  return both[0];
}
void hidden_read(int n) {
  for (int i = 0; i < n; i++) /* SEQ */
    table[i] = slot(i);
}

void floating_counter(int n) {
  int k = 0;
  for (double x = 0; x < n; x += 0.5) /* MAY */
    table[k++] = x;
}

void packed(int n, double *restrict a) {
  int k = 0;
  for (int i = 0; i < n; i++) /* MAY */
    if (table[i] > 0) a[k++] = table[i];
}

void counted_total(int n) {
  for (int i = 0; i < n; i++) /* RED */
    if (table[i] > 0) total++;
  for (int i = 0; i < total; i++) /* MAY */
    total -= order[i];
}

void two_reductions(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) { /* SEQ */
    s += order[i];
    s *= 3;
  }
  total = s;
}

void partial_write(int n) {
  int row[10];
  for (int i = 0; i < n; i++) { /* SEQ */
    row[i % 10] = i;
    order[i] = row[(i + 1) % 10];
  }
}

void covered_by_loop(int n, int m) {
  int row[50];
  for (int i = 0; i < n; i++) { /* PRIV */
    for (int j = 0; j < m; j++) /* PAR */
      row[j] = i;
    for (int j = 0; j < m; j++) /* RED */
      order[i] += row[m - 1 - j];
  }
  for (int i = 0; i < n; i++) { /* SEQ */
    for (int j = 1; j < m; j++) /* PAR */
      row[j] = i;
    for (int j = 0; j < m; j++) /* RED */
      order[i] += row[j];
    row[0] = i;
  }
}

void wavefront(int n) {
  for (int i = 1; i < n; i++) /* SEQ */
    for (int j = 1; j < n; j++) /* SEQ */
      for (int k = 0; k < n; k++) /* PAR */
        grid[i][j][k] = grid[i - 1][j][k] + grid[i][j - 1][k];
}

void diagonal(int n) {
  for (int i = 1; i < n; i++) /* SEQ */
    for (int j = 0; j < n - 1; j++) /* PAR */
      grid[i][j][0] = grid[i - 1][j + 1][0];
}

void odd_and_even(int n) {
  for (int i = 0; i < n; i++) /* PAR */
    table[2 * i] = table[2 * i + 1];
  for (int i = 0; i < n; i++) /* PAR */
    table[6 * i] = table[4 * i + 3];
  for (int i = 0; i < n; i++) /* SEQ */
    table[3 * i] = table[2 * i + 1];
}

void halves(int n) {
  for (int i = 0; i < n; i++) /* PRIV */
    table[i / 2] = i;
  for (int i = 0; i < n; i += 2) /* PAR */
    table[i / 2] = i;
}

void shifted_rows(int n, int m, int *restrict a) {
  for (int i = 0; i < n; i++) /* MAY */
    for (int j = 0; j <= m; j++) /* PAR */
      a[i * m + j] = j;
}

int first_of(int n) {
  int found = -1;
  for (int i = 0; i < n; i++) { /* MAY */
    if (order[i] == 3) {
      found = i;
      break;
    }
  }
  return found;
}

void jump_over(int n) {
  for (int i = 0; i < n; i++) { /* MAY */
    if (order[i]) goto skip;
    table[i] = 0;
  skip:;
  }
}

void char_view(int n, int *a) {
  char *bytes = (char *)a;
  for (int i = 0; i < n; i++) /* MAY */
    bytes[i] = a[i];
}

void same_twice(int n, double *restrict a) {
  for (int i = 0; i < n; i++) { /* PRIV */
    a[0] = i;
    a[i + 1] = a[0];
  }
}

void late_guard(int n) {
  int x = 0;
  for (int i = 0; i < n; i++) { /* SEQ */
    if (i > 3) order[i] = x;
    if (i <= 3) x = order[i];
  }
  for (int i = 0; i < n; i++) { /* SEQ */
    if (i % 2) order[i] = x;
    if (i % 2 == 0) x = order[i];
  }
  for (int i = 0; i < n; i++) { /* PRIV */
    if (i % 2 == 0) x = i;
    if (i % 4 == 2) order[i] = x;
  }
}
