/* Calls everything with values of which nothing is known. */
#include <stdlib.h>
#include "held_out.h"
#include "styles.h"

int repaint(int a, int b) { return printf("%d %d\n", a, b); }

int main(int argc, char **argv) {
  char name[64] = "", line[64] = "a=b";
  const char *text = argc > 1 ? argv[1] : "1";
  int values[4] = {argc, rand(), rand(), rand()}, k = rand(), sum = 0;
  struct entry last = {rand(), 1, 0}, first = {rand(), 2, &last};
  bad_78_argument(text);
  good_78_argument(k);
  bad_78_line(stdin);
  good_78_line(stdin);
  bad_134_argument(text);
  good_134_argument(text);
  bad_134_packet(k);
  good_134_packet(k);
  free(bad_190_responses(k));
  free(good_190_responses(k));
  free(bad_190_image(stdin));
  free(good_190_image(stdin));
  free(bad_190_table(text));
  free(good_190_table(text));
  bad_476_host(values, name, sizeof name);
  good_476_host(values, name, sizeof name);
  sum += bad_476_environment() + good_476_environment();
  bad_476_separator(line);
  good_476_separator(line);
  sum += bad_476_list(&first, k) + good_476_list(&first, k);
  sum += bad_369_average(text) + good_369_average(text);
  sum += bad_369_counted(values, 4) + good_369_counted(values, 4);
  sum += bad_369_mode(k) + good_369_mode(k);
  sum += bad_457_default(k, argc) + good_457_default(k, argc);
  bad_457_text(k, argc);
  good_457_text(k, argc);
  sum += bad_457_field(k) + good_457_field(k);
  sum += bad_457_failed(text) + good_457_failed(text);
  sum += bad_561_sign(k) + good_561_sign(k);
  sum += bad_561_flag(k) + good_561_flag(k);
  return sum + styles(argc, argv);
}
