// B = alpha*A'*B, A lower triangular with ones on its diagonal
void trmm(int m, int n, double alpha, double a[restrict m][m], double b[restrict m][n]) {
  for (int i = 0; i < m; i++)           // COPY
    for (int j = 0; j < n; j++) {       // PAR
      for (int k = i + 1; k < m; k++)   // RED
        b[i][j] += a[k][i] * b[k][j];
      b[i][j] *= alpha;
    }
}
