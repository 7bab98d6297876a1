// y = alpha*A*x + beta*B*x
void gesummv(int n, double alpha, double beta, double a[restrict n][n], double b[restrict n][n],
             double ax[restrict n], double x[restrict n], double y[restrict n]) {
  for (int i = 0; i < n; i++) {         // PAR
    ax[i] = 0;
    y[i] = 0;
    for (int j = 0; j < n; j++) {       // RED
      ax[i] += a[i][j] * x[j];
      y[i] += b[i][j] * x[j];
    }
    y[i] = alpha * ax[i] + beta * y[i];
  }
}
