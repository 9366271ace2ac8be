import {
  type AccessRecord,
  escapeControls,
  type Log,
  type LogSink,
  type LogSinks,
  type RouterOptions,
  traceSlot,
} from '#contract';
import type { JoinedLogging } from './join.ts';
import { printDuration, secondStamp } from './timestamp.ts';

/** Receives every finished request. */
export type RecordWriter = (record: AccessRecord) => void;

/**
 * Creates the function to call for every finished request; null when the router's options disable the access log, or
 * when no log was requested. Paths in `logger_skip_paths` are compared without the query.
 */
export function createAccessWriter(
  router: Pick<RouterOptions, 'disable_access_log' | 'logger_skip_paths'>,
  logging: JoinedLogging,
  sinks: LogSinks,
  log: Log,
): RecordWriter | null {
  if (router.disable_access_log) return null;
  const { access, accessSink = logging.silent ? null : sinks.stdout } = logging;
  const write = together(access, 'access log', log) ?? (accessSink && builtIn(accessSink));
  if (!write) return null;
  if (router.logger_skip_paths.length === 0) return write;
  const skipped = new Set(router.logger_skip_paths);
  return (record) => {
    if (!skipped.has(record.path)) write(record);
  };
}

/** Calls the writers in order; a failing writer does not affect the other writers. @returns null without writers. */
export function together(writers: readonly RecordWriter[], what: string, log: Log): RecordWriter | null {
  if (writers.length === 0) return null;
  return (record) => {
    for (const write of writers) {
      try {
        write(record);
      } catch (error) {
        log.error(() => `${what}: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
  };
}

function builtIn(sink: LogSink): RecordWriter {
  return (record) => sink.write(accessLine(record), 'INFO');
}

const stamp = secondStamp(' - ');

/** Formats the built-in line, plus one line for every error; with line breaks. */
export function accessLine(record: AccessRecord): string {
  const { method, path, search, errors, handledBy, requestId, call } = record;
  const by = handledBy === undefined ? '' : ` | handled_by=${escapeControls(handledBy)}`;
  const id = requestId === undefined ? '' : ` | request_id=${requestId}`;
  const trace = call?.get(traceSlot);
  const traced = trace ? ` | trace_id=${trace.traceId}` : '';
  const line =
    `[GATEWAY] ${stamp(record.endedAt)} | ${record.status} | ${printDuration(record.latencyMs).padStart(13)} | ` +
    `${record.ip.padStart(15)} | ${method.padEnd(7)}  "${quote(search === '' ? path : `${path}?${search}`)}"${by}${id}${traced}\n`;
  return errors.length === 0 ? line : line + errorLines(errors);
}

function errorLines(errors: AccessRecord['errors']): string {
  let lines = '';
  for (let at = 0; at < errors.length; at++) {
    lines += `Error #${String(at + 1).padStart(2, '0')}: ${escapeControls(errors[at]!.message)}\n`;
  }
  return lines;
}

/** Quotes a target, which may contain quotes and, beyond ASCII, control characters. */
function quote(target: string): string {
  return plain.test(target) ? target : escapeControls(target.replace(/["\\]/g, '\\$&'));
}

const plain = /^[!#-[\]-~]*$/;
