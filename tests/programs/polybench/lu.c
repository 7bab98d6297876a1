// A = L*U in place
void lu(int n, double a[restrict n][n]) {
  for (int i = 0; i < n; i++) {         // SEQ
    for (int j = 0; j < i; j++) {       // SEQ
      for (int k = 0; k < j; k++)       // RED
        a[i][j] -= a[i][k] * a[k][j];
      a[i][j] /= a[j][j];
    }
    for (int j = i; j < n; j++)         // PAR
      for (int k = 0; k < i; k++)       // RED
        a[i][j] -= a[i][k] * a[k][j];
  }
}
