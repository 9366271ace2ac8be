import { after, before, Call, makeRequest, Reply, type Step, type Wrap } from '#contract';
import { containedAttachment } from '../../kernel/containment/contained-attachment.ts';
import { Containment } from '../../kernel/containment/containment.ts';
import { PlaceGuards } from '../../kernel/containment/place-guards.ts';
import { silentEvents, silentLog } from '../../kernel/contract/internal.ts';
import { fold } from '../../kernel/pipeline/steps/fold.ts';
import { measureIsolated } from './isolated-hooks.ts';

/** Measures the cost of hooks of plugins from files, compared with built-in ones: CPU time per call, in microseconds. */
const containment = new Containment({ log: silentLog, events: silentEvents });
const source = { file: '/plugin.ts', hash: 'one', files: ['/plugin.ts'] };
const plugin = { name: 'bench', description: '', source };

type ClientWrap = Wrap<ReturnType<typeof makeRequest>>;

const hooks: Readonly<Record<string, ClientWrap>> = {
  wrap: (next) => (request, call) => next(request, call),
  before: before(() => {}),
  after: after(() => {}),
  'async wrap': (next) => async (request, call) => next(request, call),
};

const ROUNDS = 7;
const CALLS = 200_000;

/** Minimum of several rounds, which excludes time spent waiting for a busy processor. */
async function measure(step: Step<ReturnType<typeof makeRequest>>): Promise<number> {
  const request = makeRequest({});
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.threadCpuUsage();
    for (let at = 0; at < CALLS; at++) {
      // Every hook gets a separate call, as in a real request, so that state that hooks leave on it is discarded with
      // it.
      const reply = step(request, new Call());
      if (reply instanceof Promise) await reply;
    }
    const { user, system } = process.threadCpuUsage(start);
    rounds.push((user + system) / CALLS);
  }
  return rounds.reduce((least, round) => Math.min(least, round));
}

const reply = Reply.data(null);
const kinds = { release: null, refuse: false, skip: true } as const;
for (const [name, hook] of Object.entries(hooks)) {
  for (const count of [1, 10]) {
    const figures: string[] = [];
    for (const [kind, skips] of Object.entries(kinds)) {
      const wraps = Array.from({ length: count }, () => {
        if (skips === null) return hook;
        const guards = new PlaceGuards(containment, plugin, undefined, { skips, suspendAfter: 0 }, { faults: null });
        return containedAttachment({ endpoint: hook }, guards).endpoint;
      });
      const innermost = name.startsWith('async') ? async () => reply : () => reply;
      const floor = await measure(fold<ReturnType<typeof makeRequest>>([], innermost));
      figures.push(`${kind} ${((await measure(fold(wraps, innermost))) - floor).toFixed(3)}`);
    }
    process.stdout.write(`${String(count).padStart(2)} ${name}: ${figures.join('  ')} µs\n`);
  }
}
await containment.close();
await measureIsolated((line) => process.stdout.write(line));
