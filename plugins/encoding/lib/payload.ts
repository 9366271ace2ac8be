import { type DataObject, type EachMessage, hasKeys, isObject, parseExact, printJson } from '#contract';

/** Parses a JSON object; null for anything else, which is passed through. */
export function readObject(text: string): DataObject | null {
  if (!/^\s*\{/.test(text)) return null;
  try {
    const data = parseExact(text);
    return isObject(data) ? data : null;
  } catch {
    return null;
  }
}

/**
 * Applies the consumers to the object of one message.
 * @returns the replacement text; null when the message is dropped, or has become empty.
 */
export function rewriteObject(data: DataObject, each: EachMessage): string | null {
  const left = each(data);
  return left !== null && hasKeys(left) ? printJson(left) : null;
}
