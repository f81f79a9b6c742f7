/**
 * Places of the tasks of a graph in layers from top to bottom: a task's layer is the longest way to
 * it, and within a layer tasks are at the mean place of those that they need (barycentres), side by side.
 * The layout of the migration graph is the server's, of thousands of functions; these are at most 32.
 */

import type { TaskShown } from '../wire';

/** Two side by side fit into the panel at the width that it has at first. */
export const SIZE = { width: 126, height: 26 };
const GAP = { x: 10, y: 26 };
const MARGIN = 4;

export interface LaidOut {
  /** Left upper corners, by id. */
  places: Map<string, { x: number; y: number }>;
  width: number;
  height: number;
}

type Task = Pick<TaskShown, 'id' | 'needs'>;

export function layOut(tasks: readonly Task[]): LaidOut {
  const layers = layersOf(tasks);
  const step = SIZE.width + GAP.x;
  let right = 0;
  const places: LaidOut['places'] = new Map();
  for (const [depth, layer] of layers.entries()) {
    const wanted = new Map(layer.map((task) => [task, meanOf(task, places)]));
    const ordered = [...layer].sort((a, b) => (wanted.get(a) ?? 0) - (wanted.get(b) ?? 0));
    let free = MARGIN;
    for (const task of ordered) {
      const x = Math.max(free, wanted.get(task) ?? 0);
      places.set(task.id, { x, y: MARGIN + depth * (SIZE.height + GAP.y) });
      free = x + step;
      right = Math.max(right, x + SIZE.width);
    }
  }
  return {
    places,
    width: right + MARGIN,
    height: layers.length * (SIZE.height + GAP.y) - GAP.y + 2 * MARGIN,
  };
}

/** Tasks by the longest way to them; one in a circle, which no plan has, comes last. */
function layersOf(tasks: readonly Task[]): Task[][] {
  const known = new Set(tasks.map(({ id }) => id));
  const placed = new Set<string>();
  const layers: Task[][] = [];
  let left = [...tasks];
  while (left.length > 0) {
    const ready = left.filter(({ needs }) => needs.every((it) => placed.has(it) || !known.has(it)));
    const layer = ready.length > 0 ? ready : left;
    layers.push(layer);
    for (const { id } of layer) {
      placed.add(id);
    }
    left = left.filter((task) => !layer.includes(task));
  }
  return layers;
}

function meanOf({ needs }: Task, places: LaidOut['places']): number {
  const found = needs.map((id) => places.get(id)?.x).filter((x) => x !== undefined);
  return found.length === 0 ? 0 : found.reduce((sum, x) => sum + x, 0) / found.length;
}
