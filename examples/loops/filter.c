// A bank of filters as C programs have them: a record, a table, a pointer that moves, a return code.
struct bank {
  int n_taps;
  float gain;
  const float *taps;
};

static const float window[4] = {0.5f, 1.0f, 1.0f, 0.5f};
int rounding;

static float clipped(float x) {
  if (x > 1.0f) return 1.0f;
  return x;
}

int filtered(const struct bank *bank, int n, const float *in, float *out) {
  if (n <= 0) return -1;
  while (n--) {
    float sum = 0;
    for (int t = 0; t < bank->n_taps; t++) sum += bank->taps[t] * in[t] * window[t % 4];
    *out++ = clipped(bank->gain * sum + rounding);
    in++;
  }
  return 0;
}
