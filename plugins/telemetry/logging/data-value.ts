import { type Data, printJson } from '#contract';

/** Data as a variable prints it: strings and numbers as they are, lists and objects as JSON; null is no value. */
export function dataValue(data: Data | undefined): string | number | undefined {
  if (data === undefined || data === null) return undefined;
  return typeof data === 'string' || typeof data === 'number' ? data : printJson(data);
}
