"""The sections of a page, by what they are about; which are shown, and in which order, is ``SECTIONS`` of ``reporting/page.py``.

The section with the rankings to look into is in ``reporting/explorer/``.
"""
