// The mean of five neighbours in a plane, from one array to the other and back
void jacobi_2d(int steps, int n, double a[restrict n][n], double b[restrict n][n]) {
  for (int t = 0; t < steps; t++) {     // SEQ
    for (int i = 1; i < n - 1; i++)     // PAR
      for (int j = 1; j < n - 1; j++)   // PAR
        b[i][j] = (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]) / 5;
    for (int i = 1; i < n - 1; i++)     // PAR
      for (int j = 1; j < n - 1; j++)   // PAR
        a[i][j] = (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j]) / 5;
  }
}
