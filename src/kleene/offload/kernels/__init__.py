"""Which loops may run in parallel, after what change, and why not the others?"""
