/* Heat on a square plate of n by n points: one step, in place and from one array into another. */

void relax(int n, double plate[][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      plate[i][j] = (plate[i - 1][j] + plate[i + 1][j] + plate[i][j - 1] + plate[i][j + 1]) / 4;
}

void step(int n, double old[][n], double new[][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      new[i][j] = (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) / 4;
}

double warmest(int n, double plate[][n]) {
  double most = plate[0][0];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (plate[i][j] > most) most = plate[i][j];
  return most;
}

void turn(int n, const double *restrict from, double *restrict to) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      to[j * n + i] = from[i * n + j];
}

void scatter(int n, const int *restrict to, const double *restrict from, double *restrict plate) {
  for (int i = 0; i < n; i++)
    plate[to[i]] = from[i];
}
