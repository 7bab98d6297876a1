// x1 += A*y1, x2 += A'*y2
void mvt(int n, double x1[restrict n], double x2[restrict n], double y1[restrict n],
         double y2[restrict n], double a[restrict n][n]) {
  for (int i = 0; i < n; i++)           // PAR
    for (int j = 0; j < n; j++)         // RED
      x1[i] += a[i][j] * y1[j];
  for (int i = 0; i < n; i++)           // PAR
    for (int j = 0; j < n; j++)         // RED
      x2[i] += a[j][i] * y2[j];
}
