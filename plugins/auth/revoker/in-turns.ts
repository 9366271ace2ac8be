import { setImmediate as turn } from 'node:timers/promises';

/** Elements that are worked on before other requests have their turn: some 3 ms. */
const AT_ONCE = 500;

/** Works on elements, with other requests between. */
export async function inTurns(elements: readonly string[], work: (some: readonly string[]) => void): Promise<void> {
  for (let at = 0; at < elements.length; at += AT_ONCE) {
    if (at > 0) await turn();
    work(elements.slice(at, at + AT_ONCE));
  }
}
