// Covariance of the columns of a table
void covariance(int m, int n, double data[restrict n][m], double cov[restrict m][m],
                double mean[restrict m]) {
  for (int j = 0; j < m; j++) {         // PAR
    mean[j] = 0;
    for (int i = 0; i < n; i++)         // RED
      mean[j] += data[i][j];
    mean[j] /= n;
  }
  for (int i = 0; i < n; i++)           // PAR
    for (int j = 0; j < m; j++)         // PAR
      data[i][j] -= mean[j];
  for (int i = 0; i < m; i++)           // PAR
    for (int j = i; j < m; j++) {       // PAR
      cov[i][j] = 0;
      for (int k = 0; k < n; k++)       // RED
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= n - 1;
      cov[j][i] = cov[i][j];
    }
}
