// C = alpha*A*B + beta*C, A symmetric with its lower half stored
void symm(int m, int n, double alpha, double beta, double c[restrict m][n], double a[restrict m][m],
          double b[restrict m][n]) {
  double upper;
  for (int i = 0; i < m; i++)           // SEQ
    for (int j = 0; j < n; j++) {       // PRIV
      upper = 0;
      for (int k = 0; k < i; k++) {     // RED
        c[k][j] += alpha * b[i][j] * a[i][k];
        upper += b[k][j] * a[i][k];
      }
      c[i][j] = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * upper;
    }
}
