"""The user's source: editor, gutter and highlighter."""
