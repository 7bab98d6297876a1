// lower half of C = alpha*A*A' + beta*C
void syrk(int n, int m, double alpha, double beta, double c[restrict n][n],
          double a[restrict n][m]) {
  for (int i = 0; i < n; i++) {         // PAR
    for (int j = 0; j <= i; j++)        // PAR
      c[i][j] *= beta;
    for (int k = 0; k < m; k++)         // RED
      for (int j = 0; j <= i; j++)      // PAR
        c[i][j] += alpha * a[i][k] * a[j][k];
  }
}
