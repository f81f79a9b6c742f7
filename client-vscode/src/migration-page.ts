/** What the overview page of a migration and the extension say to each other. */

import type { MigrationGraphResult, MigrationResult, NodeKind } from './protocol';

export interface OverviewStart {
  locale: string;
}

/** From the extension to the page. */
export type OverviewTell =
  | {
      kind: 'migration';
      migration: MigrationResult;
      /** The stage that runs and how far it is; absent when none runs. */
      going?: { stage: string; done: number; total: number };
      /** Whether Show Graph was asked for a function: then only what it needs is drawn. */
      root?: number;
    }
  | { kind: 'graph'; graph: MigrationGraphResult; asked: GraphAsk }
  | { kind: 'failed'; reason: string };

/** Which picture. */
export interface GraphAsk {
  root?: number;
  kinds: NodeKind[];
}

export type OverviewAction =
  | 'project'
  | 'scan'
  | 'resume'
  | 'stop'
  | 'verify'
  | 'lift'
  | 'report'
  | 'crate';

/** From the page to the extension. */
export type OverviewAsk =
  | { kind: 'ready' }
  | { kind: 'graph'; asked: GraphAsk }
  | { kind: 'show'; id: number }
  | { kind: 'act'; action: OverviewAction };
