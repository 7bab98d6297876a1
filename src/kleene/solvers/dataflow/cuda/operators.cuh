// Written by translate.py from the Python of the folder above: edit that.
#pragma once
typedef long long i64;
typedef unsigned long long u64;

// What the Python has as intrinsics, or what its operators mean where those of C differ.
__device__ inline i64 plus(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
__device__ inline i64 minus(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
__device__ inline i64 times(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
__device__ inline i64 shifted_left(i64 a, i64 n) { return (i64)((u64)a << n); }
__device__ inline i64 quotient(i64 a, i64 b) { return (i64)((u64)a / (u64)b); }
__device__ inline i64 remainder(i64 a, i64 b) { return (i64)((u64)a % (u64)b); }
__device__ inline i64 highest(i64 word) { return 63 - (i64)__clzll(word); }
__device__ inline i64 lowest(i64 word) { return word == 0 ? 64 : (i64)__ffsll(word) - 1; }
__device__ inline i64 lower_of(i64 a, i64 b) { return a < b ? a : b; }
__device__ inline i64 upper_of(i64 a, i64 b) { return a < b ? b : a; }
__device__ inline i64 floor_divide(i64 a, i64 b) {
  const i64 found = a / b;
  return found * b != a && (a < 0) != (b < 0) ? found - 1 : found;
}

struct Several2 {
  i64 v0, v1;
};

struct Several3 {
  i64 v0, v1, v2;
};

__device__ i64 low_bits(i64 n);
__device__ i64 bit(i64 n);
__device__ i64 is_below(i64 a, i64 b);
__device__ i64 lesser(i64 a, i64 b);
__device__ i64 greater(i64 a, i64 b);
__device__ i64 as_signed(i64 pattern, i64 width);
__device__ i64 shifted_right(i64 pattern, i64 n);
__device__ i64 n_low_zeros(i64 pattern);
__device__ __noinline__ Several2 next_match(i64 start, i64 zeros, i64 ones, i64 full);
__device__ void set_nothing(long long* facts, i64 row, i64 state);
__device__ void set_any(long long* facts, i64 row, i64 width, i64 state);
__device__ void set_constant(long long* facts, i64 row, i64 width, i64 number, i64 state);
__device__ void copy(long long* facts, i64 row, i64 source);
__device__ i64 differ(long long* facts, i64 row, i64 other);
__device__ void join(long long* facts, i64 row, i64 other);
__device__ void meet(long long* facts, i64 row, i64 other, i64 width);
__device__ i64 holds(long long* facts, i64 row, i64 number, i64 width);
__device__ i64 is_constant(long long* facts, i64 row);
__device__ Several3 _shrunk(i64 least, i64 most, i64 zeros, i64 ones, i64 full);
__device__ __noinline__ void reduce(long long* facts, i64 row, i64 width);
__device__ __noinline__ void round_up(long long* facts, i64 row, i64 width, const long long* signed_, const long long* unsigned_, i64 start, i64 end);
__device__ Several2 _sum(i64 x, i64 y, i64 width);
__device__ Several2 _difference(i64 x, i64 y, i64 width);
__device__ i64 _magnitude(i64 x);
__device__ Several2 _product(i64 x, i64 y, i64 width);
__device__ i64 _toward_zero(i64 x, i64 y, i64 width);
__device__ __noinline__ void _set_signed(long long* facts, i64 row, i64 low, i64 off_low, i64 high, i64 off_high, i64 width, i64 no_wrap);
__device__ __noinline__ void _set_unsigned(long long* facts, i64 row, i64 least, i64 off_least, i64 most, i64 off_most, i64 width, i64 no_wrap, i64 is_low_off);
__device__ void _add_bits(long long* facts, i64 row, i64 zeros_a, i64 ones_a, i64 zeros_b, i64 ones_b, i64 carry, i64 width);
__device__ void _add(long long* facts, i64 row, i64 a, i64 b, i64 width, i64 flags);
__device__ void _subtract(long long* facts, i64 row, i64 a, i64 b, i64 width, i64 flags);
__device__ __noinline__ void _multiply(long long* facts, i64 row, i64 a, i64 b, i64 width, i64 flags);
__device__ void _unsigned_divide(long long* facts, i64 row, i64 a, i64 b);
__device__ __noinline__ void _signed_divide(long long* facts, i64 row, i64 a, i64 b, i64 width);
__device__ void _unsigned_remainder(long long* facts, i64 row, i64 a, i64 b);
__device__ void _signed_remainder(long long* facts, i64 row, i64 a, i64 b);
__device__ __noinline__ void _shift(long long* facts, i64 row, i64 operator_, i64 a, i64 b, i64 width, i64 flags);
__device__ __noinline__ void _shift_left(long long* facts, i64 row, i64 a, i64 least, i64 most, i64 width, i64 flags);
__device__ void _bitwise(long long* facts, i64 row, i64 operator_, i64 a, i64 b);
__device__ __noinline__ void _extreme(long long* facts, i64 row, i64 operator_, i64 a, i64 b);
__device__ __noinline__ void binary(long long* facts, i64 row, i64 operator_, i64 a, i64 b, i64 width, i64 flags);
__device__ i64 _may_be_equal(long long* facts, i64 a, i64 b);
__device__ __noinline__ i64 may_hold(long long* facts, i64 predicate, i64 a, i64 b);
__device__ void compare(long long* facts, i64 row, i64 predicate, i64 a, i64 b);
__device__ void _without(long long* facts, i64 row, i64 number, i64 width);
__device__ void exclude(long long* facts, i64 row, i64 width, const long long* attribute, const int* operands, i64 start, i64 end);
__device__ __noinline__ void refine(long long* facts, i64 row, i64 predicate, i64 a, i64 b, i64 width);
__device__ i64 is_covered(long long* facts, i64 a, i64 width, const long long* attribute, const int* operands, i64 start, i64 end);
__device__ __noinline__ void _cast(long long* facts, i64 row, i64 operator_, i64 a, i64 width, i64 from_width, i64 flags);
__device__ void _set_when(long long* facts, i64 row, i64 is_reached);
__device__ void _address(long long* facts, i64 row, i64 a, i64 width, i64 attribute);
__device__ __noinline__ void evaluate(long long* facts, i64 row, i64 name, const unsigned char* operator_, const unsigned char* width, const long long* attribute, const long long* offsets, const int* operands, const long long* given);
__device__ __noinline__ Several3 _mark_users(i64 place, i64 start, i64 end, const long long* user_offsets, const int* users, unsigned char* is_due, i64 groups, i64 first);
__device__ i64 _next_due(i64 place, i64 start, unsigned char* is_due, i64 groups);
__device__ __noinline__ i64 evaluate_up(long long* facts, i64 name, i64 result, const unsigned char* operator_, const unsigned char* width, const long long* attribute, const long long* offsets, const int* operands, const long long* given, const int* threshold_set, const long long* threshold_offsets, const long long* signed_, const long long* unsigned_);
__device__ i64 evaluate_down(long long* facts, i64 name, i64 result, const unsigned char* operator_, const unsigned char* width, const long long* attribute, const long long* offsets, const int* operands, const long long* given);
__device__ __noinline__ void solve_component(long long* facts, i64 result, i64 start, i64 end, const unsigned char* operator_, const unsigned char* width, const long long* attribute, const long long* offsets, const int* operands, const long long* given, const long long* user_offsets, const int* users, const int* threshold_set, const long long* threshold_offsets, const long long* signed_, const long long* unsigned_, i64 narrowing, unsigned char* is_due, i64 groups, long long* counts, i64 at);

__device__ i64 low_bits(i64 n) {
  return (((i64)(n) >= (i64)(64)) ? (i64)((-1)) : (i64)(minus(shifted_left(1, n), 1)));
}

__device__ i64 bit(i64 n) {
  return ((i64)(low_bits(((i64)(n) + (i64)(1)))) & (i64)((~(i64)(low_bits(n)))));
}

__device__ i64 is_below(i64 a, i64 b) {
  return ((i64)(((i64)(a) ^ (i64)((-9223372036854775807LL - 1)))) < (i64)(((i64)(b) ^ (i64)((-9223372036854775807LL - 1)))));
}

__device__ i64 lesser(i64 a, i64 b) {
  return (is_below(a, b) ? (i64)(a) : (i64)(b));
}

__device__ i64 greater(i64 a, i64 b) {
  return (is_below(a, b) ? (i64)(b) : (i64)(a));
}

__device__ i64 as_signed(i64 pattern, i64 width) {
  return (((i64)(pattern) & (i64)(bit(((i64)(width) - (i64)(1))))) ? (i64)(((i64)(pattern) | (i64)((~(i64)(low_bits(width)))))) : (i64)(pattern));
}

__device__ i64 shifted_right(i64 pattern, i64 n) {
  return (((i64)(n) == (i64)(0)) ? (i64)(pattern) : (i64)(((i64)(((i64)(pattern) >> (i64)(n))) & (i64)(low_bits(((i64)(64) - (i64)(n)))))));
}

__device__ i64 n_low_zeros(i64 pattern) {
  return lowest(pattern);
}

__device__ __noinline__ Several2 next_match(i64 start, i64 zeros, i64 ones, i64 full) {
  i64 free_ = 0, place = 0, wrong = 0;
  wrong = ((i64)(((i64)(((i64)(start) & (i64)(zeros))) | (i64)(((i64)((~(i64)(start))) & (i64)(ones))))) & (i64)(full));
  if (((i64)(wrong) == (i64)(0))) {
    return Several2{1, start};
  }
  place = highest(wrong);
  if (((i64)(start) & (i64)(bit(place)))) {
    free_ = ((i64)(((i64)(((i64)((~(i64)(start))) & (i64)((~(i64)(zeros))))) & (i64)(full))) & (i64)((~(i64)(low_bits(((i64)(place) + (i64)(1)))))));
    if (((i64)(free_) == (i64)(0))) {
      return Several2{0, start};
    }
    place = lowest(free_);
  }
  return Several2{1, ((i64)(((i64)(((i64)(start) & (i64)((~(i64)(low_bits(((i64)(place) + (i64)(1)))))))) | (i64)(bit(place)))) | (i64)(((i64)(ones) & (i64)(low_bits(place)))))};
}

__device__ void set_nothing(long long* facts, i64 row, i64 state) {
  i64 column = 0;
  for (column = 0; column < 6LL; column += 1) {
    facts[((i64)(row) + (i64)(column))] = 0;
  }
  facts[((i64)(row) + (i64)(6LL))] = ((i64)(state) & (i64)(2LL));
}

__device__ void set_any(long long* facts, i64 row, i64 width, i64 state) {
  const i64 several_0_0 = (~(i64)(low_bits(((i64)(width) - (i64)(1)))));
  const i64 several_0_1 = low_bits(((i64)(width) - (i64)(1)));
  facts[((i64)(row) + (i64)(0LL))] = several_0_0;
  facts[((i64)(row) + (i64)(1LL))] = several_0_1;
  const i64 several_1_0 = 0;
  const i64 several_1_1 = low_bits(width);
  facts[((i64)(row) + (i64)(2LL))] = several_1_0;
  facts[((i64)(row) + (i64)(3LL))] = several_1_1;
  const i64 several_2_0 = 0;
  const i64 several_2_1 = 0;
  facts[((i64)(row) + (i64)(4LL))] = several_2_0;
  facts[((i64)(row) + (i64)(5LL))] = several_2_1;
  facts[((i64)(row) + (i64)(6LL))] = state;
}

__device__ void set_constant(long long* facts, i64 row, i64 width, i64 number, i64 state) {
  i64 pattern = 0;
  pattern = ((i64)(number) & (i64)(low_bits(width)));
  facts[((i64)(row) + (i64)(0LL))] = facts[((i64)(row) + (i64)(1LL))] = as_signed(pattern, width);
  facts[((i64)(row) + (i64)(2LL))] = facts[((i64)(row) + (i64)(3LL))] = pattern;
  const i64 several_0_0 = ((i64)((~(i64)(pattern))) & (i64)(low_bits(width)));
  const i64 several_0_1 = pattern;
  facts[((i64)(row) + (i64)(4LL))] = several_0_0;
  facts[((i64)(row) + (i64)(5LL))] = several_0_1;
  facts[((i64)(row) + (i64)(6LL))] = state;
}

__device__ void copy(long long* facts, i64 row, i64 source) {
  i64 column = 0;
  for (column = 0; column < ((i64)(6LL) + (i64)(1)); column += 1) {
    facts[((i64)(row) + (i64)(column))] = facts[((i64)(source) + (i64)(column))];
  }
}

__device__ i64 differ(long long* facts, i64 row, i64 other) {
  i64 column = 0;
  for (column = 0; column < ((i64)(6LL) + (i64)(1)); column += 1) {
    if (((i64)(facts[((i64)(row) + (i64)(column))]) != (i64)(facts[((i64)(other) + (i64)(column))]))) {
      return 1;
    }
  }
  return 0;
}

__device__ void join(long long* facts, i64 row, i64 other) {
  i64 state = 0;
  state = ((i64)(facts[((i64)(row) + (i64)(6LL))]) | (i64)(facts[((i64)(other) + (i64)(6LL))]));
  if (((i64)(facts[((i64)(other) + (i64)(6LL))]) & (i64)(1LL))) {
    if (((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(1LL))) {
      facts[((i64)(row) + (i64)(0LL))] = lower_of(facts[((i64)(row) + (i64)(0LL))], facts[((i64)(other) + (i64)(0LL))]);
      facts[((i64)(row) + (i64)(1LL))] = upper_of(facts[((i64)(row) + (i64)(1LL))], facts[((i64)(other) + (i64)(1LL))]);
      facts[((i64)(row) + (i64)(2LL))] = lesser(facts[((i64)(row) + (i64)(2LL))], facts[((i64)(other) + (i64)(2LL))]);
      facts[((i64)(row) + (i64)(3LL))] = greater(facts[((i64)(row) + (i64)(3LL))], facts[((i64)(other) + (i64)(3LL))]);
      facts[((i64)(row) + (i64)(4LL))] &= facts[((i64)(other) + (i64)(4LL))];
      facts[((i64)(row) + (i64)(5LL))] &= facts[((i64)(other) + (i64)(5LL))];
    } else {
      copy(facts, row, other);
    }
  }
  facts[((i64)(row) + (i64)(6LL))] = state;
}

__device__ void meet(long long* facts, i64 row, i64 other, i64 width) {
  i64 state = 0;
  state = ((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(facts[((i64)(other) + (i64)(6LL))]));
  if ((!(i64)(((i64)(state) & (i64)(1LL))))) {
    set_nothing(facts, row, state);
    return;
  }
  facts[((i64)(row) + (i64)(0LL))] = upper_of(facts[((i64)(row) + (i64)(0LL))], facts[((i64)(other) + (i64)(0LL))]);
  facts[((i64)(row) + (i64)(1LL))] = lower_of(facts[((i64)(row) + (i64)(1LL))], facts[((i64)(other) + (i64)(1LL))]);
  facts[((i64)(row) + (i64)(2LL))] = greater(facts[((i64)(row) + (i64)(2LL))], facts[((i64)(other) + (i64)(2LL))]);
  facts[((i64)(row) + (i64)(3LL))] = lesser(facts[((i64)(row) + (i64)(3LL))], facts[((i64)(other) + (i64)(3LL))]);
  facts[((i64)(row) + (i64)(4LL))] |= facts[((i64)(other) + (i64)(4LL))];
  facts[((i64)(row) + (i64)(5LL))] |= facts[((i64)(other) + (i64)(5LL))];
  facts[((i64)(row) + (i64)(6LL))] = state;
  reduce(facts, row, width);
}

__device__ i64 holds(long long* facts, i64 row, i64 number, i64 width) {
  i64 pattern = 0, signed_ = 0;
  pattern = ((i64)(number) & (i64)(low_bits(width)));
  signed_ = as_signed(pattern, width);
  if (((!(i64)(((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(1LL)))) || (!(i64)(((i64)(facts[((i64)(row) + (i64)(0LL))]) <= (i64)(signed_) && (i64)(signed_) <= (i64)(facts[((i64)(row) + (i64)(1LL))])))))) {
    return 0;
  }
  if ((is_below(pattern, facts[((i64)(row) + (i64)(2LL))]) || is_below(facts[((i64)(row) + (i64)(3LL))], pattern))) {
    return 0;
  }
  return (!(i64)(((i64)(((i64)(pattern) & (i64)(facts[((i64)(row) + (i64)(4LL))]))) | (i64)(((i64)((~(i64)(pattern))) & (i64)(facts[((i64)(row) + (i64)(5LL))]))))));
}

__device__ i64 is_constant(long long* facts, i64 row) {
  return (((((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(1LL))) != 0) && ((((i64)(facts[((i64)(row) + (i64)(0LL))]) == (i64)(facts[((i64)(row) + (i64)(1LL))]))) != 0));
}

__device__ Several3 _shrunk(i64 least, i64 most, i64 zeros, i64 ones, i64 full) {
  i64 _ = 0, complement = 0, found = 0;
  if (is_below(most, least)) {
    return Several3{0, least, most};
  }
  const Several2 several_0 = next_match(least, zeros, ones, full);
  found = several_0.v0;
  least = several_0.v1;
  if (((!(i64)(found)) || is_below(most, least))) {
    return Several3{0, least, most};
  }
  const Several2 several_1 = next_match(((i64)((~(i64)(most))) & (i64)(full)), ones, zeros, full);
  _ = several_1.v0;
  complement = several_1.v1;
  return Several3{1, least, ((i64)((~(i64)(complement))) & (i64)(full))};
}

__device__ __noinline__ void reduce(long long* facts, i64 row, i64 width) {
  i64 _ = 0, full = 0, half = 0, has_minus = 0, has_plain = 0, high = 0, known = 0, least = 0, low = 0, minus_high = 0, minus_low = 0, most = 0, new_ones = 0, new_zeros = 0, ones = 0, plain_high = 0, plain_low = 0, zeros = 0;
  if ((!(i64)(((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(1LL))))) {
    set_nothing(facts, row, facts[((i64)(row) + (i64)(6LL))]);
    return;
  }
  const i64 several_0_0 = low_bits(width);
  const i64 several_0_1 = low_bits(((i64)(width) - (i64)(1)));
  full = several_0_0;
  half = several_0_1;
  for (_ = 0; _ < 3; _ += 1) {
    const i64 several_1_0 = facts[((i64)(row) + (i64)(0LL))];
    const i64 several_1_1 = facts[((i64)(row) + (i64)(1LL))];
    low = several_1_0;
    high = several_1_1;
    const i64 several_2_0 = facts[((i64)(row) + (i64)(2LL))];
    const i64 several_2_1 = facts[((i64)(row) + (i64)(3LL))];
    least = several_2_0;
    most = several_2_1;
    const i64 several_3_0 = facts[((i64)(row) + (i64)(4LL))];
    const i64 several_3_1 = facts[((i64)(row) + (i64)(5LL))];
    zeros = several_3_0;
    ones = several_3_1;
    if ((((i64)(low) > (i64)(high)) || is_below(most, least) || ((i64)(zeros) & (i64)(ones)))) {
      set_nothing(facts, row, facts[((i64)(row) + (i64)(6LL))]);
      return;
    }
    const i64 several_4_0 = 0;
    const i64 several_4_1 = 0;
    const i64 several_4_2 = 0;
    has_plain = several_4_0;
    plain_low = several_4_1;
    plain_high = several_4_2;
    if (((i64)(high) >= (i64)(0))) {
      const Several3 several_5 = _shrunk(greater(upper_of(low, 0), least), lesser(lower_of(high, half), most), zeros, ones, full);
      has_plain = several_5.v0;
      plain_low = several_5.v1;
      plain_high = several_5.v2;
    }
    const i64 several_6_0 = 0;
    const i64 several_6_1 = 0;
    const i64 several_6_2 = 0;
    has_minus = several_6_0;
    minus_low = several_6_1;
    minus_high = several_6_2;
    if (((i64)(low) < (i64)(0))) {
      const Several3 several_7 = _shrunk(greater(((i64)(low) & (i64)(full)), least), lesser(((i64)(lower_of(high, (-1))) & (i64)(full)), most), zeros, ones, full);
      has_minus = several_7.v0;
      minus_low = several_7.v1;
      minus_high = several_7.v2;
    }
    if (((!(i64)(has_plain)) && (!(i64)(has_minus)))) {
      set_nothing(facts, row, facts[((i64)(row) + (i64)(6LL))]);
      return;
    }
    const i64 several_8_0 = full;
    const i64 several_8_1 = full;
    new_zeros = several_8_0;
    new_ones = several_8_1;
    if (has_plain) {
      known = ((i64)(full) & (i64)((~(i64)(low_bits(((i64)(highest(((i64)(plain_low) ^ (i64)(plain_high)))) + (i64)(1)))))));
      new_zeros &= ((i64)(zeros) | (i64)(((i64)(known) & (i64)((~(i64)(plain_low))))));
      new_ones &= ((i64)(ones) | (i64)(((i64)(known) & (i64)(plain_low))));
    }
    if (has_minus) {
      known = ((i64)(full) & (i64)((~(i64)(low_bits(((i64)(highest(((i64)(minus_low) ^ (i64)(minus_high)))) + (i64)(1)))))));
      new_zeros &= ((i64)(zeros) | (i64)(((i64)(known) & (i64)((~(i64)(minus_low))))));
      new_ones &= ((i64)(ones) | (i64)(((i64)(known) & (i64)(minus_low))));
    }
    facts[((i64)(row) + (i64)(0LL))] = (has_minus ? (i64)(as_signed(minus_low, width)) : (i64)(plain_low));
    facts[((i64)(row) + (i64)(1LL))] = (has_plain ? (i64)(plain_high) : (i64)(as_signed(minus_high, width)));
    facts[((i64)(row) + (i64)(2LL))] = (has_plain ? (i64)(plain_low) : (i64)(minus_low));
    facts[((i64)(row) + (i64)(3LL))] = (has_minus ? (i64)(minus_high) : (i64)(plain_high));
    const i64 several_9_0 = new_zeros;
    const i64 several_9_1 = new_ones;
    facts[((i64)(row) + (i64)(4LL))] = several_9_0;
    facts[((i64)(row) + (i64)(5LL))] = several_9_1;
    if ((((i64)(new_zeros) == (i64)(zeros)) && ((i64)(new_ones) == (i64)(ones)) && ((i64)(facts[((i64)(row) + (i64)(0LL))]) == (i64)(low)) && ((i64)(facts[((i64)(row) + (i64)(1LL))]) == (i64)(high)) && ((i64)(facts[((i64)(row) + (i64)(2LL))]) == (i64)(least)) && ((i64)(facts[((i64)(row) + (i64)(3LL))]) == (i64)(most)))) {
      return;
    }
  }
}

__device__ __noinline__ void round_up(long long* facts, i64 row, i64 width, const long long* signed_, const long long* unsigned_, i64 start, i64 end) {
  i64 forgotten = 0, high = 0, least = 0, low = 0, most = 0, n_low = 0, place = 0, unknown = 0;
  if (((!(i64)(((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(1LL)))) || is_constant(facts, row))) {
    return;
  }
  place = start;
  const i64 several_0_0 = (~(i64)(low_bits(((i64)(width) - (i64)(1)))));
  const i64 several_0_1 = low_bits(((i64)(width) - (i64)(1)));
  low = several_0_0;
  high = several_0_1;
  while ((((i64)(place) < (i64)(end)) && ((i64)(signed_[place]) <= (i64)(facts[((i64)(row) + (i64)(0LL))])))) {
    low = upper_of(low, signed_[place]);
    place += 1;
  }
  while ((((i64)(place) < (i64)(end)) && ((i64)(signed_[place]) < (i64)(facts[((i64)(row) + (i64)(1LL))])))) {
    place += 1;
  }
  if (((i64)(place) < (i64)(end))) {
    high = lower_of(high, signed_[place]);
  }
  place = start;
  const i64 several_1_0 = 0;
  const i64 several_1_1 = low_bits(width);
  least = several_1_0;
  most = several_1_1;
  while ((((i64)(place) < (i64)(end)) && (!(i64)(is_below(facts[((i64)(row) + (i64)(2LL))], unsigned_[place]))))) {
    least = unsigned_[place];
    place += 1;
  }
  while ((((i64)(place) < (i64)(end)) && is_below(unsigned_[place], facts[((i64)(row) + (i64)(3LL))]))) {
    place += 1;
  }
  if (((i64)(place) < (i64)(end))) {
    most = lesser(most, unsigned_[place]);
  }
  unknown = ((i64)((~(i64)(((i64)(facts[((i64)(row) + (i64)(4LL))]) | (i64)(facts[((i64)(row) + (i64)(5LL))]))))) & (i64)(low_bits(width)));
  n_low = 1;
  while ((((i64)(n_low) < (i64)(64)) && ((i64)(n_low) <= (i64)(highest(unknown))))) {
    n_low *= 2;
  }
  forgotten = ((i64)(low_bits(lower_of(n_low, width))) & (i64)((~(i64)(low_bits(((i64)(highest(unknown)) + (i64)(1)))))));
  const i64 several_2_0 = low;
  const i64 several_2_1 = high;
  facts[((i64)(row) + (i64)(0LL))] = several_2_0;
  facts[((i64)(row) + (i64)(1LL))] = several_2_1;
  const i64 several_3_0 = least;
  const i64 several_3_1 = most;
  facts[((i64)(row) + (i64)(2LL))] = several_3_0;
  facts[((i64)(row) + (i64)(3LL))] = several_3_1;
  facts[((i64)(row) + (i64)(4LL))] &= (~(i64)(forgotten));
  facts[((i64)(row) + (i64)(5LL))] &= (~(i64)(forgotten));
  reduce(facts, row, width);
}

__device__ Several2 _sum(i64 x, i64 y, i64 width) {
  i64 off = 0, total = 0;
  total = plus(x, y);
  if (((i64)(width) == (i64)(64))) {
    if ((((i64)(x) >= (i64)(0)) && ((i64)(y) >= (i64)(0)) && ((i64)(total) < (i64)(0)))) {
      return Several2{total, 1};
    }
    return Several2{total, ((((i64)(x) < (i64)(0)) && ((i64)(y) < (i64)(0)) && ((i64)(total) >= (i64)(0))) ? (i64)((-1)) : (i64)(0))};
  }
  off = (((i64)(total) > (i64)(low_bits(((i64)(width) - (i64)(1))))) ? (i64)(1) : (i64)((((i64)(total) < (i64)((~(i64)(low_bits(((i64)(width) - (i64)(1))))))) ? (i64)((-1)) : (i64)(0))));
  return Several2{as_signed(((i64)(total) & (i64)(low_bits(width))), width), off};
}

__device__ Several2 _difference(i64 x, i64 y, i64 width) {
  i64 off = 0, total = 0;
  total = minus(x, y);
  if (((i64)(width) == (i64)(64))) {
    if ((((i64)(x) >= (i64)(0)) && ((i64)(y) < (i64)(0)) && ((i64)(total) < (i64)(0)))) {
      return Several2{total, 1};
    }
    return Several2{total, ((((i64)(x) < (i64)(0)) && ((i64)(y) >= (i64)(0)) && ((i64)(total) >= (i64)(0))) ? (i64)((-1)) : (i64)(0))};
  }
  off = (((i64)(total) > (i64)(low_bits(((i64)(width) - (i64)(1))))) ? (i64)(1) : (i64)((((i64)(total) < (i64)((~(i64)(low_bits(((i64)(width) - (i64)(1))))))) ? (i64)((-1)) : (i64)(0))));
  return Several2{as_signed(((i64)(total) & (i64)(low_bits(width))), width), off};
}

__device__ i64 _magnitude(i64 x) {
  return (((i64)(x) >= (i64)(0)) ? (i64)(x) : (i64)(minus(0, x)));
}

__device__ Several2 _product(i64 x, i64 y, i64 width) {
  i64 bound = 0, limit = 0, negative = 0;
  if ((((i64)(x) == (i64)(0)) || ((i64)(y) == (i64)(0)))) {
    return Several2{0, 0};
  }
  negative = ((i64)(((i64)(x) < (i64)(0))) != (i64)(((i64)(y) < (i64)(0))));
  limit = low_bits(((i64)(width) - (i64)(1)));
  bound = (negative ? (i64)(plus(limit, 1)) : (i64)(limit));
  if (is_below(quotient(bound, _magnitude(y)), _magnitude(x))) {
    return negative ? Several2{(~(i64)(limit)), (-1)} : Several2{limit, 1};
  }
  return Several2{times(x, y), 0};
}

__device__ i64 _toward_zero(i64 x, i64 y, i64 width) {
  i64 found = 0;
  if (((i64)(y) == (i64)((-1)))) {
    return (((i64)(x) == (i64)((~(i64)(low_bits(((i64)(width) - (i64)(1))))))) ? (i64)(low_bits(((i64)(width) - (i64)(1)))) : (i64)(minus(0, x)));
  }
  found = floor_divide(x, y);
  return ((((i64)(found) < (i64)(0)) && ((i64)(((i64)(found) * (i64)(y))) != (i64)(x))) ? (i64)(((i64)(found) + (i64)(1))) : (i64)(found));
}

__device__ __noinline__ void _set_signed(long long* facts, i64 row, i64 low, i64 off_low, i64 high, i64 off_high, i64 width, i64 no_wrap) {
  i64 least = 0, most = 0;
  const i64 several_0_0 = (~(i64)(low_bits(((i64)(width) - (i64)(1)))));
  const i64 several_0_1 = low_bits(((i64)(width) - (i64)(1)));
  least = several_0_0;
  most = several_0_1;
  if ((((i64)(off_low) == (i64)(0)) && ((i64)(off_high) == (i64)(0)))) {
    const i64 several_1_0 = low;
    const i64 several_1_1 = high;
    facts[((i64)(row) + (i64)(0LL))] = several_1_0;
    facts[((i64)(row) + (i64)(1LL))] = several_1_1;
  } else {
    if (no_wrap) {
      facts[((i64)(row) + (i64)(6LL))] |= 2LL;
      if ((((i64)(off_low) > (i64)(0)) || ((i64)(off_high) < (i64)(0)))) {
        set_nothing(facts, row, facts[((i64)(row) + (i64)(6LL))]);
        return;
      }
      facts[((i64)(row) + (i64)(0LL))] = (((i64)(off_low) < (i64)(0)) ? (i64)(least) : (i64)(low));
      facts[((i64)(row) + (i64)(1LL))] = (((i64)(off_high) > (i64)(0)) ? (i64)(most) : (i64)(high));
    } else {
      if (((i64)(off_low) == (i64)(off_high))) {
        const i64 several_2_0 = low;
        const i64 several_2_1 = high;
        facts[((i64)(row) + (i64)(0LL))] = several_2_0;
        facts[((i64)(row) + (i64)(1LL))] = several_2_1;
      }
    }
  }
}

__device__ __noinline__ void _set_unsigned(long long* facts, i64 row, i64 least, i64 off_least, i64 most, i64 off_most, i64 width, i64 no_wrap, i64 is_low_off) {
  if ((!(i64)(((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(1LL))))) {
    return;
  }
  if (((!(i64)(off_least)) && (!(i64)(off_most)))) {
    const i64 several_0_0 = least;
    const i64 several_0_1 = most;
    facts[((i64)(row) + (i64)(2LL))] = several_0_0;
    facts[((i64)(row) + (i64)(3LL))] = several_0_1;
  } else {
    if (no_wrap) {
      facts[((i64)(row) + (i64)(6LL))] |= 2LL;
      if ((off_least && off_most)) {
        set_nothing(facts, row, facts[((i64)(row) + (i64)(6LL))]);
      } else {
        if (is_low_off) {
          const i64 several_1_0 = 0;
          const i64 several_1_1 = most;
          facts[((i64)(row) + (i64)(2LL))] = several_1_0;
          facts[((i64)(row) + (i64)(3LL))] = several_1_1;
        } else {
          const i64 several_2_0 = least;
          const i64 several_2_1 = low_bits(width);
          facts[((i64)(row) + (i64)(2LL))] = several_2_0;
          facts[((i64)(row) + (i64)(3LL))] = several_2_1;
        }
      }
    } else {
      if ((off_least && off_most)) {
        const i64 several_3_0 = least;
        const i64 several_3_1 = most;
        facts[((i64)(row) + (i64)(2LL))] = several_3_0;
        facts[((i64)(row) + (i64)(3LL))] = several_3_1;
      }
    }
  }
}

__device__ void _add_bits(long long* facts, i64 row, i64 zeros_a, i64 ones_a, i64 zeros_b, i64 ones_b, i64 carry, i64 width) {
  i64 carry_one = 0, carry_zero = 0, full = 0, known = 0, largest = 0, smallest = 0;
  full = low_bits(width);
  largest = plus(plus(((i64)((~(i64)(zeros_a))) & (i64)(full)), ((i64)((~(i64)(zeros_b))) & (i64)(full))), carry);
  smallest = plus(plus(ones_a, ones_b), carry);
  carry_zero = (~(i64)(((i64)(((i64)(largest) ^ (i64)((~(i64)(zeros_a))))) ^ (i64)((~(i64)(zeros_b))))));
  carry_one = ((i64)(((i64)(smallest) ^ (i64)(ones_a))) ^ (i64)(ones_b));
  known = ((i64)(((i64)(((i64)(((i64)(zeros_a) | (i64)(ones_a))) & (i64)(((i64)(zeros_b) | (i64)(ones_b))))) & (i64)(((i64)(carry_zero) | (i64)(carry_one))))) & (i64)(full));
  const i64 several_0_0 = ((i64)((~(i64)(largest))) & (i64)(known));
  const i64 several_0_1 = ((i64)(smallest) & (i64)(known));
  facts[((i64)(row) + (i64)(4LL))] = several_0_0;
  facts[((i64)(row) + (i64)(5LL))] = several_0_1;
}

__device__ void _add(long long* facts, i64 row, i64 a, i64 b, i64 width, i64 flags) {
  i64 full = 0, high = 0, least = 0, low = 0, most = 0, off_high = 0, off_least = 0, off_low = 0, off_most = 0;
  const Several2 several_0 = _sum(facts[((i64)(a) + (i64)(0LL))], facts[((i64)(b) + (i64)(0LL))], width);
  low = several_0.v0;
  off_low = several_0.v1;
  const Several2 several_1 = _sum(facts[((i64)(a) + (i64)(1LL))], facts[((i64)(b) + (i64)(1LL))], width);
  high = several_1.v0;
  off_high = several_1.v1;
  _set_signed(facts, row, low, off_low, high, off_high, width, ((i64)(((i64)(flags) & (i64)(2LL))) != (i64)(0)));
  full = low_bits(width);
  least = ((i64)(plus(facts[((i64)(a) + (i64)(2LL))], facts[((i64)(b) + (i64)(2LL))])) & (i64)(full));
  most = ((i64)(plus(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(b) + (i64)(3LL))])) & (i64)(full));
  const i64 several_2_0 = is_below(least, facts[((i64)(a) + (i64)(2LL))]);
  const i64 several_2_1 = is_below(most, facts[((i64)(a) + (i64)(3LL))]);
  off_least = several_2_0;
  off_most = several_2_1;
  _set_unsigned(facts, row, least, off_least, most, off_most, width, ((i64)(((i64)(flags) & (i64)(1LL))) != (i64)(0)), 0);
  _add_bits(facts, row, facts[((i64)(a) + (i64)(4LL))], facts[((i64)(a) + (i64)(5LL))], facts[((i64)(b) + (i64)(4LL))], facts[((i64)(b) + (i64)(5LL))], 0, width);
}

__device__ void _subtract(long long* facts, i64 row, i64 a, i64 b, i64 width, i64 flags) {
  i64 full = 0, high = 0, least = 0, low = 0, most = 0, off_high = 0, off_least = 0, off_low = 0, off_most = 0;
  const Several2 several_0 = _difference(facts[((i64)(a) + (i64)(0LL))], facts[((i64)(b) + (i64)(1LL))], width);
  low = several_0.v0;
  off_low = several_0.v1;
  const Several2 several_1 = _difference(facts[((i64)(a) + (i64)(1LL))], facts[((i64)(b) + (i64)(0LL))], width);
  high = several_1.v0;
  off_high = several_1.v1;
  _set_signed(facts, row, low, off_low, high, off_high, width, ((i64)(((i64)(flags) & (i64)(2LL))) != (i64)(0)));
  full = low_bits(width);
  least = ((i64)(minus(facts[((i64)(a) + (i64)(2LL))], facts[((i64)(b) + (i64)(3LL))])) & (i64)(full));
  most = ((i64)(minus(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(b) + (i64)(2LL))])) & (i64)(full));
  off_least = is_below(facts[((i64)(a) + (i64)(2LL))], facts[((i64)(b) + (i64)(3LL))]);
  off_most = is_below(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(b) + (i64)(2LL))]);
  _set_unsigned(facts, row, least, off_least, most, off_most, width, ((i64)(((i64)(flags) & (i64)(1LL))) != (i64)(0)), 1);
  _add_bits(facts, row, facts[((i64)(a) + (i64)(4LL))], facts[((i64)(a) + (i64)(5LL))], facts[((i64)(b) + (i64)(5LL))], facts[((i64)(b) + (i64)(4LL))], 1, width);
}

__device__ __noinline__ void _multiply(long long* facts, i64 row, i64 a, i64 b, i64 width, i64 flags) {
  i64 even_a = 0, even_b = 0, fits = 0, found = 0, full = 0, high = 0, is_off = 0, known = 0, known_a = 0, known_b = 0, least_a = 0, least_b = 0, least_fits = 0, low = 0, most_a = 0, most_b = 0, n_known = 0, off = 0, ones_a = 0, ones_b = 0, x = 0, y = 0, zeros_a = 0, zeros_b = 0;
  const i64 several_0_0 = low_bits(((i64)(width) - (i64)(1)));
  const i64 several_0_1 = (~(i64)(low_bits(((i64)(width) - (i64)(1)))));
  const i64 several_0_2 = 0;
  low = several_0_0;
  high = several_0_1;
  is_off = several_0_2;
  {
    const i64 items_4[2] = {facts[((i64)(a) + (i64)(0LL))], facts[((i64)(a) + (i64)(1LL))]};
    for (int item_4 = 0; item_4 < 2; ++item_4) {
      x = items_4[item_4];
      {
        const i64 items_3[2] = {facts[((i64)(b) + (i64)(0LL))], facts[((i64)(b) + (i64)(1LL))]};
        for (int item_3 = 0; item_3 < 2; ++item_3) {
          y = items_3[item_3];
          const Several2 several_1 = _product(x, y, width);
          found = several_1.v0;
          off = several_1.v1;
          const i64 several_2_0 = lower_of(low, found);
          const i64 several_2_1 = upper_of(high, found);
          const i64 several_2_2 = (is_off || ((i64)(off) != (i64)(0)));
          low = several_2_0;
          high = several_2_1;
          is_off = several_2_2;
        }
      }
    }
  }
  if (((!(i64)(is_off)) || ((i64)(flags) & (i64)(2LL)))) {
    const i64 several_5_0 = low;
    const i64 several_5_1 = high;
    facts[((i64)(row) + (i64)(0LL))] = several_5_0;
    facts[((i64)(row) + (i64)(1LL))] = several_5_1;
  }
  full = low_bits(width);
  const i64 several_6_0 = facts[((i64)(a) + (i64)(3LL))];
  const i64 several_6_1 = facts[((i64)(b) + (i64)(3LL))];
  most_a = several_6_0;
  most_b = several_6_1;
  fits = (((i64)(most_b) == (i64)(0)) || (!(i64)(is_below(quotient(full, most_b), most_a))));
  if ((fits || ((i64)(flags) & (i64)(1LL)))) {
    const i64 several_7_0 = facts[((i64)(a) + (i64)(2LL))];
    const i64 several_7_1 = facts[((i64)(b) + (i64)(2LL))];
    least_a = several_7_0;
    least_b = several_7_1;
    least_fits = (((i64)(least_b) == (i64)(0)) || (!(i64)(is_below(quotient(full, least_b), least_a))));
    facts[((i64)(row) + (i64)(2LL))] = (least_fits ? (i64)(times(least_a, least_b)) : (i64)(full));
    facts[((i64)(row) + (i64)(3LL))] = (fits ? (i64)(times(most_a, most_b)) : (i64)(full));
  }
  if (((is_off && ((i64)(flags) & (i64)(2LL))) || ((!(i64)(fits)) && ((i64)(flags) & (i64)(1LL))))) {
    facts[((i64)(row) + (i64)(6LL))] |= 2LL;
  }
  const i64 several_8_0 = facts[((i64)(a) + (i64)(4LL))];
  const i64 several_8_1 = facts[((i64)(b) + (i64)(4LL))];
  zeros_a = several_8_0;
  zeros_b = several_8_1;
  const i64 several_9_0 = facts[((i64)(a) + (i64)(5LL))];
  const i64 several_9_1 = facts[((i64)(b) + (i64)(5LL))];
  ones_a = several_9_0;
  ones_b = several_9_1;
  const i64 several_10_0 = n_low_zeros((~(i64)(((i64)(zeros_a) | (i64)(ones_a)))));
  const i64 several_10_1 = n_low_zeros((~(i64)(((i64)(zeros_b) | (i64)(ones_b)))));
  known_a = several_10_0;
  known_b = several_10_1;
  const i64 several_11_0 = n_low_zeros((~(i64)(zeros_a)));
  const i64 several_11_1 = n_low_zeros((~(i64)(zeros_b)));
  even_a = several_11_0;
  even_b = several_11_1;
  n_known = lower_of(lower_of(((i64)(known_a) + (i64)(even_b)), ((i64)(known_b) + (i64)(even_a))), width);
  known = low_bits(n_known);
  found = times(((i64)(ones_a) & (i64)(low_bits(known_a))), ((i64)(ones_b) & (i64)(low_bits(known_b))));
  const i64 several_12_0 = ((i64)((~(i64)(found))) & (i64)(known));
  const i64 several_12_1 = ((i64)(found) & (i64)(known));
  facts[((i64)(row) + (i64)(4LL))] = several_12_0;
  facts[((i64)(row) + (i64)(5LL))] = several_12_1;
}

__device__ void _unsigned_divide(long long* facts, i64 row, i64 a, i64 b) {
  if (((i64)(facts[((i64)(b) + (i64)(3LL))]) == (i64)(0))) {
    set_nothing(facts, row, 0);
    return;
  }
  facts[((i64)(row) + (i64)(2LL))] = quotient(facts[((i64)(a) + (i64)(2LL))], facts[((i64)(b) + (i64)(3LL))]);
  facts[((i64)(row) + (i64)(3LL))] = quotient(facts[((i64)(a) + (i64)(3LL))], greater(facts[((i64)(b) + (i64)(2LL))], 1));
}

__device__ __noinline__ void _signed_divide(long long* facts, i64 row, i64 a, i64 b, i64 width) {
  i64 found = 0, high = 0, low = 0, x = 0, y = 0;
  const i64 several_0_0 = low_bits(((i64)(width) - (i64)(1)));
  const i64 several_0_1 = (~(i64)(low_bits(((i64)(width) - (i64)(1)))));
  low = several_0_0;
  high = several_0_1;
  {
    const i64 items_5[2] = {facts[((i64)(a) + (i64)(0LL))], facts[((i64)(a) + (i64)(1LL))]};
    for (int item_5 = 0; item_5 < 2; ++item_5) {
      x = items_5[item_5];
      if (((i64)(facts[((i64)(b) + (i64)(1LL))]) > (i64)(0))) {
        {
          const i64 items_2[2] = {upper_of(facts[((i64)(b) + (i64)(0LL))], 1), facts[((i64)(b) + (i64)(1LL))]};
          for (int item_2 = 0; item_2 < 2; ++item_2) {
            y = items_2[item_2];
            found = _toward_zero(x, y, width);
            const i64 several_1_0 = lower_of(low, found);
            const i64 several_1_1 = upper_of(high, found);
            low = several_1_0;
            high = several_1_1;
          }
        }
      }
      if (((i64)(facts[((i64)(b) + (i64)(0LL))]) < (i64)(0))) {
        {
          const i64 items_4[2] = {facts[((i64)(b) + (i64)(0LL))], lower_of(facts[((i64)(b) + (i64)(1LL))], (-1))};
          for (int item_4 = 0; item_4 < 2; ++item_4) {
            y = items_4[item_4];
            found = _toward_zero(x, y, width);
            const i64 several_3_0 = lower_of(low, found);
            const i64 several_3_1 = upper_of(high, found);
            low = several_3_0;
            high = several_3_1;
          }
        }
      }
    }
  }
  if (((i64)(low) > (i64)(high))) {
    set_nothing(facts, row, 0);
    return;
  }
  const i64 several_6_0 = low;
  const i64 several_6_1 = high;
  facts[((i64)(row) + (i64)(0LL))] = several_6_0;
  facts[((i64)(row) + (i64)(1LL))] = several_6_1;
}

__device__ void _unsigned_remainder(long long* facts, i64 row, i64 a, i64 b) {
  i64 divisor = 0, low = 0, most_b = 0;
  most_b = facts[((i64)(b) + (i64)(3LL))];
  if (((i64)(most_b) == (i64)(0))) {
    set_nothing(facts, row, 0);
    return;
  }
  const i64 several_0_0 = 0;
  const i64 several_0_1 = lesser(facts[((i64)(a) + (i64)(3LL))], minus(most_b, 1));
  facts[((i64)(row) + (i64)(2LL))] = several_0_0;
  facts[((i64)(row) + (i64)(3LL))] = several_0_1;
  if (is_below(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(b) + (i64)(2LL))])) {
    copy(facts, row, a);
  } else {
    if (is_constant(facts, b)) {
      divisor = facts[((i64)(b) + (i64)(2LL))];
      if (((i64)(quotient(facts[((i64)(a) + (i64)(2LL))], divisor)) == (i64)(quotient(facts[((i64)(a) + (i64)(3LL))], divisor)))) {
        facts[((i64)(row) + (i64)(2LL))] = remainder(facts[((i64)(a) + (i64)(2LL))], divisor);
        facts[((i64)(row) + (i64)(3LL))] = remainder(facts[((i64)(a) + (i64)(3LL))], divisor);
      }
      low = low_bits(n_low_zeros(divisor));
      const i64 several_1_0 = ((i64)(facts[((i64)(a) + (i64)(4LL))]) & (i64)(low));
      const i64 several_1_1 = ((i64)(facts[((i64)(a) + (i64)(5LL))]) & (i64)(low));
      facts[((i64)(row) + (i64)(4LL))] = several_1_0;
      facts[((i64)(row) + (i64)(5LL))] = several_1_1;
    }
  }
}

__device__ void _signed_remainder(long long* facts, i64 row, i64 a, i64 b) {
  i64 below = 0, size = 0;
  if ((((i64)(facts[((i64)(b) + (i64)(0LL))]) == (i64)(0)) && ((i64)(facts[((i64)(b) + (i64)(1LL))]) == (i64)(0)))) {
    set_nothing(facts, row, 0);
    return;
  }
  size = greater(_magnitude(facts[((i64)(b) + (i64)(0LL))]), _magnitude(facts[((i64)(b) + (i64)(1LL))]));
  below = minus(size, 1);
  facts[((i64)(row) + (i64)(0LL))] = upper_of(lower_of(facts[((i64)(a) + (i64)(0LL))], 0), minus(0, below));
  facts[((i64)(row) + (i64)(1LL))] = lower_of(upper_of(facts[((i64)(a) + (i64)(1LL))], 0), below);
  if ((((i64)(facts[((i64)(a) + (i64)(0LL))]) >= (i64)(0)) && ((i64)(facts[((i64)(b) + (i64)(0LL))]) > (i64)(facts[((i64)(a) + (i64)(1LL))])))) {
    copy(facts, row, a);
  }
}

__device__ __noinline__ void _shift(long long* facts, i64 row, i64 operator_, i64 a, i64 b, i64 width, i64 flags) {
  i64 full = 0, least = 0, most = 0;
  const i64 several_0_0 = facts[((i64)(b) + (i64)(2LL))];
  const i64 several_0_1 = facts[((i64)(b) + (i64)(3LL))];
  least = several_0_0;
  most = several_0_1;
  if ((!(i64)(is_below(least, width)))) {
    facts[((i64)(row) + (i64)(6LL))] |= 2LL;
    if (((i64)(flags) & (i64)(4LL))) {
      set_nothing(facts, row, 2LL);
    }
    return;
  }
  if ((!(i64)(is_below(most, width)))) {
    facts[((i64)(row) + (i64)(6LL))] |= 2LL;
    if ((!(i64)(((i64)(flags) & (i64)(4LL))))) {
      return;
    }
    most = ((i64)(width) - (i64)(1));
  }
  full = low_bits(width);
  if (((i64)(operator_) == (i64)(27LL))) {
    _shift_left(facts, row, a, least, most, width, flags);
  } else {
    if (((i64)(operator_) == (i64)(28LL))) {
      facts[((i64)(row) + (i64)(2LL))] = shifted_right(facts[((i64)(a) + (i64)(2LL))], most);
      facts[((i64)(row) + (i64)(3LL))] = shifted_right(facts[((i64)(a) + (i64)(3LL))], least);
      if (((i64)(least) == (i64)(most))) {
        facts[((i64)(row) + (i64)(4LL))] = ((i64)(shifted_right(facts[((i64)(a) + (i64)(4LL))], least)) | (i64)(((i64)(full) & (i64)((~(i64)(shifted_right(full, least)))))));
        facts[((i64)(row) + (i64)(5LL))] = shifted_right(facts[((i64)(a) + (i64)(5LL))], least);
      }
    } else {
      facts[((i64)(row) + (i64)(0LL))] = lower_of(((i64)(facts[((i64)(a) + (i64)(0LL))]) >> (i64)(least)), ((i64)(facts[((i64)(a) + (i64)(0LL))]) >> (i64)(most)));
      facts[((i64)(row) + (i64)(1LL))] = upper_of(((i64)(facts[((i64)(a) + (i64)(1LL))]) >> (i64)(least)), ((i64)(facts[((i64)(a) + (i64)(1LL))]) >> (i64)(most)));
      if (((i64)(least) == (i64)(most))) {
        facts[((i64)(row) + (i64)(4LL))] = ((i64)(((i64)(as_signed(facts[((i64)(a) + (i64)(4LL))], width)) >> (i64)(least))) & (i64)(full));
        facts[((i64)(row) + (i64)(5LL))] = ((i64)(((i64)(as_signed(facts[((i64)(a) + (i64)(5LL))], width)) >> (i64)(least))) & (i64)(full));
      }
    }
  }
}

__device__ __noinline__ void _shift_left(long long* facts, i64 row, i64 a, i64 least, i64 most, i64 width, i64 flags) {
  i64 fits = 0, full = 0, high = 0, high_fits = 0, least_fits = 0, limit = 0, low = 0, low_fits = 0, n_high = 0, n_low = 0;
  full = low_bits(width);
  fits = (!(i64)(is_below(shifted_right(full, most), facts[((i64)(a) + (i64)(3LL))])));
  if ((fits || ((i64)(flags) & (i64)(1LL)))) {
    least_fits = (!(i64)(is_below(shifted_right(full, least), facts[((i64)(a) + (i64)(2LL))])));
    facts[((i64)(row) + (i64)(2LL))] = (least_fits ? (i64)(shifted_left(facts[((i64)(a) + (i64)(2LL))], least)) : (i64)(full));
    facts[((i64)(row) + (i64)(3LL))] = (fits ? (i64)(shifted_left(facts[((i64)(a) + (i64)(3LL))], most)) : (i64)(full));
  }
  limit = low_bits(((i64)(width) - (i64)(1)));
  const i64 several_0_0 = facts[((i64)(a) + (i64)(0LL))];
  const i64 several_0_1 = facts[((i64)(a) + (i64)(1LL))];
  low = several_0_0;
  high = several_0_1;
  const i64 several_1_0 = (((i64)(low) < (i64)(0)) ? (i64)(most) : (i64)(least));
  const i64 several_1_1 = (((i64)(high) < (i64)(0)) ? (i64)(least) : (i64)(most));
  n_low = several_1_0;
  n_high = several_1_1;
  low_fits = ((i64)(((i64)((~(i64)(limit))) >> (i64)(n_low))) <= (i64)(low) && (i64)(low) <= (i64)(((i64)(limit) >> (i64)(n_low))));
  high_fits = ((i64)(((i64)((~(i64)(limit))) >> (i64)(n_high))) <= (i64)(high) && (i64)(high) <= (i64)(((i64)(limit) >> (i64)(n_high))));
  if (((low_fits && high_fits) || ((i64)(flags) & (i64)(2LL)))) {
    facts[((i64)(row) + (i64)(0LL))] = (low_fits ? (i64)(shifted_left(low, n_low)) : (i64)((((i64)(low) < (i64)(0)) ? (i64)((~(i64)(limit))) : (i64)(limit))));
    facts[((i64)(row) + (i64)(1LL))] = (high_fits ? (i64)(shifted_left(high, n_high)) : (i64)((((i64)(high) < (i64)(0)) ? (i64)((~(i64)(limit))) : (i64)(limit))));
  }
  if ((((!(i64)(fits)) && ((i64)(flags) & (i64)(1LL))) || ((!(i64)((low_fits && high_fits))) && ((i64)(flags) & (i64)(2LL))))) {
    facts[((i64)(row) + (i64)(6LL))] |= 2LL;
  }
  if (((i64)(least) == (i64)(most))) {
    facts[((i64)(row) + (i64)(4LL))] = ((i64)(((i64)(shifted_left(facts[((i64)(a) + (i64)(4LL))], least)) | (i64)(low_bits(least)))) & (i64)(full));
    facts[((i64)(row) + (i64)(5LL))] = ((i64)(shifted_left(facts[((i64)(a) + (i64)(5LL))], least)) & (i64)(full));
  } else {
    facts[((i64)(row) + (i64)(4LL))] = low_bits(lower_of(((i64)(n_low_zeros((~(i64)(facts[((i64)(a) + (i64)(4LL))])))) + (i64)(least)), width));
  }
}

__device__ void _bitwise(long long* facts, i64 row, i64 operator_, i64 a, i64 b) {
  i64 ones_a = 0, ones_b = 0, zeros_a = 0, zeros_b = 0;
  const i64 several_0_0 = facts[((i64)(a) + (i64)(4LL))];
  const i64 several_0_1 = facts[((i64)(a) + (i64)(5LL))];
  zeros_a = several_0_0;
  ones_a = several_0_1;
  const i64 several_1_0 = facts[((i64)(b) + (i64)(4LL))];
  const i64 several_1_1 = facts[((i64)(b) + (i64)(5LL))];
  zeros_b = several_1_0;
  ones_b = several_1_1;
  if (((i64)(operator_) == (i64)(30LL))) {
    const i64 several_2_0 = ((i64)(zeros_a) | (i64)(zeros_b));
    const i64 several_2_1 = ((i64)(ones_a) & (i64)(ones_b));
    facts[((i64)(row) + (i64)(4LL))] = several_2_0;
    facts[((i64)(row) + (i64)(5LL))] = several_2_1;
    facts[((i64)(row) + (i64)(3LL))] = lesser(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(b) + (i64)(3LL))]);
  } else {
    if (((i64)(operator_) == (i64)(31LL))) {
      const i64 several_3_0 = ((i64)(zeros_a) & (i64)(zeros_b));
      const i64 several_3_1 = ((i64)(ones_a) | (i64)(ones_b));
      facts[((i64)(row) + (i64)(4LL))] = several_3_0;
      facts[((i64)(row) + (i64)(5LL))] = several_3_1;
      facts[((i64)(row) + (i64)(2LL))] = greater(facts[((i64)(a) + (i64)(2LL))], facts[((i64)(b) + (i64)(2LL))]);
    } else {
      facts[((i64)(row) + (i64)(4LL))] = ((i64)(((i64)(zeros_a) & (i64)(zeros_b))) | (i64)(((i64)(ones_a) & (i64)(ones_b))));
      facts[((i64)(row) + (i64)(5LL))] = ((i64)(((i64)(zeros_a) & (i64)(ones_b))) | (i64)(((i64)(ones_a) & (i64)(zeros_b))));
    }
  }
}

