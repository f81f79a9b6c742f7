"""The rounds of a turn: ask the model, do what it says, until the task is complete.

One round: words that were queued are read; every so many rounds the model is reminded of its
tools; a context that is nearly full is summarised; the model answers; `<!!!SUMMARY!!!>` in the
answer summarises at once; tools run, and their results make the next round. An answer without
tools ends the task when it says `!!!COMPLETE!!!` and the agent completes itself, else the user
says how to continue.
"""

from __future__ import annotations

import json
from dataclasses import replace

from jarvis_ls.core.errors import JarvisError
from jarvis_ls.core.words import Words
from jarvis_ls.runtime.agent import tool_dispatch
from jarvis_ls.runtime.agent.agent_view import AnswerStream, new_id
from jarvis_ls.runtime.agent.attachments import hand_over_files
from jarvis_ls.runtime.agent.call_observers import AGAIN
from jarvis_ls.runtime.agent.compaction import compact
from jarvis_ls.runtime.agent.control import Interrupted, Said, Stopped
from jarvis_ls.runtime.agent.core import AgentCore
from jarvis_ls.runtime.agent.guard import Halted
from jarvis_ls.runtime.agent.hooks import (
    AfterAddonPrompt,
    AfterSummary,
    BeforeAddonPrompt,
    BeforeSummary,
    InterruptTriggered,
    TaskCompleted,
    TaskStarted,
)
from jarvis_ls.runtime.agent.prompts import (
    COMPLETE,
    FAILED,
    SUMMARY,
    joined,
    prompt,
    without_marks,
)
from jarvis_ls.runtime.agent.tool_filter import choose_tools
from jarvis_ls.runtime.agent.typed_answer import AnswerForm, AnswerUnfit
from jarvis_ls.runtime.base.errors import AnswerBroken, AnswerCut, ContextTooLong, ModelRefused
from jarvis_ls.runtime.base.messages import Assistant, User
from jarvis_ls.runtime.llm.text_tool_calls import mentions_call
from jarvis_ls.runtime.llm.token_estimate import of_messages

GO_ON = "Go on."
CONTINUED = "Your answer reached its limit. Go on exactly where it ended, without repeating."
BROKEN = (
    "Your last answer could not be used: {reason} Nothing of it was done. Answer again, shorter."
)
CUT = "Your last answer reached the limit of its length and was cut off. Nothing of it was done."
CUT_SAYING = f"{CUT} Think less, and answer in fewer words."
CUT_CALLING = (
    CUT + " The call of {tool} was not complete. Do it in smaller steps, one call an answer:"
    " write a long file in parts, change a few places instead of rewriting it, and leave out"
    " what was said already."
)
NOT_TYPED = "Your answer does not meet the JSON schema it must meet: {why}\nGive all of it again."
SAYS_FAILED = Words("The model says that the task cannot be done.")
SAYS_UNFIT = Words("The answer does not meet its schema: {why}")
TOLD_UNFIT = Words("The answer does not meet its schema and is asked for again: {why}")
STOPPED_HERE = "[The user stopped the answer here.]"
TOLD_CUT = Words("The answer reached its limit; smaller steps are asked for.")
ENDED_EARLY = {
    "filtered": Words("The provider's content filter cut off this answer."),
    "length": Words("This answer is incomplete: it repeatedly reached the output limit."),
}
"""What the user reads of an answer that can be used but is not whole, by how it ended."""
TASK_SHOWN = 8_000
"""Characters of a task that are enough to choose tools by."""
WORTHWHILE = 0.1
"""Share of the window that must have been added before another summary makes sense."""
CONTINUATIONS = 4
"""How often an answer that reached its limit is gone on with."""
UNFIT = 3
"""How often in one task an answer that does not meet its form is asked for again."""
NUDGES = 2
"""How often in a row a model is told that its answer could not be used."""


async def run(agent: AgentCore) -> str:
    """Work through the agent's queue until the task is complete. Gives the result.

    Raises a `JarvisError` whose text says why the task failed, and `asyncio.CancelledError` when
    the turn is stopped.
    """
    return await _Turn(agent).run()


class NotDone(JarvisError):
    """The task ended without being done; the text says why, to the user."""


