"""Checks and care: plugins and agents on trial; the store verified, repaired, copied, cleaned."""
