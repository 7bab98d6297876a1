// A[r][q] = A[r][q] * C, one row at a time through `sum`
void doitgen(int nr, int nq, int np, double a[restrict nr][nq][np], double c[restrict np][np],
             double sum[restrict np]) {
  for (int r = 0; r < nr; r++)          // PRIV
    for (int q = 0; q < nq; q++) {      // PRIV
      for (int p = 0; p < np; p++) {    // PAR
        sum[p] = 0;
        for (int s = 0; s < np; s++)    // RED
          sum[p] += a[r][q][s] * c[s][p];
      }
      for (int p = 0; p < np; p++)      // PAR
        a[r][q][p] = sum[p];
    }
}
