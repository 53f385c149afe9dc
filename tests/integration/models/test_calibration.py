"""What using a model teaches about the size of its tokens and of its window."""

import pytest

from devflow.domain.conversation import ModelChoice
from devflow.knowledge.settings import Settings
from devflow.models.calibration import GROUP, MODELS_MAX, Calibration

QWEN = ModelChoice("p", "qwen")
OTHER = ModelChoice("p", "other")


@pytest.fixture
def calibration(settings: Settings) -> Calibration:
    return Calibration(settings)


async def test_a_model_that_nobody_used_is_estimated_as_it_is(calibration: Calibration) -> None:
    assert await calibration.ratio(QWEN) == 1.0


async def test_what_the_server_counts_moves_the_ratio_of_that_model_alone(calibration: Calibration) -> None:
    await calibration.observe(QWEN, estimated=1_000, counted=1_400)
    assert await calibration.ratio(QWEN) == pytest.approx(1.2)
    assert await calibration.ratio(OTHER) == 1.0


async def test_it_becomes_more_careful_at_once_and_less_so_slowly(calibration: Calibration) -> None:
    await calibration.observe(QWEN, estimated=1_000, counted=600)
    assert await calibration.ratio(QWEN) == pytest.approx(0.96)
    for _ in range(60):
        await calibration.observe(QWEN, estimated=1_000, counted=600)
    assert 0.6 <= await calibration.ratio(QWEN) <= 0.7
    await calibration.observe(QWEN, estimated=1_000, counted=1_600)
    assert await calibration.ratio(QWEN) > 1.0


@pytest.mark.parametrize("counted, bound", [(3_900, 2.0), (260, 0.5)])
async def test_it_never_leaves_its_bounds(calibration: Calibration, counted: int, bound: float) -> None:
    for _ in range(200):
        await calibration.observe(QWEN, estimated=1_000, counted=counted)
    assert await calibration.ratio(QWEN) == pytest.approx(bound, abs=0.11)
    assert 0.5 <= await calibration.ratio(QWEN) <= 2.0


@pytest.mark.parametrize("estimated, counted", [(1_000, None), (1_000, 0), (1_000, 100), (1_000, 9_000), (50, 90)])
async def test_a_count_that_cannot_be_of_the_whole_request_teaches_nothing(
    calibration: Calibration, settings: Settings, estimated: int, counted: int | None
) -> None:
    await calibration.observe(QWEN, estimated=estimated, counted=counted)
    assert await settings.get(GROUP) == {}


async def test_it_is_still_known_after_a_restart(calibration: Calibration, settings: Settings) -> None:
    await calibration.observe(QWEN, estimated=1_000, counted=1_400)
    assert await Calibration(settings).ratio(QWEN) == pytest.approx(1.2)


@pytest.mark.parametrize("stored", ["nonsense", None, True, {"a": 1}, [1]])
async def test_a_stored_ratio_that_cannot_be_read_counts_as_none(settings: Settings, stored: object) -> None:
    await settings.save(GROUP, {"p/qwen": stored})
    assert await Calibration(settings).ratio(QWEN) == 1.0


async def test_a_stored_ratio_out_of_bounds_is_held_to_them(settings: Settings) -> None:
    await settings.save(GROUP, {"p/qwen": 70, "p/other": -1})
    assert await Calibration(settings).ratio(QWEN) == 2.0
    assert await Calibration(settings).ratio(OTHER) == 0.5


async def test_models_that_were_used_long_ago_are_forgotten(calibration: Calibration, settings: Settings) -> None:
    await settings.save(GROUP, {f"p/{number}": 1.1 for number in range(MODELS_MAX)})
    await calibration.observe(QWEN, estimated=1_000, counted=1_400)
    stored = await settings.get(GROUP)
    assert len(stored) == MODELS_MAX
    assert "p/qwen" in stored


async def test_a_refusal_teaches_a_smaller_window_until_the_server_says_another(calibration: Calibration) -> None:
    await calibration.overflowed(QWEN, told=32_000, estimated=5_000, window=4_096, sent=None)
    assert calibration.window(QWEN, 32_000) == 4_096
    assert calibration.window(OTHER, 32_000) == 32_000
    assert calibration.window(QWEN, 8_192) == 8_192, "it was loaded anew with another window"
    assert await calibration.ratio(QWEN) == 1.0


async def test_a_refusal_teaches_a_window_that_nobody_told(calibration: Calibration) -> None:
    assert calibration.window(QWEN, None) is None
    await calibration.overflowed(QWEN, told=None, estimated=5_000, window=4_096, sent=None)
    assert calibration.window(QWEN, None) == 4_096


async def test_a_refusal_that_counted_more_than_estimated_is_believed_at_once(calibration: Calibration) -> None:
    await calibration.overflowed(QWEN, told=4_096, estimated=3_000, window=4_096, sent=4_500)
    assert await calibration.ratio(QWEN) == pytest.approx(1.5)
    assert calibration.window(QWEN, 4_096) == 4_096
