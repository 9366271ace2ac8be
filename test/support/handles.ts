import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Context, Suite } from 'mocha';

/** Maximum time until the resources of a finished suite are closed, in milliseconds. */
const GRACE_MS = 5_000;

type Counts = ReadonlyMap<string, number>;

/** Handles that were open before a suite. Leftovers of one suite are not attributed to the next. */
let known: Counts;

const watched = new WeakSet<Suite>();

/**
 * Fails a suite that leaves a handle open that keeps the process alive: a socket, server, timer, watcher or child process. Loaded by every test run.
 */
export const mochaHooks = {
  async beforeAll(this: Context) {
    const { suites } = this.test!.parent as Suite;
    for (const suite of suites) {
      // A suite is watched only once, although it can run several times.
      if (watched.has(suite)) continue;
      watched.add(suite);
      suite.afterAll('leaves nothing open', () => demandClosed(suite));
    }
    known = await openNow();
  },
};

async function demandClosed({ file }: Suite): Promise<void> {
  const end = performance.now() + GRACE_MS;
  for (;;) {
    const open = await openNow();
    const more = added(open);
    if (more.length === 0) return;
    if (performance.now() > end) {
      known = open;
      throw new Error(`${file} leaves open: ${more.join(', ')}`);
    }
    await setTimeout(10);
  }
}

/** Number of open handles by kind, with the names of Node.js. */
async function openNow(): Promise<Counts> {
  // Ignores one timer, because Mocha's timer for this hook is always open.
  await setImmediate();
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return new Map([...kinds].map(([kind, all]) => [kind, all.length]));
}

/** Handles that were opened and not closed. */
function added(open: Counts): string[] {
  return [...open]
    .map(([kind, count]) => ({ kind, more: count - (known.get(kind) ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ kind, more }) => `${more} ${kind}`);
}
