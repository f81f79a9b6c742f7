"""Ways to reach a statement that are always, or never, taken: the control variants."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Control:
    """How a block is reached."""

    name: str
    """Name of the variant."""
    taken: str
    """Text in which `<body>` is always reached."""
    skipped: str
    """Text in which `<dead>` is never reached and `<body>` always is."""
    shared: str = ""
    """Declarations it needs, once per case."""
    uncertain: bool = False
    """True when both `<dead>` and `<body>` may be reached."""


def _branch(name: str, true: str, false: str, shared: str = "") -> Control:
    return Control(
        name,
        f"if ({true})\n{{\n<body>\n}}\n",
        f"if ({false})\n{{\n<dead>\n}}\nelse\n{{\n<body>\n}}\n",
        shared,
    )


STRAIGHT = Control("straight", "<body>\n", "<body>\n")

_FUNCTION = "static int $Yes(void)\n{\nreturn 1;\n}\nstatic int $No(void)\n{\nreturn 0;\n}\n"

CONTROLS = [
    STRAIGHT,
    _branch("constant", "1", "0"),
    _branch("comparison of constants", "5 == 5", "5 != 5"),
    _branch(
        "static constants", "$On", "$Off", "static const int $On = 1;\nstatic const int $Off = 0;\n"
    ),
    _branch("static variables", "$On", "$Off", "static int $On = 1;\nstatic int $Off = 0;\n"),
    _branch("static functions", "$Yes()", "$No()", _FUNCTION),
    _branch("global constants", "@yes", "@no"),
    _branch("global variables", "@on", "@off"),
    _branch("functions of another file", "@true()", "@false()"),
    _branch(
        "static constant compared", "$Five == 5", "$Five != 5", "static const int $Five = 5;\n"
    ),
    _branch("static variable compared", "$Five == 5", "$Five != 5", "static int $Five = 5;\n"),
    _branch("global constant compared", "@five == 5", "@five != 5"),
    _branch("macro", "$FLAG", "!$FLAG", "#define $FLAG 1\n"),
    _branch("enumerator", "$One == 1", "$One == 0", "enum $Kind { $Zero, $One };\n"),
    Control(
        "either way",
        "if (@either())\n{\n<body>\n}\nelse\n{\n<dead>\n}\n",
        "if (@either())\n{\n<dead>\n}\nelse\n{\n<body>\n}\n",
        uncertain=True,
    ),
    Control(
        "switch",
        "switch (6)\n{\ncase 6:\n{\n<body>\n}\nbreak;\ndefault:\n@say(<text>);\nbreak;\n}\n",
        "switch (5)\n{\ncase 6:\n{\n<dead>\n}\nbreak;\ndefault:\n{\n<body>\n}\nbreak;\n}\n",
    ),
    Control("while and break", *(["while (1)\n{\n<body>\nbreak;\n}\n"] * 2)),
    Control("for once", *(["for ($i<n> = 0; $i<n> < 1; $i<n>++)\n{\n<body>\n}\n"] * 2)),
    Control("do once", *(["do\n{\n<body>\n} while (0);\n"] * 2)),
    Control("goto", *(["goto $l<n>;\n$l<n>:\n{\n<body>\n}\n"] * 2)),
    Control("block", *(["{\n<body>\n}\n"] * 2)),
]
