/** Messages of the extension, which the editor hands to the page from the page's own origin. */

/** Calls `take` with what the extension tells; messages of any other origin are dropped. */
export function onTold<Message>(take: (message: Message) => void): void {
  window.addEventListener('message', ({ data, origin }: MessageEvent<Message>) => {
    if (origin === window.origin) {
      take(data);
    }
  });
}
