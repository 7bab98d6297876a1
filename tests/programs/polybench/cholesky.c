// A = L*L', L in the lower half of A
double sqrt(double);

void cholesky(int n, double a[restrict n][n]) {
  for (int i = 0; i < n; i++) {         // SEQ
    for (int j = 0; j < i; j++) {       // SEQ
      for (int k = 0; k < j; k++)       // RED
        a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
    for (int k = 0; k < i; k++)         // RED
      a[i][i] -= a[i][k] * a[i][k];
    a[i][i] = sqrt(a[i][i]);
  }
}
