import { type CelInput, isCelList, isCelMap, isCelUint } from '@bufbuild/cel';
import type { Expression } from '../../engines/cel/expression.ts';
import type { Variables } from '../../engines/cel/variables.ts';

/** Limits on the logged inputs of a policy: characters, members per list or object, and nesting levels. */
const MAX_LENGTH = 4096;
const MAX_MEMBERS = 50;
const MAX_DEPTH = 8;

/** Headers that are never logged, even if a policy reads them. */
const masked = new Set(['authorization', 'proxy-authorization', 'cookie', 'set-cookie']);

/** The variables that an expression reads, as JSON for the log. */
export function shownInputs({ reads }: Expression, variables: Variables): string {
  const inputs: Record<string, unknown> = {};
  for (const name of reads) inputs[name] = shown((variables as unknown as Record<string, CelInput>)[name], 0);
  return JSON.stringify(inputs).slice(0, MAX_LENGTH);
}

function shown(value: unknown, depth: number): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (isCelUint(value)) return Number(value.value);
  if (depth > MAX_DEPTH) return '...';
  if (Array.isArray(value) || isCelList(value)) {
    return [...(value as Iterable<unknown>)].slice(0, MAX_MEMBERS).map((member) => shown(member, depth + 1));
  }
  if (!isCelMap(value)) return typeof value === 'string' ? value.slice(0, MAX_LENGTH) : value;
  const members: [string, unknown][] = [];
  for (const key of value.keys()) {
    if (members.length >= MAX_MEMBERS) break;
    const name = String(key);
    members.push([name, masked.has(name.toLowerCase()) ? '***' : shown(value.get(key), depth + 1)]);
  }
  return Object.fromEntries(members);
}
