// G = (A*B) * (C*D)
void three_products(int ni, int nj, int nk, int nl, int nm, double e[restrict ni][nj],
                    double a[restrict ni][nk], double b[restrict nk][nj], double f[restrict nj][nl],
                    double c[restrict nj][nm], double d[restrict nm][nl],
                    double g[restrict ni][nl]) {
  for (int i = 0; i < ni; i++)          // PAR
    for (int j = 0; j < nj; j++) {      // PAR
      e[i][j] = 0;
      for (int k = 0; k < nk; k++)      // RED
        e[i][j] += a[i][k] * b[k][j];
    }
  for (int i = 0; i < nj; i++)          // PAR
    for (int j = 0; j < nl; j++) {      // PAR
      f[i][j] = 0;
      for (int k = 0; k < nm; k++)      // RED
        f[i][j] += c[i][k] * d[k][j];
    }
  for (int i = 0; i < ni; i++)          // PAR
    for (int j = 0; j < nl; j++) {      // PAR
      g[i][j] = 0;
      for (int k = 0; k < nj; k++)      // RED
        g[i][j] += e[i][k] * f[k][j];
    }
}
