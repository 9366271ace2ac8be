import { type Data, isObject, parsePointer } from '#contract';

/** Resolves a reference inside a document, such as `#/definitions/user%20id`; undefined if the target is missing or external. */
export function lookUp(document: Data, reference: string): Data | undefined {
  return reference === '#' || reference.startsWith('#/') ? descend(document, stepsOf(reference)) : undefined;
}

/** Returns the keys of the path to a reference's target. */
export function stepsOf(reference: string): string[] {
  return parsePointer(decode(reference.slice(reference.indexOf('#') + 1)));
}

/** Returns the value at a path of keys; undefined if it does not exist. */
export function descend(value: Data, steps: readonly string[]): Data | undefined {
  let at: Data | undefined = value;
  for (const step of steps) {
    if (Array.isArray(at)) at = at[Number(step)];
    else at = isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined;
  }
  return at;
}

/** Percent-decodes a part of an address; returns it unchanged if the encoding is invalid. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
