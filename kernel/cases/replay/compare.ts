import { printJson } from '#contract';
import { jsonOf, textOf } from '../body.ts';
import { type Difference, differencesOf } from '../checks/differences.ts';
import { MASKED } from '../har.ts';
import { compareOrder } from './order.ts';
import type { RecordedRequest } from './traffic.ts';

/** Causes of differences between two responses, in the order in which they are reported. */
export const causes = {
  status: 'status changed',
  visible: 'field became visible',
  missing: 'field is missing',
  field: 'field changed',
  order: 'order changed',
  body: 'body changed',
  header: 'header changed',
  'more-calls': 'more backend calls',
  'fewer-calls': 'fewer backend calls',
  time: 'slower',
  call: 'backend request changed',
} as const;

export type Cause = keyof typeof causes;

/** One difference of a request. */
export interface Change {
  readonly cause: Cause;
  /** Path of the field, name of the header, or method and server of the call; empty for the whole. */
  readonly at: string;
  /** The difference with its values, as text for people. */
  readonly shown: string;
}

/** Response of a gateway to a request, and its backend calls. */
export type Observed = Pick<RecordedRequest, 'response' | 'calls'>;

/** Maximum number of differences of fields in one response. Further ones are reported as one. */
const MAX_FIELDS = 200;

/** Maximum length of a shown value, in characters. */
const MAX_SHOWN = 120;

/** Headers that differ with every request, or that depend on the body. */
const volatile: ReadonlySet<string> = new Set([
  'age',
  'connection',
  'content-length',
  'date',
  'etag',
  'keep-alive',
  'traceparent',
  'tracestate',
  'transfer-encoding',
  'x-request-id',
]);

/** Compares two responses to the same request, and the backend calls. */
export function changesOf(before: Observed, after: Observed): Change[] {
  const [{ response: old }, { response: next }] = [before, after];
  const changes: Change[] = [];
  if (old.status !== next.status) changes.push({ cause: 'status', at: '', shown: `${old.status} → ${next.status}` });
  if (old.body && next.body) for (const change of bodyChanges(old.body, next.body)) changes.push(change);
  for (const change of headerChanges(old.headers, next.headers)) changes.push(change);
  for (const change of callChanges(before.calls, after.calls)) changes.push(change);
  return changes;
}

function bodyChanges(before: Uint8Array, after: Uint8Array): Change[] {
  if (Buffer.compare(before, after) === 0) return [];
  const [old, next] = [jsonOf(before), jsonOf(after)];
  if (old === undefined || next === undefined) {
    return [{ cause: 'body', at: '', shown: `${shortened(textOf(before))} → ${shortened(textOf(after))}` }];
  }
  const { next: aligned, paths } = compareOrder(old, next);
  const differences = differencesOf(old, aligned, { isPart: false, limit: MAX_FIELDS });
  const changes = differences.slice(0, MAX_FIELDS).map(fieldChange);
  for (const at of [...paths].slice(0, MAX_FIELDS)) changes.push({ cause: 'order', at, shown: '' });
  if (differences.length > MAX_FIELDS) changes.push({ cause: 'body', at: '', shown: 'further fields differ' });
  return changes;
}

function fieldChange(difference: Difference): Change {
  const { expected, actual } = difference;
  const at = pathOf(difference);
  if (expected === undefined) return { cause: 'visible', at, shown: shortened(printJson(actual!)) };
  if (actual === undefined) return { cause: 'missing', at, shown: shortened(printJson(expected)) };
  return { cause: 'field', at, shown: `${shortened(printJson(expected))} → ${shortened(printJson(actual))}` };
}

/** Path of a field, in which all indexes of arrays are replaced by `[]`. */
function pathOf({ path }: Difference): string {
  return path.replace(/\[\d+\]/g, '[]');
}

type Headers = Observed['response']['headers'];

function headerChanges(before: Headers, after: Headers): Change[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const [old, next] = [before.get(name)?.join(', '), after.get(name)?.join(', ')];
    if (old === next || volatile.has(name) || old === MASKED) return [];
    return [
      { cause: 'header' as const, at: name, shown: `${shortened(old ?? 'none')} → ${shortened(next ?? 'none')}` },
    ];
  });
}

function callChanges(before: Observed['calls'], after: Observed['calls']): Change[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const [old, next] = [before.get(name) ?? 0, after.get(name) ?? 0];
    if (old === next) return [];
    const cause = next > old ? ('more-calls' as const) : ('fewer-calls' as const);
    // Calls are grouped by server because their paths contain the parameters of each request.
    const at = name.replace(/^(\S+ \w+:\/\/[^/?#]*).*$/s, '$1');
    return [{ cause, at, shown: `${shortened(name)}: ${old} → ${next}` }];
  });
}

function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…`.toWellFormed() : text;
}
