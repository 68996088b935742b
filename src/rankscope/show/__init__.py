"""Blocks made visible: terminal, Markdown, LaTeX, CSV."""

# the format of a file by the ending of its name
ENDINGS = {
    ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".txt": "table", ".trec": "trec",
}  # fmt: skip
