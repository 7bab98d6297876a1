// Heat in a cube, from one array to the other and back
void heat_3d(int steps, int n, double a[restrict n][n][n], double b[restrict n][n][n]) {
  for (int t = 1; t <= steps; t++) {          // SEQ
    for (int i = 1; i < n - 1; i++)           // PAR
      for (int j = 1; j < n - 1; j++)         // PAR
        for (int k = 1; k < n - 1; k++)       // PAR
          b[i][j][k] = 0.125 * (a[i + 1][j][k] - 2 * a[i][j][k] + a[i - 1][j][k]) +
                       0.125 * (a[i][j + 1][k] - 2 * a[i][j][k] + a[i][j - 1][k]) +
                       0.125 * (a[i][j][k + 1] - 2 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];
    for (int i = 1; i < n - 1; i++)           // PAR
      for (int j = 1; j < n - 1; j++)         // PAR
        for (int k = 1; k < n - 1; k++)       // PAR
          a[i][j][k] = 0.125 * (b[i + 1][j][k] - 2 * b[i][j][k] + b[i - 1][j][k]) +
                       0.125 * (b[i][j + 1][k] - 2 * b[i][j][k] + b[i][j - 1][k]) +
                       0.125 * (b[i][j][k + 1] - 2 * b[i][j][k] + b[i][j][k - 1]) + b[i][j][k];
  }
}
