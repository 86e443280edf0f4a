"""Pure functions from a recording to graphs, steps, series and findings; no Qt, no engine."""
