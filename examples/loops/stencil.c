/* Smooth a signal, and find its largest value and its sum on the way. */

void smooth(int n, int steps, double *signal, double *next) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      next[i] = (signal[i - 1] + signal[i] + signal[i + 1]) / 3;
    for (int i = 1; i < n - 1; i++)
      signal[i] = next[i];
  }
}

double largest(int n, const double *signal, double *sum) {
  double best = signal[0], value;
  for (int i = 0; i < n; i++) {
    value = signal[i] < 0 ? -signal[i] : signal[i];
    if (value > best) best = value;
    *sum += value;
  }
  return best;
}

void shift(int n, double *signal) {
  for (int i = 0; i < n - 1; i++)
    signal[i] = signal[i + 1];
}

void spread(int n, double *signal, const int *to, const double *from) {
  for (int i = 0; i < n; i++)
    signal[to[i]] = from[i];
}