class _Turn:
    def __init__(self, agent: AgentCore) -> None:
        self.agent = agent
        self.rounds = 0
        """Since the last summary."""
        self.all_rounds = 0
        self.unfit = 0
        """How many answers did not meet the form."""
        self.said_something = False
        self.room_made = False
        """Whether the last thing done was a summary: doing it again would not help."""

    async def run(self) -> str:
        agent = self.agent
        agent.mend()
        while True:
            try:
                done = await self._round()
            except Interrupted:
                done = await self._handle_interruption()
            if done is not None:
                return done

    async def _round(self) -> str | None:
        """One round; the result when the task is complete."""
        agent = self.agent
        await agent.checkpoint_reached()
        started = self.said_something
        early = await agent.control.step(self._read_queue())
        if not self.said_something:
            return early
        if not started:
            await self._begin()
        self._count()
        await self._make_room()
        await self._tell_addon()
        answer, prompt_, note = await self._answer()
        return await self._act_on(answer, prompt_, note)

    async def _begin(self) -> None:
        """Prepare a task, once before its first request."""
        agent = self.agent
        task = next((m.text for m in reversed(agent.messages()) if isinstance(m, User)), "")
        await agent.hooks.emit(TaskStarted(agent, task))
        fresh = agent.node.parent is None and not any(
            isinstance(m, Assistant) for m in agent.messages()
        )
        if agent.options.files and fresh:
            await agent.control.step(hand_over_files(agent))
        await agent.control.step(choose_tools(agent, task[:TASK_SHOWN]))

    def _count(self) -> None:
        agent = self.agent
        self.rounds += 1
        self.all_rounds += 1
        agent.showing.update(rounds=agent.node.rounds + 1)
        limit = agent.options.max_rounds
        if limit and self.all_rounds > limit:
            raise Halted(
                "The task was not complete after {limit} rounds. Say how to continue.", limit=limit
            )

    async def _read_queue(self) -> str:
        """Move what was said into the conversation. Gives what a command printed."""
        agent = self.agent
        printed = ""
        while agent.control.queue:
            said = agent.control.queue[0]
            checkpoint = await self._checkpoint()
            text, images, done = said.text, said.images, False
            if agent.inputs is not None:
                handled = await agent.inputs.handle(said.text, said.images, agent.input_context())
                text, images, done = handled.text, handled.images, handled.done
            if not done and (described := await agent.described(text, images)):
                text = f"{text}\n\nThe pictures, as another model sees them:\n{described}"
                images = ()
            if not agent.control.queue or agent.control.queue[0] is not said:
                continue  # it was taken back meanwhile
            agent.control.queue.popleft()
            if done:
                printed = text
                self._show_said(said, checkpoint)
                if printed:
                    agent.showing.notice("info", printed)
                continue
            if agent.node.parent is not None and not agent.messages():
                await self._tell_facts()
            agent.append(User(text, tuple(images), id=said.id))
            self._show_said(said, checkpoint)
            self.said_something = True
            self.room_made = False
        return printed

    def _show_said(self, said: Said, checkpoint: str) -> None:
        self.agent.showing.user(said.id, said.text, said.images, checkpoint=checkpoint)

    async def _checkpoint(self) -> str:
        agent = self.agent
        if agent.checkpoint is None:
            return ""
        try:
            return await agent.checkpoint()
        except Exception as error:  # noqa: BLE001 - a turn without a way back is still a turn
            agent.showing.notice(
                "warning", "No checkpoint of the files was made before this turn: {why}", why=error
            )
            return ""

    async def _make_room(self) -> None:
        agent = self.agent
        window, used = agent.group.window, self._count_tokens()
        limit = max(window * agent.options.summary_share, agent.least + window * WORTHWHILE)
        if used > limit and not self.room_made:
            await self._compact()

    async def _compact(self, *, needed: bool = False) -> None:
        done = await self.agent.control.step(compact(self.agent, needed=needed))
        self.agent.least = self._count_tokens()
        self.room_made = True
        if done is not None:
            self.rounds, self.agent.addon = 0, ()

    def _count_tokens(self) -> int:
        """Tokens the next question will have; shows the meter."""
        agent = self.agent
        parts = agent.questions.sizes(agent.messages())
        corrected = {name: agent.counter.corrected(size) for name, size in parts.items()}
        agent.showing.meter(agent.group.window, corrected)
        return sum(corrected.values())

    async def _tell_facts(self) -> None:
        """Tell a child what holds for every task before its own: children share that beginning,
        which providers cache.
        """
        agent = self.agent
        facts = agent.prompts.facts(agent.toolset.specs(), agent.native)
        agent.append(User(joined(*facts), id=new_id()))
        agent.addon = facts
        if agent.options.files:
            await agent.control.step(hand_over_files(agent))

    async def _tell_addon(self) -> None:
        """Add the addon prompt when the model has not been told it, or it is time to remind."""
        agent = self.agent
        await agent.hooks.emit(BeforeAddonPrompt(agent))
        specs = agent.toolset.specs()
        addon = agent.prompts.addon(specs, agent.native)
        every = agent.options.tool_reminder_rounds
        if every and self.rounds and self.rounds % every == 0:
            reminder = agent.prompts.tool_rules(specs, agent.native)
            told = joined("Reminder of how tools are used:", reminder) if reminder else ""
        else:
            told = ""
        told = joined(told, *(part for part in addon if part not in agent.addon))
        agent.addon = addon
        if told:
            agent.append(User(told, id=new_id()))
        await agent.hooks.emit(AfterAddonPrompt(agent, told))

    async def _answer(self) -> tuple[Assistant, str, str]:
        """Return the model's next answer, kept; what it must be told, and a note for its
        results.
        """
        agent = self.agent
        nudges = 0
        while True:
            stream = agent.stream()
            try:
                raw = await agent.control.step(self._ask(stream))
                break
            except AnswerCut as error:
                stream.abandon()
                nudges += 1
                if nudges > NUDGES:
                    raise
                agent.showing.notice("warning", TOLD_CUT)
                if error.text.strip():
                    agent.append(Assistant(error.text, finish="length", id=new_id()))
                told = CUT_CALLING.format(tool=error.tool) if error.tool else CUT_SAYING
                agent.append(User(told, id=new_id()))
            except AnswerBroken as error:
                stream.abandon()
                nudges += 1
                if nudges > NUDGES:
                    raise
                agent.showing.notice("warning", AGAIN, why=error)
                agent.append(User(BROKEN.format(reason=error), id=new_id()))
            except ModelRefused as error:
                stream.abandon()
                if agent.questions.blind or not _shows_images(agent):
                    raise
                agent.questions.blind = True
                agent.showing.notice("warning", "{why} Retrying without images.", why=error)
            except ContextTooLong as error:
                stream.abandon()
                if self.room_made:
                    raise
                agent.showing.notice("warning", "{why} Shortening the conversation.", why=error)
                await self._compact(needed=True)
                await self._tell_addon()
            except BaseException:
                self._keep_part(stream)
                raise
        answer, told, note = tool_dispatch.normalised(raw, agent.native)
        kept = replace(answer, id=new_id())
        wish = _without_marks(kept)
        stream.settle(kept, wish.text)
        agent.append(kept)
        if kept.finish in ENDED_EARLY:
            agent.showing.notice("warning", ENDED_EARLY[kept.finish])
        self.room_made = False
        return kept, told, note

    async def _ask(self, stream: AnswerStream) -> Assistant:
        agent = self.agent
        request = agent.questions.of(agent.messages())
        estimated = of_messages(request.messages, agent.group.sends_reasoning)
        estimated += agent.questions.tool_tokens()
        answer = await agent.ask(request, stream)
        agent.counter.learn(estimated, answer.usage.input)
        for _ in range(CONTINUATIONS):
            if answer.finish != "length" or answer.tool_calls or mentions_call(answer.text):
                break
            more = replace(request, messages=[*request.messages, answer, User(CONTINUED)])
            stream.continue_from(answer)
            try:
                rest = await agent.ask(more, stream)
            except AnswerCut as error:
                error.text = answer.text + error.text
                raise
            answer = replace(
                rest,
                text=answer.text + rest.text,
                thinking=answer.thinking + rest.thinking,
                usage=answer.usage + rest.usage,
                reasoning=(),  # that of two answers is that of none
            )
        return answer

    def _keep_part(self, stream: AnswerStream) -> None:
        """Keep the received part of an interrupted answer in the conversation."""
        stream.abandon()
        if stream.text.strip():
            text = f"{stream.text}\n\n{STOPPED_HERE}"
            self.agent.append(Assistant(text, finish="truncated", id=new_id()))

    async def _act_on(self, answer: Assistant, told: str, note: str) -> str | None:
        agent = self.agent
        wants_summary = SUMMARY in answer.text
        if wants_summary:
            answer = replace(answer, text=answer.text.replace(SUMMARY, "").strip())
            if not answer.tool_calls and not told:
                await self._compact()
                if not answer.text:
                    return None
        agent.control.check()
        if told:
            agent.append(User(told, id=new_id()))
            agent.showing.notice("warning", told)
            return None
        names = ", ".join(dict.fromkeys(call.name for call in answer.tool_calls))
        if names:
            agent.showing.doing("running {tools}", tools=names)
        handled = await agent.control.step(tool_dispatch.execute(answer, agent))
        agent.outputs.attach()
        if note and handled.ran:
            agent.append(User(note, id=new_id()))
        if handled.need_return:
            return await self._complete(handled.prompt, summary=False)
        if handled.prompt:
            agent.append(User(handled.prompt, id=new_id()))
        if wants_summary and answer.tool_calls:
            await self._compact()
        if handled.ran or handled.prompt or agent.control.queue:
            return None
        return await self._next(answer)

    async def _next(self, answer: Assistant) -> str | None:
        """Decide how to proceed after an answer without tool calls."""
        agent = self.agent
        text = without_marks(answer.text)
        if FAILED in answer.text and (agent.completes_itself or agent.form is not None):
            raise NotDone(SAYS_FAILED)
        if agent.form is not None:
            return await self._take_typed(text, agent.form)
        if agent.completes_itself and COMPLETE in answer.text:
            return await self._complete(text)
        if agent.options.non_interactive and answer.finish in ENDED_EARLY:
            raise NotDone(ENDED_EARLY[answer.finish])
        agent.showing.doing("waiting for the user")
        action, words = await agent.control.step(agent.interaction.next_action(agent.node.id))
        if action == "complete":
            return await self._complete(text)
        agent.say(words or GO_ON, first=True)
        return None

    async def _take_typed(self, text: str, form: AnswerForm) -> str | None:
        """Complete the task with an answer that meets the form, or say what is wrong with it."""
        agent = self.agent
        try:
            agent.value = form.read(text)
        except AnswerUnfit as error:
            self.unfit += 1
            if self.unfit > UNFIT:
                raise NotDone(SAYS_UNFIT, why=error) from None
            agent.showing.notice("warning", TOLD_UNFIT, why=error)
            agent.append(User(NOT_TYPED.format(why=error), id=new_id()))
            return None
        written = json.dumps(form.plain(agent.value), ensure_ascii=False, indent=2)
        return await self._complete(written, summary=False)

    async def _complete(self, result: str, *, summary: bool = True) -> str:
        agent = self.agent
        if summary and agent.options.need_summary:
            result = await agent.control.step(self._summary()) or result
        await agent.hooks.emit(TaskCompleted(agent, result))
        return result

    async def _summary(self) -> str:
        agent = self.agent
        await agent.hooks.emit(BeforeSummary(agent))
        agent.showing.doing("writing a summary")
        asked = User(agent.options.summary_prompt.strip() or prompt("closing"))
        stream = agent.stream()
        try:
            answer = await agent.ask(agent.questions.of([*agent.messages(), asked]), stream)
        except AnswerBroken as error:
            stream.abandon()
            agent.showing.notice("warning", "No summary was written: {why}", why=error)
            answer = Assistant("")
        shown = _without_marks(answer)
        stream.settle(answer, shown.text)
        await agent.hooks.emit(AfterSummary(agent, shown.text))
        return shown.text

    async def _handle_interruption(self) -> str | None:
        """Return what the user wants instead: continue with that, or hand back."""
        agent = self.agent
        text = agent.control.interruption() or ""
        await agent.hooks.emit(InterruptTriggered(agent, text))
        if not text:
            agent.showing.doing("waiting for the user")
            question = Words("You interrupted the agent. What should it do? (empty: end the turn)")
            text = (await agent.interaction.question(agent.node.id, question)).strip()
        agent.mend()
        if not text:
            raise Stopped
        agent.say(text, first=True)
        agent.showing.update(state="running")
        return None


def _shows_images(agent: AgentCore) -> bool:
    return any(isinstance(m, User) and m.images for m in agent.messages())


def _without_marks(answer: Assistant) -> Assistant:
    return replace(answer, text=without_marks(answer.text))
