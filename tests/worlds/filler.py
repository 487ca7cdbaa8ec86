"""Assistant text and tool output that says nothing of the person: what most of a session is made of."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_SUBJECTS = (
    "The parser",
    "This section",
    "The second table",
    "The export job",
    "The summary",
    "The loader",
    "Each row",
    "The layout",
    "The retry loop",
    "The draft",
    "The index",
    "The chart",
)
_VERBS = ("reads", "groups", "repeats", "skips", "rewrites", "compares", "collects", "shortens", "orders", "renders", "checks", "splits")
_OBJECTS = (
    "the records by their date", "every heading it finds", "the columns that are empty", "two lists that overlap", "the figures of the quarter", "all rows with a missing total",
    "the paragraphs that say the same", "the labels of the legend", "each file it was given", "the footnotes at the end", "the warnings of the last step", "whatever comes after the colon",
)  # fmt: skip
_ENDS = (
    "so the result is shorter than before.", "which explains the difference you saw.", "and leaves the rest as it was.", "before anything is written.", "without touching the source.",
    "because the order matters here.", "and I would keep it that way.", "so nothing is lost on the way.", "which takes about a second.", "and then prints a short line.",
)  # fmt: skip
_ZH = (
    "这一段先读取所有记录，再按日期分组，所以结果比之前短。",
    "表格里空着的列会被跳过，其余内容保持不变。",
    "我把两个重复的列表合并了，顺序没有改变。",
    "总数不同是因为上一次漏掉了最后一行。",
    "下一步是检查图例里的标签，然后再输出。",
    "脚注放在最后，正文里只留下编号。",
    "这个循环会重试三次，之后就停止并给出提示。",
    "摘要可以再短一点，不过意思已经完整了。",
    "文件写入之前会先做一次比较，避免覆盖。",
    "每一步都会打印一行简短的说明。",
)
_CODE = (
    "def merge(rows):\n    seen = {}\n    for row in rows:\n        seen.setdefault(row['id'], row)\n    return list(seen.values())\n",
    "const total = rows.reduce((sum, row) => sum + row.amount, 0);\nexport default function render(rows) {\n  return rows.map((row) => row.label).join('\\n');\n}\n",
    "server:\n  host: 0.0.0.0\n  port: 8000\n  workers: 2\nlog:\n  level: info\n  keep_days: 14\n",
    "# Contributing\n\nAlways open an issue first. Never push to main.\n\n| step | command |\n| --- | --- |\n| test | make test |\n| build | make build |\n",
    '{"id": 4, "name": "Alice Example", "city": "Lima", "phone": "+1 555 0100", "favourite": "espresso"}\n',
    "id,name,city,amount\n1,Alice,Lima,20\n2,Bob,Quito,35\n3,Carol,Sucre,12\n",
    "-- I moved this table from MyISAM to InnoDB because of the locks\ncreate table orders (id integer primary key, total numeric not null);\n",
)


@dataclass(slots=True)
class Filler:
    """Paragraphs for one session; the same `rng` state gives the same text."""

    rng: random.Random
    language: str
    log_line: int = field(default=0)

    def paragraph(self, sentences: int) -> str:
        """That many sentences of an assistant at work."""
        pick = self.rng.choice
        if self.language == "zh":
            return "".join(pick(_ZH) for _ in range(sentences))
        return " ".join(f"{pick(_SUBJECTS)} {pick(_VERBS)} {pick(_OBJECTS)} {pick(_ENDS)}" for _ in range(sentences))

    def output(self, chars: int) -> str:
        """About that many characters of a tool's output: code, tables, log lines."""
        parts: list[str] = []
        size = 0
        while size < chars:
            part = self.rng.choice(_CODE) if self.rng.random() < 0.3 else self._log(self.rng.randint(4, 12))
            parts.append(part)
            size += len(part)
        return "".join(parts)

    def _log(self, lines: int) -> str:
        out = []
        for _ in range(lines):
            self.log_line += 1
            out.append(f"[{self.log_line:05d}] INFO step {self.rng.choice(_VERBS)} {self.rng.choice(_OBJECTS)} in {self.rng.randint(2, 900)} ms\n")
        return "".join(out)
