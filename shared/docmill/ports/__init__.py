"""Ports: what docmill needs of the outside, each a Protocol whose docstrings are its contract.

``docmill.testing`` has a suite for each port that every adapter passes.
"""
