"""Why a thread went as it did: sentences, each with the references of the nodes that prove it.

`page.why_page` makes a value; `text`, `markdown`, `html` and `document` render it.
"""
