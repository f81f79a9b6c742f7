"""The result of a benchmark: one row for each thing it must reach."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Table:
    """Rows of measured values with their limits; printed at the end."""

    title: str
    rows: list[tuple[str, str, str, bool]] = field(default_factory=list)

    def at_most(self, what: str, value: float, limit: float, unit: str = "") -> None:
        """Add a value that must not exceed its limit."""
        self.rows.append((what, _show(value, unit), f"≤ {_show(limit, unit)}", value <= limit))

    def at_least(self, what: str, value: float, limit: float, unit: str = "") -> None:
        """Add a value that must reach its limit."""
        self.rows.append((what, _show(value, unit), f"≥ {_show(limit, unit)}", value >= limit))

    def note(self, what: str, value: float, unit: str = "") -> None:
        """Add a value that has no limit: what the ratios were made of."""
        self.rows.append((what, _show(value, unit), "", True))

    def finish(self) -> int:
        """Print the table; return the exit status: 1 when a limit is missed."""
        rows = [("", "measured", "limit", ""), *self._marked()]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        print(self.title)
        for what, value, limit, mark in rows:
            line = f"  {what:<{widths[0]}}  {value:>{widths[1]}}  {limit:>{widths[2]}}  {mark}"
            print(line.rstrip())
        return 0 if all(reached for *_, reached in self.rows) else 1

    def _marked(self) -> list[tuple[str, str, str, str]]:
        return [
            (what, value, limit, "" if not limit else "ok" if reached else "MISSED")
            for what, value, limit, reached in self.rows
        ]


def _show(value: float, unit: str) -> str:
    number = f"{value:.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.2f}"
    return f"{number} {unit}".rstrip()
