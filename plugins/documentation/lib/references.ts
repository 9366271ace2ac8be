import { type Data, isObject, parsePointer } from '#contract';

/** What a reference of a document leads to inside it, as `#/definitions/user%20id`; undefined for nothing, and for elsewhere. */
export function lookUp(document: Data, reference: string): Data | undefined {
  return reference === '#' || reference.startsWith('#/') ? descend(document, stepsOf(reference)) : undefined;
}

/** The keys on the way to what a reference leads to. */
export function stepsOf(reference: string): string[] {
  return parsePointer(decode(reference.slice(reference.indexOf('#') + 1)));
}

/** What stands in a value behind these keys; undefined when nothing does. */
export function descend(value: Data, steps: readonly string[]): Data | undefined {
  let at: Data | undefined = value;
  for (const step of steps) {
    if (Array.isArray(at)) at = at[Number(step)];
    else at = isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  }
  return at;
}

/** A part of an address; as it is where it is encoded wrongly. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
