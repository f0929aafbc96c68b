"""Tokens: counting, estimating, and calibrating estimates against real usage."""
