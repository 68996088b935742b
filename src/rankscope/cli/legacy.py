from rankscope.show.result import Result


def wrap(r):
    if isinstance(r, Result):
        return r
    n = type(r).__name__
    m = type(r).__module__

    class W:
        notes = list(getattr(r, "notes", None) or (r.scores.notes if hasattr(r, "scores") else ()))
        warnings = getattr(r, "warnings", ()) if not hasattr(r, "findings") else ()
        exit_code = getattr(r, "exit_code", 0)

        def __getattr__(s, k):
            return getattr(r, k)

        def write(s, form, width=80, colour=False, **o):
            if isinstance(r, Result):
                return r.write(form, width=width, colour=colour, **o)
            import importlib

            from rankscope.show.terminal import render
            from rankscope.show.text import as_csv, as_json, as_jsonl, as_latex, as_markdown

            pk = m.rpartition(".")[0]
            res = importlib.import_module(pk + ".result")
            try:
                rec = importlib.import_module(pk + ".records")
            except ImportError:
                rec = res
            if n == "Comparison":
                from rankscope.blocks import Paragraph
                from rankscope.verbs.compare.verdicts import sentences

                if form in ("latex", "markdown"):
                    return [
                        (as_latex if form == "latex" else as_markdown)(
                            [*(Paragraph(t) for t in sentences(r)), *res.paper_blocks(r)]
                        )
                    ]
                blocks = res.blocks_of(r, o.get("details", False)) if form == "table" else ()
                cols = rec.columns_of(r)
                recs = rec.all_records(r)
                env = rec.envelope(r) if form == "json" else {}
            elif n == "Gate":
                blocks = res.page_blocks(r) if form == "markdown" else res.blocks_of(r)
                env = res.envelope(r, o["settings"])
                cols = res.COLUMNS
                recs = res.records(r)
            elif n in ("Explained", "Sourced"):
                C = {
                    "one": (
                        "rank",
                        "doc_id",
                        "grade",
                        "adds",
                        "so_far",
                        "ideal_grade",
                        "ideal_adds",
                        "lost",
                        "what",
                    ),
                    "two": (
                        "rank",
                        "rank_before",
                        "doc_id",
                        "grade",
                        "move",
                        "adds_before",
                        "adds_after",
                        "adds",
                        "what",
                    ),
                    "all": ("ranks", "first", "last", "adds"),
                }
                recs = list(rec.records(r))
                blocks = res.blocks_of(r)
                env = rec.envelope(r)
                cols = C["all" if n == "Sourced" else "two" if recs and "rank_before" in recs[0] else "one"]
            elif o.get("table") == "worklist":
                return as_csv(res.WORKLIST_COLUMNS, res.worklist(r))
            else:
                blocks = res.blocks_of(r)
                env = rec.envelope(r)
                cols = rec.COLUMNS
                recs = rec.records(r)
            if form == "table":
                return [render(blocks, width, colour)]
            if form == "json":
                return [as_json(env)]
            if form == "jsonl":
                return as_jsonl(recs)
            if form == "csv":
                return as_csv(cols, recs)
            return [as_markdown(blocks)]

    return W()
