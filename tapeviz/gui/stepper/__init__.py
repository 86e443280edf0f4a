"""The step card: one backward step with its rule, its real numbers and what has added up."""
