// y = A' * (A*x)
void atax(int m, int n, double a[restrict m][n], double x[restrict n], double y[restrict n],
          double ax[restrict m]) {
  for (int j = 0; j < n; j++)           // PAR
    y[j] = 0;
  for (int i = 0; i < m; i++) {         // RED
    ax[i] = 0;
    for (int j = 0; j < n; j++)         // RED
      ax[i] += a[i][j] * x[j];
    for (int j = 0; j < n; j++)         // PAR
      y[j] += a[i][j] * ax[i];
  }
}
