"""Where everything is joined, for the command line and the panel alike.

    assembly = build()
    conversation = await assembly.start(None, [Path(".")], TerminalInteraction(), trusted=True)
    await conversation.send("What does src/main.c do?")
    ending = await conversation.wait()

Works with no model configured: commands run, everything else is answered with what to set.
"""
