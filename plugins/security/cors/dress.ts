import type { Reply } from '#contract';
import type { HeaderList } from './policy.ts';

const PREFIX = 'access-control-';

/** Replaces the CORS headers of a reply with the gateway's own. `Vary` is extended, not replaced. */
export function dress(reply: Reply, headers: HeaderList, vary: string): Reply {
  const { list } = reply.headers;
  let hasOwn = false;
  let first = -1;
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]!;
    if (name.length === 4) {
      if (name.toLowerCase() !== 'vary') continue;
      if (first < 0) first = at;
      else {
        list[first + 1] += `,${list[at + 1]}`;
        list.splice(at, 2);
        at -= 2;
      }
    } else if (name.length > PREFIX.length && (name.charCodeAt(0) | 0x20) === 0x61) {
      hasOwn ||= name.toLowerCase().startsWith(PREFIX);
    }
  }
  if (first < 0) list.push('Vary', vary);
  else list[first + 1] = union(list[first + 1]!, vary);
  if (hasOwn) reply.headers.filter((name) => !name.startsWith(PREFIX));
  for (const text of headers) list.push(text);
  return reply;
}

/** Cache of combined `Vary` values: backends use few different ones, and all their responses have one. */
const unions = new Map<string, string>();
const MAX_UNIONS = 256;

function union(present: string, vary: string): string {
  const key = `${vary}\n${present}`;
  const known = unions.get(key);
  if (known !== undefined) return known;
  const names = namesIn(present);
  const lower = new Set(names.map((name) => name.toLowerCase()));
  const added = namesIn(vary).filter((name) => !lower.has(name.toLowerCase()));
  const made = lower.has('*') ? '*' : [...names, ...added].join(', ');
  if (unions.size < MAX_UNIONS && key.length < 256) unions.set(key, made);
  return made;
}

function namesIn(list: string): string[] {
  return list.split(',').flatMap((name) => name.trim() || []);
}
