"""The pictures of loops show what the analysis says today."""

from __future__ import annotations

import pytest

pytest.importorskip("islpy", reason="verdicts need the package islpy")

from docs.loop_pictures import FOLDER, drawn


def test_the_pictures_are_up_to_date(update_golden: bool) -> None:
    page = (FOLDER / "loops.md").read_text(encoding="utf-8")
    for name, picture in drawn().items():
        if update_golden:
            (FOLDER / name).write_text(picture, encoding="utf-8")
        assert (FOLDER / name).read_text(encoding="utf-8") == picture
        assert f"({name})" in page
