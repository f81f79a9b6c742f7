"""Where everything is joined, for the command line and the panel alike.

    assembly = build()
    conversation = await assembly.start(None, [Path(".")], TerminalInteraction(), trusted=True)
    await conversation.send("What does src/main.c do?")
    ending = await conversation.wait()

Works with no model configured: commands run, everything else is answered with what to set.
"""

from jarvis_ls.assembly.build import Assembly, build
from jarvis_ls.assembly.conversation import Conversation
from jarvis_ls.assembly.past import Rewound
from jarvis_ls.assembly.workplace import Workplace

__all__ = ["Assembly", "Conversation", "Rewound", "Workplace", "build"]
