// The node that stands for an object: its contents, its formal at a place, its result.
#pragma once
#define CONTENTS -1  // maps; a map m >= 0 is the formal at place m
#define RESULT -2
#define CONSTANT -2  // in function_of: no function, and nothing flows into the contents

struct Targets {
  const int *contents, *function_of, *result, *rest, *formal_offsets, *formals;
  int outside, unknown_row, escaped_row;  // the object that stands for all unknown ones, or -1
};

// The node that object o stands for in a map, or -1. What flows into an unknown object escapes;
// what flows out of one is unknown.
__device__ __forceinline__ int target(const Targets& t, int map, int o, bool into) {
  if (o == t.outside) return into ? t.escaped_row : t.unknown_row;
  if (map == CONTENTS) return into && t.function_of[o] == CONSTANT ? -1 : t.contents[o];
  const int f = t.function_of[o];
  if (f < 0) return -1;
  if (map == RESULT) return t.result[f];
  const int at = t.formal_offsets[f] + map;
  return at < t.formal_offsets[f + 1] ? t.formals[at] : t.rest[f];
}
