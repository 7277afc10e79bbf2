"""Anthropic's Messages: `anthropic`."""
