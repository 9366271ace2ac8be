import { type DataObject, type EachMessage, hasKeys, isObject, parseExact, printJson } from '#contract';

/** The JSON object a text holds; null for anything else, which is nobody's business. */
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
 * Gives the object of one message to those who look into it.
 * @returns what is written in its place; null when the message is dropped, also for having nothing left.
 */
export function rewriteObject(data: DataObject, each: EachMessage): string | null {
  const left = each(data);
  return left !== null && hasKeys(left) ? printJson(left) : null;
}
