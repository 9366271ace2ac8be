import { type LogSinks, type Services, silentLog } from '#contract';
import { version } from '../version.ts';

const noSink = { terminal: false, lost: 0, write() {} };
const noSinks: LogSinks = { stdout: noSink, stderr: noSink, open: () => ({ ...noSink, close() {} }) };

/** The kernel's services for a command that serves nothing: its output is the result alone, so nothing is logged. */
export function toolServices(): Services {
  return { clock: { now: () => performance.now() }, log: silentLog, sinks: noSinks, version };
}
