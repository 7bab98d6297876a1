"""Numeric inner loops, one folder each: public function, reference, Numba, CUDA."""
