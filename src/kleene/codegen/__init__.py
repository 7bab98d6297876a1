"""Programs as text: CUDA C++, C for threads, and the Python that launches kernels.

`plan` says what a generated program does; `cuda`, `cuda_host`, `threads` and `python` print it, and
`runtime` is what the printed Python runs on.
"""
