// x with A*x = b, by A = L*U, L*y = b and U*x = y
void ludcmp(int n, double a[restrict n][n], double b[restrict n], double x[restrict n],
            double y[restrict n]) {
  double w;
  for (int i = 0; i < n; i++) {         // SEQ
    for (int j = 0; j < i; j++) {       // SEQ
      w = a[i][j];
      for (int k = 0; k < j; k++)       // RED
        w -= a[i][k] * a[k][j];
      a[i][j] = w / a[j][j];
    }
    for (int j = i; j < n; j++) {       // PRIV
      w = a[i][j];
      for (int k = 0; k < i; k++)       // RED
        w -= a[i][k] * a[k][j];
      a[i][j] = w;
    }
  }
  for (int i = 0; i < n; i++) {         // SEQ
    w = b[i];
    for (int j = 0; j < i; j++)         // RED
      w -= a[i][j] * y[j];
    y[i] = w;
  }
  for (int i = n - 1; i >= 0; i--) {    // SEQ
    w = y[i];
    for (int j = i + 1; j < n; j++)     // RED
      w -= a[i][j] * x[j];
    x[i] = w / a[i][i];
  }
}
