"""The doctor: rules that tell from a recording what is wrong with a training, where, and what to do about it."""

from tapeviz.analysis.findings.finding import SEVERITIES, Finding
from tapeviz.analysis.findings.rules import RULES, Doctor, Rule, diagnose

__all__ = ["RULES", "SEVERITIES", "Doctor", "Finding", "Rule", "diagnose"]
