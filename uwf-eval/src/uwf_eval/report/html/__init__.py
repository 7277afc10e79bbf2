"""The report as one self-contained page: no script, no network, every text escaped.

page.css has the layout, colours.css the colours of the light and the dark theme.
"""
