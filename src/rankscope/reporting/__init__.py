"""One page of any result: sections that pick tables and charts of results, and compute nothing.

``report.report`` is the function, ``subject.PagePart`` what a section is, ``page.SECTIONS`` which there are and in which order.
"""