__device__ __noinline__ void _extreme(long long* facts, i64 row, i64 operator_, i64 a, i64 b) {
  if (((i64)(operator_) == (i64)(33LL))) {
    facts[((i64)(row) + (i64)(0LL))] = lower_of(facts[((i64)(a) + (i64)(0LL))], facts[((i64)(b) + (i64)(0LL))]);
    facts[((i64)(row) + (i64)(1LL))] = lower_of(facts[((i64)(a) + (i64)(1LL))], facts[((i64)(b) + (i64)(1LL))]);
  } else {
    if (((i64)(operator_) == (i64)(34LL))) {
      facts[((i64)(row) + (i64)(0LL))] = upper_of(facts[((i64)(a) + (i64)(0LL))], facts[((i64)(b) + (i64)(0LL))]);
      facts[((i64)(row) + (i64)(1LL))] = upper_of(facts[((i64)(a) + (i64)(1LL))], facts[((i64)(b) + (i64)(1LL))]);
    } else {
      if (((i64)(operator_) == (i64)(35LL))) {
        facts[((i64)(row) + (i64)(2LL))] = lesser(facts[((i64)(a) + (i64)(2LL))], facts[((i64)(b) + (i64)(2LL))]);
        facts[((i64)(row) + (i64)(3LL))] = lesser(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(b) + (i64)(3LL))]);
      } else {
        facts[((i64)(row) + (i64)(2LL))] = greater(facts[((i64)(a) + (i64)(2LL))], facts[((i64)(b) + (i64)(2LL))]);
        facts[((i64)(row) + (i64)(3LL))] = greater(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(b) + (i64)(3LL))]);
      }
    }
  }
  facts[((i64)(row) + (i64)(4LL))] = ((i64)(facts[((i64)(a) + (i64)(4LL))]) & (i64)(facts[((i64)(b) + (i64)(4LL))]));
  facts[((i64)(row) + (i64)(5LL))] = ((i64)(facts[((i64)(a) + (i64)(5LL))]) & (i64)(facts[((i64)(b) + (i64)(5LL))]));
}

