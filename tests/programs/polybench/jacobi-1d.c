// The mean of three neighbours, from one array to the other and back
void jacobi_1d(int steps, int n, double a[restrict n], double b[restrict n]) {
  for (int t = 0; t < steps; t++) {     // SEQ
    for (int i = 1; i < n - 1; i++)     // PAR
      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    for (int i = 1; i < n - 1; i++)     // PAR
      a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3;
  }
}
