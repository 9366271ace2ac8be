import { type Data, type DataObject, setKey } from '#contract';

/** Deep-copies plain data; exact numbers are shared, and `__proto__` stays an ordinary key. */
export function cloneData<T>(value: T): T {
  return copy(value) as T;
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  if (JSON.isRawJSON(value)) return value;
  const object: DataObject = {};
  for (const key of Object.keys(value)) setKey(object, key, copy((value as DataObject)[key]) as never);
  return object;
}

/** Deep-freezes plain data. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else for (const key in value) deepFreeze(value[key]);
  return value;
}

/** JSON with sorted keys: the same text for equal data, regardless of key order. Exact numbers are printed as written. */
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
