// D = alpha*A*B*C + beta*D
void two_products(int ni, int nj, int nk, int nl, double alpha, double beta,
                  double ab[restrict ni][nj], double a[restrict ni][nk], double b[restrict nk][nj],
                  double c[restrict nj][nl], double d[restrict ni][nl]) {
  for (int i = 0; i < ni; i++)          // PAR
    for (int j = 0; j < nj; j++) {      // PAR
      ab[i][j] = 0;
      for (int k = 0; k < nk; k++)      // RED
        ab[i][j] += alpha * a[i][k] * b[k][j];
    }
  for (int i = 0; i < ni; i++)          // PAR
    for (int j = 0; j < nl; j++) {      // PAR
      d[i][j] *= beta;
      for (int k = 0; k < nj; k++)      // RED
        d[i][j] += ab[i][k] * c[k][j];
    }
}
