import { type Data, printJson } from '#contract';

/** Converts data to the value that a variable prints: strings and numbers unchanged, lists and objects as JSON, null as no value. */
export function dataValue(data: Data | undefined): string | number | undefined {
  if (data === undefined || data === null) return undefined;
  return typeof data === 'string' || typeof data === 'number' ? data : printJson(data);
}
