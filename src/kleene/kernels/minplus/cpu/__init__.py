"""The operations on CPUs: `operations`, by Numba; and states of several components."""
