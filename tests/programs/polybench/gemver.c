// A += u1*v1' + u2*v2', x = beta*A'*y + z, w = alpha*A*x
void gemver(int n, double alpha, double beta, double a[restrict n][n], double u1[restrict n],
            double v1[restrict n], double u2[restrict n], double v2[restrict n],
            double w[restrict n], double x[restrict n], double y[restrict n],
            double z[restrict n]) {
  for (int i = 0; i < n; i++)           // PAR
    for (int j = 0; j < n; j++)         // PAR
      a[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < n; i++)           // PAR
    for (int j = 0; j < n; j++)         // RED
      x[i] += beta * a[j][i] * y[j];
  for (int i = 0; i < n; i++)           // PAR
    x[i] += z[i];
  for (int i = 0; i < n; i++)           // PAR
    for (int j = 0; j < n; j++)         // RED
      w[i] += alpha * a[i][j] * x[j];
}
