"""The page of idioms that are not followed is made of the assumptions in the code."""

from __future__ import annotations

from docs.not_followed import PAGE, page
from kleene.analyses.points_to.constraints.assumptions import Assumptions


def test_the_page_is_up_to_date(update_golden: bool) -> None:
    if update_golden:
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


def test_every_assumption_is_on_the_page() -> None:
    shown = PAGE.read_text(encoding="utf-8")
    assert all(a.value.idiom in shown and a.value.remedy in shown for a in Assumptions)
