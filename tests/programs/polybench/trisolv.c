// x with L*x = b, L lower triangular
void trisolv(int n, double l[restrict n][n], double x[restrict n], double b[restrict n]) {
  for (int i = 0; i < n; i++) {         // SEQ
    x[i] = b[i];
    for (int j = 0; j < i; j++)         // RED
      x[i] -= l[i][j] * x[j];
    x[i] /= l[i][i];
  }
}
