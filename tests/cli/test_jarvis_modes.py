"""At a terminal: plans that change nothing, edits that are accepted unseen, chosen as one talks."""

from __future__ import annotations

from typing import Any

from tests.cli.test_jarvis_command import place


def edit(old: str, new: str) -> dict[str, Any]:
    return {"files": [{"file_path": "a.txt", "diffs": [{"search": old, "replace": new}]}]}


async def test_a_mode_is_chosen_while_one_talks(tmp_path):
    async with place(tmp_path) as here:
        file = here.folder / "a.txt"
        file.write_text("old\n")
        with here.person("--trust", "--color", "never", "--allow", "write") as person:
            await person.sees("\n>")
            person.type("/mode plan\r")
            await person.sees("\nplan>")
            here.model.call("edit_file", edit("old", "new"))
            here.model.say("Planned.")
            person.type("Change it\r")
            await person.sees("Plan mode: nothing is written or run until the user leaves it.")
            await person.sees("Planned.")
            await person.sees("\nplan>")
            assert file.read_text() == "old\n"
            person.type("/mode edits\r")
            await person.sees("\nedits>")
            here.model.call("edit_file", edit("old", "new"))
            here.model.say("Edited.")
            person.type("Carry it out\r")
            await person.sees("Edited.")
            await person.sees("\nedits>")
            assert file.read_text() == "new\n"
            person.type("/mode plans\r")
            await person.sees("plans")
            await person.sees("\nedits>")
            person.type("\x04")
            assert await person.ended() == 0


async def test_edits_are_accepted_and_programs_still_asked_about(tmp_path):
    async with place(tmp_path) as here:
        file = here.folder / "a.txt"
        file.write_text("old\n")
        with here.person("--trust", "--color", "never", "--mode", "edits") as person:
            await person.sees("\nedits>")
            here.model.call("edit_file", edit("old", "new"))
            here.model.call("execute_script", {"script": "echo ran"})
            here.model.say("Not run.")
            person.type("Change it and run it\r")
            await person.sees("echo ran")
            await person.sees("[")
            assert file.read_text() == "new\n"
            person.type("n\r")
            await person.sees("What should it do instead?")
            person.type("\r")
            await person.sees("Not run.")
            await person.sees("\nedits>")
            person.type("\x04")
            assert await person.ended() == 0


async def test_one_message_may_only_plan(tmp_path):
    async with place(tmp_path) as here:
        (here.folder / "a.txt").write_text("old\n")
        here.model.call("edit_file", edit("old", "new"))
        here.model.call("execute_script", {"script": "echo new >a.txt"})
        here.model.say("A plan.")
        arguments = ("--trust", "--mode", "plan", "--allow", "write", "--allow", "execute")
        status, out, err = await here.run(*arguments, "-m", "Change it")
        assert (status, out) == (0, "A plan.\n") and err.count("Plan mode: nothing is") == 2
        assert (here.folder / "a.txt").read_text() == "old\n"
