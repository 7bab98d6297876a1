"""Questions about programs: each states constraints, has them solved, and answers from them."""
