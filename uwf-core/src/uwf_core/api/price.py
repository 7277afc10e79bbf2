"""Compute the cost of a call from the model's price, unless it was reported. Pure."""

from dataclasses import replace

from uwf_core.api.agent import Model, Usage

PER_TOKENS = 1_000_000


def priced(usage: Usage, model: Model | None) -> Usage:
    """The usage with its cost, if every kind of token that was used has a known price."""
    if usage.cost_usd is not None or model is None or model.price is None:
        return usage
    price = model.price
    parts = (
        (usage.input_tokens, price.input),
        (usage.output_tokens, price.output),
        (usage.cache_read_tokens, price.cache_read),
        (usage.cache_write_tokens, price.cache_write),
    )
    if usage.input_tokens is None or usage.output_tokens is None:
        return usage
    cost = 0.0
    for tokens, each in parts:
        if tokens and each is None:
            return usage
        cost += (tokens or 0) * (each or 0.0) / PER_TOKENS
    return replace(usage, cost_usd=cost)
