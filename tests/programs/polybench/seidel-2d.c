// The mean of nine neighbours in place
void seidel_2d(int steps, int n, double a[restrict n][n]) {
  for (int t = 0; t < steps; t++)       // SEQ
    for (int i = 1; i < n - 1; i++)     // SEQ
      for (int j = 1; j < n - 1; j++)   // SEQ
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] +
                   a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9;
}
