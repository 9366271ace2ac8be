import type { LogDestination, Plugin } from '#contract';
import { createLog, createSinks, joinLogging } from '../../../kernel/logging/index.ts';
import { openHarness } from '../../../kernel/testing/index.ts';
import { plugin as logging } from '../../../plugins/telemetry/logging/index.ts';
import { logWriters } from '../../../plugins/telemetry/logging/log-writers.ts';

/** Recorded stdout or stderr. */
export function remembered(): LogDestination & { readonly text: string } {
  let text = '';
  return {
    get text() {
      return text;
    },
    write(lines, done) {
      text += Buffer.from(lines).toString();
      done();
    },
  };
}

/** The application log with `telemetry/logging` and another component that writes it, assembled like in the kernel. `reload` reloads that component. */
export async function logsOf(plugin: Plugin, config: object, loggingConfig: object = { level: 'DEBUG', stdout: true }) {
  const [stdout, stderr] = [remembered(), remembered()];
  const sinks = createSinks({ stdout, stderr });
  const log = createLog({ level: 'DEBUG', outputs: [] });
  const services = { sinks, log };
  const other = await openHarness(plugin, 'service', config, { services });
  const offers = (other.attached.offers ?? []).filter(({ port }) => port.name === logWriters.name);
  const own = await openHarness(logging, 'service', loggingConfig, { services, offers });
  const joined = joinLogging([own.attached.logging ?? {}, other.attached.logging ?? {}], sinks);
  log.configure(joined.application);
  return {
    log,
    sinks,
    stdout,
    stderr,
    accessSink: joined.accessSink,
    reload: (next: object) => other.reload(next),
    async close() {
      await own.close();
      const left = await other.close();
      sinks.close();
      return left;
    },
  };
}
