import { isObject } from '#contract';
import { joinPointer, parsePointer } from '../../config/index.ts';

/** Key under which an object lists the ids of rules to ignore. */
const IGNORE = '@audit-ignore';

/** Settings that an endpoint inherits from the service. */
const INHERITED = /^\/endpoints\/\d+(\/timeout)$/;

/** The longest part of a pointer that exists in the document, and the rules that the objects along it ignore. */
export interface Written {
  readonly pointer: string;
  readonly ignored: ReadonlySet<string>;
}

/** Follows a pointer in the document; a setting that an endpoint inherits leads to the service's setting. */
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
