// An edge filter: every row and then every column, forward and backward, by a recurrence of order 2
double exp(double);
double pow(double, double);

void deriche(int w, int h, double alpha, double image[restrict w][h], double out[restrict w][h],
             double forward[restrict w][h], double backward[restrict w][h]) {
  double e = exp(-alpha), k = (1 - e) * (1 - e) / (1 + 2 * alpha * e - exp(-2 * alpha));
  double a0 = k, a1 = k * e * (alpha - 1), a2 = k * e * (alpha + 1), a3 = -k * exp(-2 * alpha);
  double b1 = pow(2, -alpha), b2 = -exp(-2 * alpha);
  double y1, y2, x1, x2;
  for (int i = 0; i < w; i++) {         // PRIV
    y1 = 0, y2 = 0, x1 = 0;
    for (int j = 0; j < h; j++) {       // SEQ
      forward[i][j] = a0 * image[i][j] + a1 * x1 + b1 * y1 + b2 * y2;
      x1 = image[i][j];
      y2 = y1;
      y1 = forward[i][j];
    }
  }
  for (int i = 0; i < w; i++) {         // PRIV
    y1 = 0, y2 = 0, x1 = 0, x2 = 0;
    for (int j = h - 1; j >= 0; j--) {  // SEQ
      backward[i][j] = a2 * x1 + a3 * x2 + b1 * y1 + b2 * y2;
      x2 = x1;
      x1 = image[i][j];
      y2 = y1;
      y1 = backward[i][j];
    }
  }
  for (int i = 0; i < w; i++)           // PAR
    for (int j = 0; j < h; j++)         // PAR
      out[i][j] = forward[i][j] + backward[i][j];
  for (int j = 0; j < h; j++) {         // PRIV
    x1 = 0, y1 = 0, y2 = 0;
    for (int i = 0; i < w; i++) {       // SEQ
      forward[i][j] = a0 * out[i][j] + a1 * x1 + b1 * y1 + b2 * y2;
      x1 = out[i][j];
      y2 = y1;
      y1 = forward[i][j];
    }
  }
  for (int j = 0; j < h; j++) {         // PRIV
    x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    for (int i = w - 1; i >= 0; i--) {  // SEQ
      backward[i][j] = a2 * x1 + a3 * x2 + b1 * y1 + b2 * y2;
      x2 = x1;
      x1 = out[i][j];
      y2 = y1;
      y1 = backward[i][j];
    }
  }
  for (int i = 0; i < w; i++)           // PAR
    for (int j = 0; j < h; j++)         // PAR
      out[i][j] = forward[i][j] + backward[i][j];
}
