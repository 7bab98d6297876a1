// s = A' * r, q = A * p
void bicg(int m, int n, double a[restrict n][m], double s[restrict m], double q[restrict n],
          double p[restrict m], double r[restrict n]) {
  for (int j = 0; j < m; j++)           // PAR
    s[j] = 0;
  for (int i = 0; i < n; i++) {         // RED
    q[i] = 0;
    for (int j = 0; j < m; j++) {       // RED
      s[j] += r[i] * a[i][j];
      q[i] += a[i][j] * p[j];
    }
  }
}
