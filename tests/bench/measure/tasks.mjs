// What a page's main thread does, in processor time: other work on the machine does not count.
// Source: Chromium's trace events, of which `tdur` is the time of the thread, in microseconds.

const CATEGORIES = ['devtools.timeline', 'disabled-by-default-devtools.timeline'];

const MARK = 'watched';

/**
 * Watches a page's main thread until the returned function is called. It gives `longest`, the
 * milliseconds of the longest task, and `between`, those of all tasks from each frame to the next,
 * which is what a frame waits for.
 * @param {import('playwright-core').Page} page
 * @returns {Promise<() => Promise<{ longest: number, between: number[] }>>}
 */
export async function watchTasks(page) {
  const browser = page.context().browser();
  if (browser === null) throw new Error('a page of no browser');
  const session = await browser.newBrowserCDPSession();
  /** @type {any[]} */
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: CATEGORIES, excludedCategories: ['*'] },
  });
  // The browser has pages of its own; what follows the mark, in its process, is of this one.
  await page.evaluate((mark) => console.timeStamp(mark), MARK);
  return async () => {
    const done = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
    await session.send('Tracing.end');
    await done;
    await session.detach();
    const mark = events.find(
      ({ name, args }) => name === 'TimeStamp' && args.data.message === MARK,
    );
    const own = events
      .filter(({ pid, tid, ts }) => pid === mark.pid && tid === mark.tid && ts > mark.ts)
      .sort((a, b) => a.ts - b.ts);
    const tasks = own.filter(({ name }) => name === 'RunTask');
    const frames = own.filter(({ name }) => name === 'FireAnimationFrame').map(({ ts }) => ts);
    return {
      longest: Math.max(0, ...tasks.map(milliseconds)),
      between: workBetween(frames, tasks),
    };
  };
}

/**
 * @param {number[]} frames when each began
 * @param {any[]} tasks
 * @returns {number[]} milliseconds of the tasks from each frame to the next
 */
function workBetween(frames, tasks) {
  const sums = frames.map(() => 0);
  let frame = -1;
  for (const task of tasks) {
    while (frame + 1 < frames.length && frames[frame + 1] < task.ts + task.dur) frame++;
    if (frame >= 0) sums[frame] += milliseconds(task);
  }
  return sums;
}

/** @param {{ tdur?: number, dur?: number }} event */
function milliseconds({ tdur, dur = 0 }) {
  return (tdur ?? dur) / 1000;
}
