/**
 * Work that may wait for the next frame, done once however often it was asked for. A page that is
 * not visible gets no frames: then a timer does it, so that nothing piles up.
 */

const HIDDEN_MS = 250;

/** Returns a function that runs `work` once in the next frame. */
export function onceAFrame(work: () => void): () => void {
  let waiting = false;
  const run = () => {
    waiting = false;
    work();
  };
  return () => {
    if (waiting) {
      return;
    }
    waiting = true;
    if (document.visibilityState === 'hidden') {
      setTimeout(run, HIDDEN_MS);
    } else {
      requestAnimationFrame(run);
    }
  };
}

/** Returns a function that runs `work` when it was not called for so many milliseconds. */
export function whenQuiet(work: () => void, milliseconds: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}
