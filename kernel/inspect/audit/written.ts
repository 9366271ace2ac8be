import { isObject } from '#contract';
import { joinPointer, parsePointer } from '../../config/index.ts';

/** Key under which an object says which rules it does not care about: a list of ids. */
const IGNORE = '@audit-ignore';

/** What an endpoint takes from the service where it has none of its own. */
const INHERITED = /^\/endpoints\/\d+(\/timeout)$/;

/** A pointer as far as the document goes, and the rules ignored on the way. */
export interface Written {
  readonly pointer: string;
  readonly ignored: ReadonlySet<string>;
}

/** Follows a pointer of the document; what an endpoint inherits is followed to where the service has it. */
export function writtenAt(document: unknown, pointer: string): Written {
  const ignored = new Set<string>();
  let value = document;
  let reached = '';
  note(value, ignored);
  for (const step of parsePointer(pointer)) {
    const holds = Array.isArray(value) || isObject(value);
    if (!holds || !Object.hasOwn(value as object, step)) break;
    value = (value as Record<string, unknown>)[step];
    reached = joinPointer(reached, step);
    note(value, ignored);
  }
  const inherited = reached === pointer ? undefined : INHERITED.exec(pointer)?.[1];
  const isOfService = inherited && isObject(document) && Object.hasOwn(document, inherited.slice(1));
  return { pointer: isOfService ? inherited : reached, ignored };
}

function note(value: unknown, ignored: Set<string>): void {
  if (!isObject(value) || !Object.hasOwn(value, IGNORE)) return;
  for (const id of [value[IGNORE]].flat()) ignored.add(String(id));
}
