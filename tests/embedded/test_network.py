from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from syntagma.embedded.model import Network
from syntagma.errors import ModelError

from .model_folders import CONFIG, as_stored, plain_logits, random_weights, write_folder

IDS = [3, 49, 0, 17, 17, 5, 30, 2, 41, 8, 8]


@pytest.fixture
def network(tmp_path: Path) -> Network:
    return Network(write_folder(tmp_path, CONFIG, random_weights(CONFIG)))


@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16"])
@pytest.mark.parametrize(
    "change",
    [{}, {"num_key_value_heads": 4}, {"num_key_value_heads": 1}, {"tie_word_embeddings": False}, {"head_dim": 6}],
    ids=["shared keys", "own keys", "one key", "own head", "narrow heads"],
)
def test_logits_equal_those_of_plain_loops(tmp_path: Path, change: dict[str, Any], dtype: str) -> None:
    config = CONFIG | change
    weights = random_weights(config)
    network = Network(write_folder(tmp_path, config, weights, dtype))
    kept = {name: as_stored(array, dtype) for name, array in weights.items()}
    logits = network.read_last(IDS, network.new_cache())
    assert logits.dtype == np.float32
    np.testing.assert_allclose(logits, plain_logits(config, kept, IDS), rtol=1e-3, atol=1e-3)


def test_logits_of_every_position_do_not_see_what_follows(network: Network) -> None:
    whole = network.read(IDS, network.new_cache())
    assert whole.shape == (len(IDS), CONFIG["vocab_size"])
    for end in range(1, len(IDS) + 1):
        np.testing.assert_allclose(
            whole[end - 1], network.read_last(IDS[:end], network.new_cache()), rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("cuts", [[1] * 11, [11], [4, 7], [1, 5, 5], [10, 1], [2, 1, 1, 3, 4]])
def test_cached_reading_equals_reading_at_once(network: Network, cuts: list[int]) -> None:
    cache = network.new_cache()
    rows, start = [], 0
    for count in cuts:
        rows.append(network.read(IDS[start : start + count], cache))
        start += count
    assert cache.length == len(IDS)
    np.testing.assert_allclose(np.concatenate(rows), network.read(IDS, network.new_cache()), rtol=1e-4, atol=1e-4)


def test_context_can_be_filled_but_not_passed(network: Network) -> None:
    cache = network.new_cache()
    network.read_last([1] * 31, cache)
    network.read_last([2], cache)
    with pytest.raises(ModelError) as caught:
        network.read_last([3], cache)
    assert caught.value.code == "E-MODEL-CONTEXT"
    assert cache.length == 32
    with pytest.raises(ModelError, match="E-MODEL-CONTEXT"):
        network.read_last([1] * 33, network.new_cache())


@pytest.mark.parametrize("ids", [[], [-1], [50], [1, 2, 50]])
def test_unknown_tokens_are_refused(network: Network, ids: list[int]) -> None:
    cache = network.new_cache()
    with pytest.raises(ModelError) as caught:
        network.read_last(ids, cache)
    assert caught.value.code == "E-MODEL-TOKEN"
    assert cache.length == 0


def test_two_sequences_do_not_disturb_each_other(network: Network) -> None:
    first, second = network.new_cache(), network.new_cache()
    network.read_last(IDS[:5], first)
    network.read_last([9, 9, 9], second)
    mixed = network.read_last(IDS[5:], first)
    np.testing.assert_allclose(mixed, network.read_last(IDS, network.new_cache()), rtol=1e-4, atol=1e-4)
