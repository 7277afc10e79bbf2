"""Renders a run and its trials as text, Markdown, JUnit XML or one HTML page. All pure.

summary   computes the report from groups, estimates, shares and configurations
sections  the facts and tables of a report, shared by all formats
text, markdown, junit, html   the formats; the colours are in html/colours.css
"""
