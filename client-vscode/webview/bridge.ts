/**
 * The only door of the page: asks go to the extension and come back answered, the rest of what the
 * extension tells is passed on. What the page remembers while it is hidden is kept here, too.
 */

import { onTold } from './messages';
import type { AskAnswers, HostTell, PageAsk, PageMessage } from './wire';

interface EditorApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): EditorApi;

/** The answer to an ask. */
export type AnswerTo<A extends PageAsk> = A extends { kind: infer K extends keyof AskAnswers }
  ? AskAnswers[K]
  : never;

/** What is told besides answers. */
export type Told = Exclude<HostTell, { kind: 'answered' | 'failed' }>;

interface Waiting {
  resolve(answer: never): void;
  reject(error: Error): void;
}

export class Bridge {
  private readonly editor = acquireVsCodeApi();
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  constructor(told: (message: Told) => void) {
    onTold<HostTell>((data) => {
      if (data?.kind === 'answered') {
        this.settle(data.id)?.resolve(data.answer as never);
      } else if (data?.kind === 'failed') {
        this.settle(data.id)?.reject(new Error(data.reason));
      } else if (typeof data?.kind === 'string') {
        told(data);
      }
    });
  }

  /** Rejects with the reason in the user's language. */
  ask<A extends PageAsk>(ask: A): Promise<AnswerTo<A>> {
    this.last += 1;
    const message: PageMessage = { id: this.last, ask };
    return new Promise((resolve, reject) => {
      this.waiting.set(message.id, { resolve, reject });
      this.editor.postMessage(message);
    });
  }

  /** What was kept before the page was hidden. */
  get kept(): unknown {
    return this.editor.getState();
  }

  keep(state: unknown): void {
    this.editor.setState(state);
  }

  private settle(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    return waiting;
  }
}
