// A = Q*R, Q with orthonormal columns
double sqrt(double);

void gramschmidt(int m, int n, double a[restrict m][n], double r[restrict n][n],
                 double q[restrict m][n]) {
  for (int k = 0; k < n; k++) {         // SEQ
    double norm = 0;
    for (int i = 0; i < m; i++)         // RED
      norm += a[i][k] * a[i][k];
    r[k][k] = sqrt(norm);
    for (int i = 0; i < m; i++)         // PAR
      q[i][k] = a[i][k] / r[k][k];
    for (int j = k + 1; j < n; j++) {   // PAR
      r[k][j] = 0;
      for (int i = 0; i < m; i++)       // RED
        r[k][j] += q[i][k] * a[i][j];
      for (int i = 0; i < m; i++)       // PAR
        a[i][j] -= q[i][k] * r[k][j];
    }
  }
}
