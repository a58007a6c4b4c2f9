"""The harness behind the command `benchproof`: build, measure, judge, and show.

It never imports `driver` in its own process: workers import it from the side that they measure.
"""
