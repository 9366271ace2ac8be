import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Context, Suite } from 'mocha';

/** How long what a suite has opened may take to close when the suite has ended, in milliseconds. */
const GRACE_MS = 5_000;

type Counts = ReadonlyMap<string, number>;

/** What was open before any test. What one suite has left is not held against the next. */
let known: Counts;

const watched = new WeakSet<Suite>();

/**
 * Fails a suite that leaves behind what keeps a process from ending: a socket, a server, a timer, a watcher, a child.
 * Loaded by every run of the tests.
 */
export const mochaHooks = {
  async beforeAll(this: Context) {
    const { suites } = this.test!.parent as Suite;
    for (const suite of suites) {
      // Suites may be run more than once.
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
  // A timer that fires is open until then, and Mocha's own for this hook is always open from then on.
  await setImmediate();
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return new Map([...kinds].map(([kind, all]) => [kind, all.length]));
}

/** What has been opened and not closed. */
function added(open: Counts): string[] {
  return [...open]
    .map(([kind, count]) => ({ kind, more: count - (known.get(kind) ?? 0) }))
    .filter(({ more }) => more > 0)
    .map(({ kind, more }) => `${more} ${kind}`);
}
