"""Findings: what the histories of a workflow show again and again. Pure; needs no model."""
