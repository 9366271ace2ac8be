import type { Data, DataObject } from '#contract';

/** One text for equal data, whatever the order of their members: JSON with sorted keys. Exact numbers stand as written. */
export function canonicalJson(data: Data): string {
  if (typeof data !== 'object' || data === null || JSON.isRawJSON(data)) return JSON.stringify(data);
  return Array.isArray(data) ? listText(data) : objectText(data as DataObject);
}

function listText(items: readonly Data[]): string {
  let text = '';
  for (const item of items) text += `${text === '' ? '' : ','}${canonicalJson(item)}`;
  return `[${text}]`;
}

function objectText(data: DataObject): string {
  let text = '';
  for (const key of Object.keys(data).sort()) {
    const value = data[key];
    if (value !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(value)}`;
  }
  return `{${text}}`;
}
