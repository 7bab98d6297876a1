// Heat in a plane by alternating directions: a tridiagonal system per column, then per row
void adi(int steps, int n, double u[restrict n][n], double v[restrict n][n],
         double p[restrict n][n], double q[restrict n][n]) {
  double dx = 1.0 / n, dt = 1.0 / steps;
  double along = 2 * dt / (dx * dx), across = dt / (dx * dx);
  double a = -along / 2, b = 1 + along, c = a, d = -across / 2, e = 1 + across, f = d;
  for (int t = 1; t <= steps; t++) {    // SEQ
    for (int i = 1; i < n - 1; i++) {   // PAR
      v[0][i] = 1;
      p[i][0] = 0;
      q[i][0] = v[0][i];
      for (int j = 1; j < n - 1; j++) { // SEQ
        p[i][j] = -c / (a * p[i][j - 1] + b);
        q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) /
                  (a * p[i][j - 1] + b);
      }
      v[n - 1][i] = 1;
      for (int j = n - 2; j >= 1; j--)  // SEQ
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < n - 1; i++) {   // PAR
      u[i][0] = 1;
      p[i][0] = 0;
      q[i][0] = u[i][0];
      for (int j = 1; j < n - 1; j++) { // SEQ
        p[i][j] = -f / (d * p[i][j - 1] + e);
        q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) /
                  (d * p[i][j - 1] + e);
      }
      u[i][n - 1] = 1;
      for (int j = n - 2; j >= 1; j--)  // SEQ
        u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
}
