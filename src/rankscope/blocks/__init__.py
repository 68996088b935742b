"""What a result is made of: tables, paragraphs, notes, charts, rankings to explore. Renderers need nothing else."""

from __future__ import annotations

from rankscope.blocks.chart import Chart as Chart
from rankscope.blocks.chart import Form as Form
from rankscope.blocks.chart import Guide as Guide
from rankscope.blocks.explorer import Document as Document
from rankscope.blocks.explorer import Explorer as Explorer
from rankscope.blocks.explorer import Query as Query
from rankscope.blocks.page import Page as Page
from rankscope.blocks.page import Section as Section
from rankscope.blocks.page import Tone as Tone
from rankscope.blocks.page import Verdict as Verdict
from rankscope.blocks.text import EMPTY as EMPTY
from rankscope.blocks.text import EVEN as EVEN
from rankscope.blocks.text import Block as Block
from rankscope.blocks.text import Caution as Caution
from rankscope.blocks.text import Code as Code
from rankscope.blocks.text import Column as Column
from rankscope.blocks.text import Facts as Facts
from rankscope.blocks.text import Heading as Heading
from rankscope.blocks.text import Note as Note
from rankscope.blocks.text import Notes as Notes
from rankscope.blocks.text import NumberText as NumberText
from rankscope.blocks.text import Paragraph as Paragraph
from rankscope.blocks.text import Table as Table
from rankscope.blocks.text import Value as Value
from rankscope.blocks.text import ValueRange as ValueRange

Ranged = ValueRange
Written = NumberText
