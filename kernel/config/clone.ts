import { type DataObject, setKey } from '#contract';

/** A deep copy of plain data; exact numbers are shared, `__proto__` stays an ordinary key. */
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

/** Freezes plain data at every depth. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  if (Array.isArray(value)) for (const item of value) deepFreeze(item);
  else for (const key in value) deepFreeze(value[key]);
  return value;
}
