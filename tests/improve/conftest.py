"""Every document that a test of `uwf improve` prints has its schema."""

from tests.document_schemas import checked

__all__ = ["checked"]
