"""The picture of the front page shows what the README's command prints."""

from __future__ import annotations

from xml.etree import ElementTree

from docs.front_picture import PICTURE, ROOT, documented_calls, drawn


def test_the_picture_is_up_to_date(update_golden: bool) -> None:
    if update_golden:
        PICTURE.write_text(drawn(), encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn()


def test_every_documented_call_and_reason_is_in_the_picture() -> None:
    calls = documented_calls((ROOT / "README.md").read_text(encoding="utf-8"))
    shown = " ".join(ElementTree.parse(PICTURE).getroot().itertext())
    assert sum(len(call.targets) for call in calls) == 6
    for call in calls:
        assert call.text in shown
        assert all(name in shown and place in shown for name, place in call.targets)
