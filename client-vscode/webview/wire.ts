/** The wire types the page uses, under the names it uses. They are generated; see `src/protocol`. */

import type { Entry, Event, Meter } from '../src/panel-protocol';

export type * from '../src/panel-protocol';
export type PanelEntry = Entry;
export type PanelEvent = Event;
export type PanelMeter = Meter;
