// Loops that are sequential as they are written, with the change after which they are not.
double A[99][99], B[99][99], a[300], b[300], c[300], d[300];
int k[300];

void rows(int n, int m) {
  for (int i = 1; i < n; i++)    // SEQ, after interchange
    for (int j = 0; j < m; j++)  // PAR
      A[i][j] = A[i - 1][j] + 1;
}

void rows_with_temporary(int n, int m) {
  double t;
  int j;
  for (int i = 1; i < n; i++)  // SEQ, after interchange
    for (j = m - 1; j >= 0; j--) {  // PRIV
      t = A[i - 1][j] * 2;
      A[i][j] = t + B[i][j];
    }
}

void triangle(int n) {
  for (int i = 1; i < n; i++)    // SEQ, after interchange
    for (int j = 0; j < i; j++)  // PAR
      A[i][j] = A[i - 1][j] + A[i][j];
}

void moving_triangle(int n) {
  for (int i = 1; i < n; i++)        // SEQ, after skewing
    for (int j = i; j < n + i; j++)  // PAR
      B[i][j] = B[i - 1][j - 1];
}

void wavefront(int n, int m) {
  for (int i = 1; i < n; i++)    // SEQ, after skewing
    for (int j = 1; j < m; j++)  // SEQ
      A[i][j] = A[i - 1][j] + A[i][j - 1];
}

void in_place_stencil(int n) {
  for (int i = 1; i < n - 1; i++)      // SEQ, after skewing
    for (int j = 1; j < n - 1; j++) {  // SEQ
      double s = A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1];
      A[i][j] = s + A[i][j - 1] + A[i][j] + A[i][j + 1];
    }
}

void from_the_right(int n) {
  for (int i = 1; i < n; i++)          // SEQ
    for (int j = 0; j < n; j++)        // SEQ
      a[j] = a[n - j] + a[i];
}

void two_statements(int n) {
  double t;
  for (int i = 1; i < n; i++) {  // SEQ, after fission
    t = b[i] * 2;
    a[i] = a[i - 1] + t;
    c[i] = a[i] * t;
  }
}

void declared_inside(int n) {
  for (int i = 1; i < n; i++) {  // SEQ, after fission
    double t = b[i] * 2, u = t + 1;
    a[i] = a[i - 1] * t;
    d[i] = u + c[i];
  }
}

void read_before_written(int n) {
  for (int i = 0; i < n; i++) {  // SEQ, after fission
    a[i + 1] = b[i];
    c[i] = a[i] + 1;
    d[i] = d[i] + 1;
  }
}

void with_a_loop_inside(int n) {
  for (int i = 1; i < n; i++) {    // SEQ, after fission
    for (int j = 0; j < 9; j++)    // PAR
      A[i][j] = b[j] + i;
    a[i] = a[i - 1] + A[i][3];
  }
}

void in_a_circle(int n) {
  for (int i = 1; i < n; i++) {  // SEQ
    a[i] = b[i - 1] + 1;
    b[i] = a[i] * 2;
  }
}

void mirrored(int n) {
  for (int i = 0; i < n; i++)  // SEQ, after splitting
    a[i] = a[n - 1 - i] + 1;
}

void first_is_used(int n) {
  for (int i = 0; i < n; i++)  // SEQ, after splitting
    a[i] = a[0] + b[i];
}

void one_is_used(int n, int m) {
  for (int i = 0; i < n; i++)  // SEQ, after splitting
    a[i] = a[m] + b[i];
}

void threshold(int n, int m) {
  for (int i = 0; i < n; i++)  // SEQ, after splitting
    k[i] = k[m - i];
}

void in_steps(int n) {
  for (int i = 5; i < n; i += 3)  // SEQ, after splitting
    a[i] = a[5] + i;
}

void in_every_row(int n) {
  for (int i = 0; i < n; i++)      // PAR
    for (int j = 0; j < n; j++)    // SEQ, after splitting
      A[i][j] = A[i][i] + 1;
}

void recurrence(int n) {
  for (int i = 1; i < n; i++)  // SEQ
    a[i] = a[i - 1] * b[i] + c[i];
}

void chosen_by_data(int n) {
  for (int i = 1; i < n; i++) {  // MAY, after fission
    if (b[i] > 0) a[i] = a[i - 1];
    c[i] = b[i] + 1;
  }
}

void left_out(int n) {
  for (int i = 1; i < n; i++) {  // MAY
    if (b[i] > 3) continue;
    a[i] = a[i - 1] + 1;
    c[i] = b[i];
  }
}

void borders_first(int n) {
  for (int i = 1; i < n; i++) {   // SEQ, after skewing
    A[i][0] = A[i - 1][0] + 1;
    for (int j = 1; j < 9; j++)   // SEQ
      A[i][j] = A[i - 1][j] + A[i][j - 1];
  }
}

void corners_first(int n) {
  for (int i = 1; i < n; i++) {   // SEQ, after skewing
    A[i][0] = A[i - 1][1] + 1;
    for (int j = 1; j < 9; j++)   // SEQ
      A[i][j] = A[i - 1][j + 1] + A[i][j - 1];
  }
}

void perhaps_no_border(int n, int m) {
  for (int i = 1; i < n; i++) {   // SEQ
    A[i][0] = A[i - 1][0] + 1;
    for (int j = 1; j < m; j++)   // SEQ
      A[i][j] = A[i - 1][j] + A[i][j - 1];
  }
}

void kept_for_the_row(int n) {
  double t;
  for (int i = 1; i < n; i++) {   // SEQ
    t = A[i - 1][0];
    for (int j = 1; j < 9; j++)   // SEQ
      A[i][j] = A[i - 1][j] + A[i][j - 1] + t;
  }
}

void borders_last(int n) {
  for (int i = 1; i < n; i++) {   // SEQ, after fission
    for (int j = 1; j < 9; j++)   // SEQ
      A[i][j] = A[i - 1][j] + A[i][j - 1];
    A[i][0] = A[i - 1][8] + 1;
  }
}

void far_border(int n) {
  for (int i = 1; i < n; i++) {   // SEQ
    A[i][0] = A[i - 1][8] + 1;
    for (int j = 1; j < 9; j++)   // SEQ
      A[i][j] = A[i - 1][j] + A[i][j - 1];
  }
}