__device__ __noinline__ void binary(long long* facts, i64 row, i64 operator_, i64 a, i64 b, i64 width, i64 flags) {
  i64 state = 0;
  state = ((i64)(facts[((i64)(a) + (i64)(6LL))]) | (i64)(facts[((i64)(b) + (i64)(6LL))]));
  if ((!(i64)(((i64)(((i64)(facts[((i64)(a) + (i64)(6LL))]) & (i64)(facts[((i64)(b) + (i64)(6LL))]))) & (i64)(1LL))))) {
    set_nothing(facts, row, state);
    return;
  }
  set_any(facts, row, width, state);
  if (((i64)(operator_) == (i64)(20LL))) {
    _add(facts, row, a, b, width, flags);
  } else {
    if (((i64)(operator_) == (i64)(21LL))) {
      _subtract(facts, row, a, b, width, flags);
    } else {
      if (((i64)(operator_) == (i64)(22LL))) {
        _multiply(facts, row, a, b, width, flags);
      } else {
        if (((i64)(operator_) == (i64)(23LL))) {
          _unsigned_divide(facts, row, a, b);
        } else {
          if (((i64)(operator_) == (i64)(24LL))) {
            _signed_divide(facts, row, a, b, width);
          } else {
            if (((i64)(operator_) == (i64)(25LL))) {
              _unsigned_remainder(facts, row, a, b);
            } else {
              if (((i64)(operator_) == (i64)(26LL))) {
                _signed_remainder(facts, row, a, b);
              } else {
                if (((i64)(operator_) <= (i64)(29LL))) {
                  _shift(facts, row, operator_, a, b, width, flags);
                } else {
                  if (((i64)(operator_) <= (i64)(32LL))) {
                    _bitwise(facts, row, operator_, a, b);
                  } else {
                    _extreme(facts, row, operator_, a, b);
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  facts[((i64)(row) + (i64)(6LL))] |= ((i64)(state) & (i64)(2LL));
  reduce(facts, row, width);
}

__device__ i64 _may_be_equal(long long* facts, i64 a, i64 b) {
  return (((i64)(facts[((i64)(a) + (i64)(0LL))]) <= (i64)(facts[((i64)(b) + (i64)(1LL))])) && ((i64)(facts[((i64)(b) + (i64)(0LL))]) <= (i64)(facts[((i64)(a) + (i64)(1LL))])) && (!(i64)(is_below(facts[((i64)(b) + (i64)(3LL))], facts[((i64)(a) + (i64)(2LL))]))) && (!(i64)(is_below(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(b) + (i64)(2LL))]))) && ((i64)(((i64)(facts[((i64)(a) + (i64)(4LL))]) & (i64)(facts[((i64)(b) + (i64)(5LL))]))) == (i64)(0)) && ((i64)(((i64)(facts[((i64)(a) + (i64)(5LL))]) & (i64)(facts[((i64)(b) + (i64)(4LL))]))) == (i64)(0)));
}

__device__ __noinline__ i64 may_hold(long long* facts, i64 predicate, i64 a, i64 b) {
  i64 same = 0;
  if (((i64)(predicate) == (i64)(0LL))) {
    return _may_be_equal(facts, a, b);
  }
  if (((i64)(predicate) == (i64)(1LL))) {
    same = ((i64)(facts[((i64)(a) + (i64)(0LL))]) == (i64)(facts[((i64)(b) + (i64)(0LL))]));
    return (!(i64)((is_constant(facts, a) && is_constant(facts, b) && same)));
  }
  if (((i64)(predicate) == (i64)(2LL))) {
    return is_below(facts[((i64)(a) + (i64)(2LL))], facts[((i64)(b) + (i64)(3LL))]);
  }
  if (((i64)(predicate) == (i64)(3LL))) {
    return (!(i64)(is_below(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(b) + (i64)(2LL))])));
  }
  if (((i64)(predicate) == (i64)(4LL))) {
    return is_below(facts[((i64)(b) + (i64)(2LL))], facts[((i64)(a) + (i64)(3LL))]);
  }
  if (((i64)(predicate) == (i64)(5LL))) {
    return (!(i64)(is_below(facts[((i64)(b) + (i64)(3LL))], facts[((i64)(a) + (i64)(2LL))])));
  }
  if (((i64)(predicate) == (i64)(6LL))) {
    return ((((i64)(facts[((i64)(a) + (i64)(0LL))]) < (i64)(facts[((i64)(b) + (i64)(1LL))]))) != 0);
  }
  if (((i64)(predicate) == (i64)(7LL))) {
    return ((((i64)(facts[((i64)(a) + (i64)(1LL))]) >= (i64)(facts[((i64)(b) + (i64)(0LL))]))) != 0);
  }
  if (((i64)(predicate) == (i64)(8LL))) {
    return ((((i64)(facts[((i64)(a) + (i64)(1LL))]) > (i64)(facts[((i64)(b) + (i64)(0LL))]))) != 0);
  }
  return ((((i64)(facts[((i64)(a) + (i64)(0LL))]) <= (i64)(facts[((i64)(b) + (i64)(1LL))]))) != 0);
}

__device__ void compare(long long* facts, i64 row, i64 predicate, i64 a, i64 b) {
  i64 no = 0, state = 0, yes = 0;
  state = ((i64)(facts[((i64)(a) + (i64)(6LL))]) | (i64)(facts[((i64)(b) + (i64)(6LL))]));
  if ((!(i64)(((i64)(((i64)(facts[((i64)(a) + (i64)(6LL))]) & (i64)(facts[((i64)(b) + (i64)(6LL))]))) & (i64)(1LL))))) {
    set_nothing(facts, row, state);
    return;
  }
  const i64 several_0_0 = may_hold(facts, predicate, a, b);
  const i64 several_0_1 = may_hold(facts, ((i64)(predicate) ^ (i64)(1)), a, b);
  yes = several_0_0;
  no = several_0_1;
  if ((((i64)(a) == (i64)(b)) && (!(i64)(((i64)(state) & (i64)(2LL)))))) {
    yes = (predicate == 0LL || predicate == 3LL || predicate == 5LL || predicate == 7LL || predicate == 9LL);
    no = (!(i64)(yes));
  }
  if ((yes && no)) {
    set_any(facts, row, 1, state);
  } else {
    set_constant(facts, row, 1, (yes ? (i64)(1) : (i64)(0)), state);
  }
}

__device__ void _without(long long* facts, i64 row, i64 number, i64 width) {
  i64 pattern = 0, signed_ = 0;
  pattern = ((i64)(number) & (i64)(low_bits(width)));
  signed_ = as_signed(pattern, width);
  if ((is_constant(facts, row) && ((i64)(facts[((i64)(row) + (i64)(0LL))]) == (i64)(signed_)))) {
    set_nothing(facts, row, facts[((i64)(row) + (i64)(6LL))]);
    return;
  }
  if (((i64)(facts[((i64)(row) + (i64)(0LL))]) == (i64)(signed_))) {
    facts[((i64)(row) + (i64)(0LL))] = ((i64)(signed_) + (i64)(1));
  }
  if (((i64)(facts[((i64)(row) + (i64)(1LL))]) == (i64)(signed_))) {
    facts[((i64)(row) + (i64)(1LL))] = ((i64)(signed_) - (i64)(1));
  }
  if (((i64)(facts[((i64)(row) + (i64)(2LL))]) == (i64)(pattern))) {
    facts[((i64)(row) + (i64)(2LL))] = plus(pattern, 1);
  }
  if (((i64)(facts[((i64)(row) + (i64)(3LL))]) == (i64)(pattern))) {
    facts[((i64)(row) + (i64)(3LL))] = minus(pattern, 1);
  }
}

__device__ void exclude(long long* facts, i64 row, i64 width, const long long* attribute, const int* operands, i64 start, i64 end) {
  i64 place = 0;
  copy(facts, row, ((i64)(operands[start]) * (i64)(8LL)));
  for (place = ((i64)(start) + (i64)(1)); place < end; place += 1) {
    if (((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(1LL))) {
      _without(facts, row, attribute[operands[place]], width);
    }
  }
  for (place = ((i64)(end) - (i64)(1)); place > start; place += (-1)) {
    if (((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(1LL))) {
      _without(facts, row, attribute[operands[place]], width);
    }
  }
  reduce(facts, row, width);
}

__device__ __noinline__ void refine(long long* facts, i64 row, i64 predicate, i64 a, i64 b, i64 width) {
  i64 state = 0;
  if ((!(i64)(((i64)(((i64)(facts[((i64)(a) + (i64)(6LL))]) & (i64)(facts[((i64)(b) + (i64)(6LL))]))) & (i64)(1LL))))) {
    set_nothing(facts, row, facts[((i64)(a) + (i64)(6LL))]);
    return;
  }
  copy(facts, row, a);
  if ((!(i64)(may_hold(facts, predicate, a, b)))) {
    set_nothing(facts, row, facts[((i64)(a) + (i64)(6LL))]);
    return;
  }
  if (((i64)(predicate) == (i64)(0LL))) {
    state = facts[((i64)(row) + (i64)(6LL))];
    meet(facts, row, b, width);
    facts[((i64)(row) + (i64)(6LL))] |= ((i64)(state) & (i64)(2LL));
  } else {
    if (((i64)(predicate) == (i64)(1LL))) {
      if (is_constant(facts, b)) {
        _without(facts, row, facts[((i64)(b) + (i64)(0LL))], width);
      }
    } else {
      if (((i64)(predicate) == (i64)(2LL))) {
        facts[((i64)(row) + (i64)(3LL))] = lesser(facts[((i64)(row) + (i64)(3LL))], minus(facts[((i64)(b) + (i64)(3LL))], 1));
      } else {
        if (((i64)(predicate) == (i64)(5LL))) {
          facts[((i64)(row) + (i64)(3LL))] = lesser(facts[((i64)(row) + (i64)(3LL))], facts[((i64)(b) + (i64)(3LL))]);
        } else {
          if (((i64)(predicate) == (i64)(4LL))) {
            facts[((i64)(row) + (i64)(2LL))] = greater(facts[((i64)(row) + (i64)(2LL))], plus(facts[((i64)(b) + (i64)(2LL))], 1));
          } else {
            if (((i64)(predicate) == (i64)(3LL))) {
              facts[((i64)(row) + (i64)(2LL))] = greater(facts[((i64)(row) + (i64)(2LL))], facts[((i64)(b) + (i64)(2LL))]);
            } else {
              if (((i64)(predicate) == (i64)(6LL))) {
                facts[((i64)(row) + (i64)(1LL))] = lower_of(facts[((i64)(row) + (i64)(1LL))], ((i64)(facts[((i64)(b) + (i64)(1LL))]) - (i64)(1)));
              } else {
                if (((i64)(predicate) == (i64)(9LL))) {
                  facts[((i64)(row) + (i64)(1LL))] = lower_of(facts[((i64)(row) + (i64)(1LL))], facts[((i64)(b) + (i64)(1LL))]);
                } else {
                  if (((i64)(predicate) == (i64)(8LL))) {
                    facts[((i64)(row) + (i64)(0LL))] = upper_of(facts[((i64)(row) + (i64)(0LL))], ((i64)(facts[((i64)(b) + (i64)(0LL))]) + (i64)(1)));
                  } else {
                    facts[((i64)(row) + (i64)(0LL))] = upper_of(facts[((i64)(row) + (i64)(0LL))], facts[((i64)(b) + (i64)(0LL))]);
                  }
                }
              }
            }
          }
        }
      }
    }
  }
  reduce(facts, row, width);
}

__device__ i64 is_covered(long long* facts, i64 a, i64 width, const long long* attribute, const int* operands, i64 start, i64 end) {
  i64 n_held = 0, place = 0, signed_ = 0, unsigned_ = 0;
  n_held = 0;
  for (place = start; place < end; place += 1) {
    if (holds(facts, a, attribute[operands[place]], width)) {
      n_held += 1;
    }
  }
  unsigned_ = ((i64)(minus(facts[((i64)(a) + (i64)(3LL))], facts[((i64)(a) + (i64)(2LL))])) & (i64)(low_bits(width)));
  signed_ = ((i64)(minus(facts[((i64)(a) + (i64)(1LL))], facts[((i64)(a) + (i64)(0LL))])) & (i64)(low_bits(width)));
  return (((i64)(n_held) > (i64)(0)) && (!(i64)(is_below(((i64)(n_held) - (i64)(1)), lesser(unsigned_, signed_)))));
}

__device__ __noinline__ void _cast(long long* facts, i64 row, i64 operator_, i64 a, i64 width, i64 from_width, i64 flags) {
  i64 above = 0, high = 0, least = 0, low = 0, most = 0, ones = 0, zeros = 0;
  if ((!(i64)(((i64)(facts[((i64)(a) + (i64)(6LL))]) & (i64)(1LL))))) {
    set_nothing(facts, row, facts[((i64)(a) + (i64)(6LL))]);
    return;
  }
  set_any(facts, row, width, facts[((i64)(a) + (i64)(6LL))]);
  const i64 several_0_0 = facts[((i64)(a) + (i64)(4LL))];
  const i64 several_0_1 = facts[((i64)(a) + (i64)(5LL))];
  zeros = several_0_0;
  ones = several_0_1;
  if (((i64)(operator_) == (i64)(17LL))) {
    const i64 several_1_0 = ((i64)(zeros) & (i64)(low_bits(width)));
    const i64 several_1_1 = ((i64)(ones) & (i64)(low_bits(width)));
    facts[((i64)(row) + (i64)(4LL))] = several_1_0;
    facts[((i64)(row) + (i64)(5LL))] = several_1_1;
    const i64 several_2_0 = facts[((i64)(a) + (i64)(2LL))];
    const i64 several_2_1 = facts[((i64)(a) + (i64)(3LL))];
    least = several_2_0;
    most = several_2_1;
    if ((((i64)(width) < (i64)(64)) && ((i64)(shifted_right(least, width)) == (i64)(shifted_right(most, width))))) {
      const i64 several_3_0 = ((i64)(least) & (i64)(low_bits(width)));
      const i64 several_3_1 = ((i64)(most) & (i64)(low_bits(width)));
      facts[((i64)(row) + (i64)(2LL))] = several_3_0;
      facts[((i64)(row) + (i64)(3LL))] = several_3_1;
    }
    const i64 several_4_0 = facts[((i64)(a) + (i64)(0LL))];
    const i64 several_4_1 = facts[((i64)(a) + (i64)(1LL))];
    low = several_4_0;
    high = several_4_1;
    if ((((i64)((~(i64)(low_bits(((i64)(width) - (i64)(1)))))) <= (i64)(low)) && ((i64)(high) <= (i64)(low_bits(((i64)(width) - (i64)(1))))))) {
      const i64 several_5_0 = low;
      const i64 several_5_1 = high;
      facts[((i64)(row) + (i64)(0LL))] = several_5_0;
      facts[((i64)(row) + (i64)(1LL))] = several_5_1;
    }
  } else {
    if (((i64)(operator_) == (i64)(18LL))) {
      above = ((i64)(low_bits(width)) & (i64)((~(i64)(low_bits(from_width)))));
      const i64 several_6_0 = facts[((i64)(a) + (i64)(2LL))];
      const i64 several_6_1 = facts[((i64)(a) + (i64)(3LL))];
      facts[((i64)(row) + (i64)(2LL))] = several_6_0;
      facts[((i64)(row) + (i64)(3LL))] = several_6_1;
      if (((i64)(flags) & (i64)(1LL))) {
        if (((i64)(facts[((i64)(a) + (i64)(0LL))]) < (i64)(0))) {
          facts[((i64)(row) + (i64)(6LL))] |= 2LL;
        }
        facts[((i64)(row) + (i64)(3LL))] = lesser(facts[((i64)(row) + (i64)(3LL))], low_bits(((i64)(from_width) - (i64)(1))));
      }
      const i64 several_7_0 = ((i64)(zeros) | (i64)(above));
      const i64 several_7_1 = ones;
      facts[((i64)(row) + (i64)(4LL))] = several_7_0;
      facts[((i64)(row) + (i64)(5LL))] = several_7_1;
    } else {
      const i64 several_8_0 = facts[((i64)(a) + (i64)(0LL))];
      const i64 several_8_1 = facts[((i64)(a) + (i64)(1LL))];
      facts[((i64)(row) + (i64)(0LL))] = several_8_0;
      facts[((i64)(row) + (i64)(1LL))] = several_8_1;
      facts[((i64)(row) + (i64)(4LL))] = ((i64)(as_signed(zeros, from_width)) & (i64)(low_bits(width)));
      facts[((i64)(row) + (i64)(5LL))] = ((i64)(as_signed(ones, from_width)) & (i64)(low_bits(width)));
    }
  }
  reduce(facts, row, width);
}

__device__ void _set_when(long long* facts, i64 row, i64 is_reached) {
  if (is_reached) {
    set_constant(facts, row, 1, 1, 1LL);
  } else {
    set_nothing(facts, row, 0);
  }
}

__device__ void _address(long long* facts, i64 row, i64 a, i64 width, i64 attribute) {
  i64 even = 0;
  if ((!(i64)(((i64)(facts[((i64)(a) + (i64)(6LL))]) & (i64)(1LL))))) {
    set_nothing(facts, row, facts[((i64)(a) + (i64)(6LL))]);
    return;
  }
  set_any(facts, row, width, facts[((i64)(a) + (i64)(6LL))]);
  even = low_bits(lower_of(lower_of(n_low_zeros((~(i64)(facts[((i64)(a) + (i64)(4LL))]))), ((i64)(attribute) & (i64)(63))), width));
  facts[((i64)(row) + (i64)(4LL))] = even;
  if ((((i64)(attribute) & (i64)(64)) && ((i64)(facts[((i64)(a) + (i64)(2LL))]) != (i64)(0)))) {
    facts[((i64)(row) + (i64)(2LL))] = 1;
  }
  reduce(facts, row, width);
}

__device__ __noinline__ void evaluate(long long* facts, i64 row, i64 name, const unsigned char* operator_, const unsigned char* width, const long long* attribute, const long long* offsets, const int* operands, const long long* given) {
  i64 a = 0, b = 0, code = 0, column = 0, condition = 0, end = 0, is_reached = 0, number = 0, ones = 0, place = 0, start = 0, state = 0, value = 0, where = 0, wide = 0, zeros = 0;
  const i64 several_0_0 = operator_[name];
  const i64 several_0_1 = offsets[name];
  const i64 several_0_2 = offsets[((i64)(name) + (i64)(1))];
  code = several_0_0;
  start = several_0_1;
  end = several_0_2;
  const i64 several_1_0 = width[name];
  const i64 several_1_1 = attribute[name];
  wide = several_1_0;
  number = several_1_1;
  if (((i64)(code) >= (i64)(20LL))) {
    const i64 several_2_0 = ((i64)(operands[start]) * (i64)(8LL));
    const i64 several_2_1 = ((i64)(operands[((i64)(start) + (i64)(1))]) * (i64)(8LL));
    a = several_2_0;
    b = several_2_1;
    binary(facts, row, code, a, b, wide, number);
  } else {
    if (((i64)(code) == (i64)(4LL))) {
      copy(facts, row, ((i64)(operands[start]) * (i64)(8LL)));
      for (place = ((i64)(start) + (i64)(1)); place < end; place += 1) {
        join(facts, row, ((i64)(operands[place]) * (i64)(8LL)));
      }
      if (((i64)(end) > (i64)(((i64)(start) + (i64)(1))))) {
        reduce(facts, row, wide);
      }
    } else {
      if (((i64)(code) == (i64)(5LL))) {
        set_nothing(facts, row, 0);
        for (place = start; place < ((i64)(end) - (i64)(1)); place += 2) {
          if (((i64)(facts[((i64)(((i64)(operands[((i64)(place) + (i64)(1))]) * (i64)(8LL))) + (i64)(6LL))]) & (i64)(1LL))) {
            join(facts, row, ((i64)(operands[place]) * (i64)(8LL)));
          }
        }
        reduce(facts, row, wide);
        if (((i64)(((i64)(end) - (i64)(start))) & (i64)(1))) {
          meet(facts, row, ((i64)(operands[((i64)(end) - (i64)(1))]) * (i64)(8LL)), wide);
        }
      } else {
        if (((i64)(code) == (i64)(16LL))) {
          compare(facts, row, number, ((i64)(operands[start]) * (i64)(8LL)), ((i64)(operands[((i64)(start) + (i64)(1))]) * (i64)(8LL)));
        } else {
          if (((i64)(code) == (i64)(7LL))) {
            refine(facts, row, number, ((i64)(operands[start]) * (i64)(8LL)), ((i64)(operands[((i64)(start) + (i64)(1))]) * (i64)(8LL)), wide);
          } else {
            if (((i64)(code) == (i64)(8LL))) {
              exclude(facts, row, wide, attribute, operands, start, end);
            } else {
              if (((i64)(code) == (i64)(6LL))) {
                copy(facts, row, ((i64)(operands[start]) * (i64)(8LL)));
                for (place = ((i64)(start) + (i64)(1)); place < end; place += 1) {
                  meet(facts, row, ((i64)(operands[place]) * (i64)(8LL)), wide);
                }
              } else {
                if (((i64)(code) >= (i64)(17LL))) {
                  a = operands[start];
                  _cast(facts, row, code, ((i64)(a) * (i64)(8LL)), wide, width[a], number);
                } else {
                  if (((i64)(code) == (i64)(9LL))) {
                    condition = ((i64)(operands[start]) * (i64)(8LL));
                    set_nothing(facts, row, facts[((i64)(condition) + (i64)(6LL))]);
                    if (holds(facts, condition, 1, 1)) {
                      join(facts, row, ((i64)(operands[((i64)(start) + (i64)(1))]) * (i64)(8LL)));
                    }
                    if (holds(facts, condition, 0, 1)) {
                      join(facts, row, ((i64)(operands[((i64)(start) + (i64)(2))]) * (i64)(8LL)));
                    }
                    reduce(facts, row, wide);
                  } else {
                    if (((i64)(code) == (i64)(10LL))) {
                      copy(facts, row, ((i64)(operands[start]) * (i64)(8LL)));
                      if (((i64)(facts[((i64)(row) + (i64)(6LL))]) & (i64)(2LL))) {
                        set_any(facts, row, wide, 1LL);
                      }
                    } else {
                      if ((code == 11LL || code == 12LL)) {
                        value = operands[((i64)(start) + (i64)(1))];
                        is_reached = ((i64)(((i64)(facts[((i64)(((i64)(operands[start]) * (i64)(8LL))) + (i64)(6LL))]) & (i64)(1LL))) != (i64)(0));
                        if ((is_reached && ((i64)(code) == (i64)(11LL)))) {
                          is_reached = holds(facts, ((i64)(value) * (i64)(8LL)), number, width[value]);
                        } else {
                          if (is_reached) {
                            is_reached = (((i64)(((i64)(facts[((i64)(((i64)(value) * (i64)(8LL))) + (i64)(6LL))]) & (i64)(1LL))) != (i64)(0)) && (!(i64)(is_covered(facts, ((i64)(value) * (i64)(8LL)), width[value], attribute, operands, ((i64)(start) + (i64)(2)), end))));
                          }
                        }
                        _set_when(facts, row, is_reached);
                      } else {
                        if (((i64)(code) == (i64)(13LL))) {
                          _address(facts, row, ((i64)(operands[start]) * (i64)(8LL)), wide, number);
                        } else {
                          if ((code == 14LL || code == 15LL)) {
                            a = ((i64)(operands[start]) * (i64)(8LL));
                            where = low_bits(wide);
                            if (((i64)(code) == (i64)(15LL))) {
                              where = facts[((i64)(((i64)(operands[((i64)(start) + (i64)(1))]) * (i64)(8LL))) + (i64)(5LL))];
                            }
                            const i64 several_3_0 = facts[((i64)(a) + (i64)(4LL))];
                            const i64 several_3_1 = facts[((i64)(a) + (i64)(5LL))];
                            const i64 several_3_2 = facts[((i64)(a) + (i64)(6LL))];
                            zeros = several_3_0;
                            ones = several_3_1;
                            state = several_3_2;
                            if (((i64)(state) & (i64)(1LL))) {
                              set_any(facts, row, wide, state);
                              const i64 several_4_0 = ((i64)(zeros) & (i64)(where));
                              const i64 several_4_1 = ((i64)(ones) & (i64)(where));
                              facts[((i64)(row) + (i64)(4LL))] = several_4_0;
                              facts[((i64)(row) + (i64)(5LL))] = several_4_1;
                              reduce(facts, row, wide);
                            } else {
                              set_nothing(facts, row, state);
                            }
                          } else {
                            if (((i64)(code) == (i64)(2LL))) {
                              set_constant(facts, row, wide, number, 1LL);
                            } else {
                              if (((i64)(code) == (i64)(3LL))) {
                                for (column = 0; column < ((i64)(6LL) + (i64)(1)); column += 1) {
                                  facts[((i64)(row) + (i64)(column))] = given[((i64)(((i64)(number) * (i64)(8LL))) + (i64)(column))];
                                }
                              } else {
                                if (((i64)(code) == (i64)(1LL))) {
                                  set_any(facts, row, wide, ((i64)(1LL) | (i64)(2LL)));
                                } else {
                                  set_nothing(facts, row, 0);
                                }
                              }
                            }
                          }
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

__device__ __noinline__ Several3 _mark_users(i64 place, i64 start, i64 end, const long long* user_offsets, const int* users, unsigned char* is_due, i64 groups, i64 first) {
  i64 edge = 0, n_before = 0, n_behind = 0, user = 0;
  const i64 several_0_0 = 0;
  const i64 several_0_1 = 0;
  n_behind = several_0_0;
  n_before = several_0_1;
  for (edge = user_offsets[place]; edge < user_offsets[((i64)(place) + (i64)(1))]; edge += 1) {
    user = users[edge];
    if ((((i64)(start) <= (i64)(user) && (i64)(user) < (i64)(end)) && ((i64)(is_due[user]) == (i64)(0)))) {
      is_due[user] = 1;
      is_due[((i64)(groups) + (i64)(((i64)(((i64)(user) - (i64)(start))) >> (i64)(6))))] = 1;
      if (((i64)(user) > (i64)(place))) {
        n_behind += 1;
      } else {
        n_before += 1;
        first = lower_of(first, user);
      }
    }
  }
  return Several3{n_behind, n_before, first};
}

__device__ i64 _next_due(i64 place, i64 start, unsigned char* is_due, i64 groups) {
  i64 group = 0;
  while (1) {
    if (((i64)(((i64)(((i64)(place) - (i64)(start))) & (i64)(63))) == (i64)(0))) {
      group = ((i64)(groups) + (i64)(((i64)(((i64)(place) - (i64)(start))) >> (i64)(6))));
      if (((i64)(is_due[group]) == (i64)(0))) {
        place += 64;
        continue;
      }
      is_due[group] = 0;
    }
    if (((i64)(is_due[place]) != (i64)(0))) {
      is_due[place] = 0;
      return place;
    }
    place += 1;
  }
}

__device__ __noinline__ i64 evaluate_up(long long* facts, i64 name, i64 result, const unsigned char* operator_, const unsigned char* width, const long long* attribute, const long long* offsets, const int* operands, const long long* given, const int* threshold_set, const long long* threshold_offsets, const long long* signed_, const long long* unsigned_) {
  i64 chosen = 0;
  evaluate(facts, result, name, operator_, width, attribute, offsets, operands, given);
  join(facts, result, ((i64)(name) * (i64)(8LL)));
  chosen = threshold_set[name];
  if (((i64)(chosen) >= (i64)(0))) {
    round_up(facts, result, width[name], signed_, unsigned_, threshold_offsets[chosen], threshold_offsets[((i64)(chosen) + (i64)(1))]);
  }
  return differ(facts, result, ((i64)(name) * (i64)(8LL)));
}

__device__ i64 evaluate_down(long long* facts, i64 name, i64 result, const unsigned char* operator_, const unsigned char* width, const long long* attribute, const long long* offsets, const int* operands, const long long* given) {
  evaluate(facts, result, name, operator_, width, attribute, offsets, operands, given);
  meet(facts, result, ((i64)(name) * (i64)(8LL)), width[name]);
  return differ(facts, result, ((i64)(name) * (i64)(8LL)));
}

__device__ __noinline__ void solve_component(long long* facts, i64 result, i64 start, i64 end, const unsigned char* operator_, const unsigned char* width, const long long* attribute, const long long* offsets, const int* operands, const long long* given, const long long* user_offsets, const int* users, const int* threshold_set, const long long* threshold_offsets, const long long* signed_, const long long* unsigned_, i64 narrowing, unsigned char* is_due, i64 groups, long long* counts, i64 at) {
  i64 _ = 0, first = 0, n_before = 0, n_behind = 0, n_due = 0, n_next = 0, next_first = 0, place = 0;
  for (place = start; place < end; place += 1) {
    is_due[place] = 1;
    is_due[((i64)(groups) + (i64)(((i64)(((i64)(place) - (i64)(start))) >> (i64)(6))))] = 1;
  }
  const i64 several_0_0 = ((i64)(end) - (i64)(start));
  const i64 several_0_1 = start;
  n_due = several_0_0;
  first = several_0_1;
  while (((i64)(n_due) > (i64)(0))) {
    const i64 several_1_0 = ((i64)(first) - (i64)(1));
    const i64 several_1_1 = 0;
    const i64 several_1_2 = end;
    place = several_1_0;
    n_next = several_1_1;
    next_first = several_1_2;
    while (((i64)(n_due) > (i64)(0))) {
      place = _next_due(((i64)(place) + (i64)(1)), start, is_due, groups);
      n_due -= 1;
      counts[at] += 1;
      if (evaluate_up(facts, place, result, operator_, width, attribute, offsets, operands, given, threshold_set, threshold_offsets, signed_, unsigned_)) {
        copy(facts, ((i64)(place) * (i64)(8LL)), result);
        const Several3 several_2 = _mark_users(place, start, end, user_offsets, users, is_due, groups, next_first);
        n_behind = several_2.v0;
        n_before = several_2.v1;
        next_first = several_2.v2;
        n_due += n_behind;
        n_next += n_before;
      }
    }
    const i64 several_3_0 = n_next;
    const i64 several_3_1 = next_first;
    n_due = several_3_0;
    first = several_3_1;
  }
  for (place = start; place < end; place += 1) {
    is_due[place] = 1;
  }
  for (_ = 0; _ < narrowing; _ += 1) {
    for (place = start; place < end; place += 1) {
      if (((i64)(is_due[place]) == (i64)(0))) {
        continue;
      }
      is_due[place] = 0;
      counts[((i64)(at) + (i64)(1))] += 1;
      if (evaluate_down(facts, place, result, operator_, width, attribute, offsets, operands, given)) {
        copy(facts, ((i64)(place) * (i64)(8LL)), result);
        _mark_users(place, start, end, user_offsets, users, is_due, groups, end);
      }
    }
  }
}
