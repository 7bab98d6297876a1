// Correlation of the columns of a table
double sqrt(double);

void correlation(int m, int n, double data[restrict n][m], double corr[restrict m][m],
                 double mean[restrict m], double deviation[restrict m]) {
  for (int j = 0; j < m; j++) {         // PAR
    mean[j] = 0;
    for (int i = 0; i < n; i++)         // RED
      mean[j] += data[i][j];
    mean[j] /= n;
  }
  for (int j = 0; j < m; j++) {         // PAR
    deviation[j] = 0;
    for (int i = 0; i < n; i++)         // RED
      deviation[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    deviation[j] = sqrt(deviation[j] / n);
    deviation[j] = deviation[j] <= 0.1 ? 1 : deviation[j];
  }
  for (int i = 0; i < n; i++)           // PAR
    for (int j = 0; j < m; j++)         // PAR
      data[i][j] = (data[i][j] - mean[j]) / (sqrt(n) * deviation[j]);
  for (int i = 0; i < m - 1; i++) {     // PAR
    corr[i][i] = 1;
    for (int j = i + 1; j < m; j++) {   // PAR
      corr[i][j] = 0;
      for (int k = 0; k < n; k++)       // RED
        corr[i][j] += data[k][i] * data[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[m - 1][m - 1] = 1;
}
