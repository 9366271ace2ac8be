import { Containment } from '../../kernel/containment/containment.ts';
import { silentEvents, silentLog } from '../../kernel/contract/internal.ts';
import { until } from './conditions.ts';
import { rememberingLog } from './log.ts';
import { misbehaving } from './misbehaving.ts';
import { failLater } from './stray-plugin.ts';

/** A process that knows a plugin from a file, in which something fails that nobody waits for; writes what its log says. */
const log = rememberingLog();
const containment = new Containment({ log: process.argv[2] === 'silent' ? silentLog : log, events: silentEvents });
const { source } = misbehaving;
const file = new URL('stray-plugin.ts', import.meta.url).pathname;
if (process.argv[3] !== 'without') {
  containment.record({ ...misbehaving, source: { ...source!, file, files: [file] } });
}

const acts: Readonly<Record<string, () => void>> = {
  'plugin throws': () => failLater('throw'),
  'plugin rejects': () => failLater('reject'),
  'plugin socket': () => failLater('socket'),
  'plugin text': () => failLater('text'),
  'gateway throws': () => {
    setTimeout(() => {
      throw new Error('of the gateway');
    });
  },
  'gateway rejects': () => void Promise.reject(new Error('of the gateway')),
};
acts[process.argv[2]!]!();
// Where the failure is nobody's, it ends the process instead: nothing but that and a line of the log does.
const alive = setInterval(() => {}, 60_000);
await until(() => log.lines.length > 0);
clearInterval(alive);
process.stdout.write(`alive\n${log.lines.join('\n')}\n`);
await containment.close();
