// y with T*y = -r, T the Toeplitz matrix of r
void durbin(int n, double r[restrict n], double y[restrict n], double z[restrict n]) {
  double alpha = -r[0], beta = 1;
  y[0] = -r[0];
  for (int k = 1; k < n; k++) {         // SEQ
    beta = (1 - alpha * alpha) * beta;
    double sum = 0;
    for (int i = 0; i < k; i++)         // RED
      sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (int i = 0; i < k; i++)         // PAR
      z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++)         // PAR
      y[i] = z[i];
    y[k] = alpha;
  }
}
