"""Which arguments of printf become numbers."""

from __future__ import annotations

import pytest

from kleene.analyses.points_to.constraints.formats import letters_of


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        (b"no conversion", ""),
        (b"100 %%", ""),
        (b"%p", "p"),
        (b"%s: %-8.3f %#lx %hhn", "sfxn"),
        (b"%*d|%.*s|%-*.*f", "ddds" + "ddf"),
        (b"%m %p", "p"),
        (b"%1$p", None),
        (b"%", None),
        (b"%\x01", None),
        (b"%5", None),
        (b"%v", None),  # of `register_printf_function`
    ],
)
def test_letters(text: bytes, letters: str | None) -> None:
    assert letters_of(text) == letters
