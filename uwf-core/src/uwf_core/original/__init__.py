"""Homes of the original uwf (TypeScript, on the store ocas): read, and made into threads."""
