"""Blocks made visible: terminal, Markdown, LaTeX, CSV."""

# the format of a file by the ending of its name
ENDINGS = {
    ".json": "json", ".jsonl": "jsonl", ".csv": "csv", ".md": "markdown", ".tex": "latex", ".txt": "table", ".trec": "trec",
}  # fmt: skip
OF_PAPER = "{} is of the table of a paper: leave it out, or choose latex, not {}"
