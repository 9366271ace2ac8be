import { Containment } from '../../kernel/containment/containment.ts';
import { silentEvents, silentLog } from '../../kernel/contract/internal.ts';
import { until } from './conditions.ts';
import { rememberingLog } from './log.ts';
import { misbehaving } from './misbehaving.ts';
import { failLater } from './stray-plugin.ts';

/** A process with a plugin from a file that raises an unhandled error; prints its log. */
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
// An error that belongs to no plugin is logged and ends the process.
const alive = setInterval(() => {}, 60_000);
await until(() => log.lines.length > 0);
clearInterval(alive);
process.stdout.write(`alive\n${log.lines.join('\n')}\n`);
await containment.close();
