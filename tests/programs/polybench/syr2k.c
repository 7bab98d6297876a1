// lower half of C = alpha*(A*B' + B*A') + beta*C
void syr2k(int n, int m, double alpha, double beta, double c[restrict n][n],
           double a[restrict n][m], double b[restrict n][m]) {
  for (int i = 0; i < n; i++) {         // PAR
    for (int j = 0; j <= i; j++)        // PAR
      c[i][j] *= beta;
    for (int k = 0; k < m; k++)         // RED
      for (int j = 0; j <= i; j++)      // PAR
        c[i][j] += a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k];
  }
}
