// C = alpha*A*B + beta*C
void gemm(int ni, int nj, int nk, double alpha, double beta, double c[restrict ni][nj],
          double a[restrict ni][nk], double b[restrict nk][nj]) {
  for (int i = 0; i < ni; i++) {        // PAR
    for (int j = 0; j < nj; j++)        // PAR
      c[i][j] *= beta;
    for (int k = 0; k < nk; k++)        // RED
      for (int j = 0; j < nj; j++)      // PAR
        c[i][j] += alpha * a[i][k] * b[k][j];
  }
}
