/** The rows of a conversation. Each kind of entry is drawn by one class; all are updated in place. */

import type { PanelEntry } from '../wire';
import { AnswerRow } from './answer';
import { NoticeRow, PlanRow, QuestionRow } from './asides';
import type { Chat, Row } from './row';
import { TasksRow } from './tasks';
import { ToolRow } from './tool';
import { UserRow } from './user';

/** The row for an entry; another kind with the same id needs another row. */
export function rowFor(chat: Chat, entry: PanelEntry): Row {
  const row = newRow(chat, entry);
  row.element.classList.add('entry', entry.kind);
  row.show(entry);
  return row;
}

function newRow(chat: Chat, entry: PanelEntry): Row {
  switch (entry.kind) {
    case 'user':
      return new UserRow(chat) as Row;
    case 'answer':
      return new AnswerRow(chat) as Row;
    case 'tool':
      return new ToolRow(chat) as Row;
    case 'notice':
      return new NoticeRow(chat) as Row;
    case 'plan':
      return new PlanRow() as Row;
    case 'tasks':
      return new TasksRow(chat) as Row;
    case 'question':
      return new QuestionRow(chat) as Row;
  }
}
