import { CallError, type Data, type DataObject, getKey, isObject, setKey } from '#contract';

/** Transforms a text. */
export type ChangeText = (text: string) => string;

/** Rules for paths. */
export interface PathRules {
  /** Supports arrays: a number is the index of an item, `*` matches all items, and all values of an object. */
  readonly entersArrays: boolean;
}

/** Limit of the total growth of all texts of one path, in UTF-16 units. */
const MOST_GROWTH = 64 * 1024 * 1024;

/**
 * Compiles an in-place change of the texts at a dotted path. Missing values and values that are not texts are left
 * unchanged.
 * @returns a function that changes data; it throws a CallError TEXT_LIMIT if the texts become too long in total.
 */
export function changeTexts(path: string, change: ChangeText, { entersArrays }: PathRules): (data: DataObject) => void {
  const steps = path.split('.');
  let left = MOST_GROWTH;
  const changedText = (text: string): string => {
    const result = change(text);
    left -= Math.max(0, result.length - text.length);
    if (left < 0) throw new CallError('TEXT_LIMIT', `the texts at "${path}" become too long`);
    return result;
  };
  const changed = (value: Data, at: number): Data => {
    if (at === steps.length) return typeof value === 'string' ? changedText(value) : value;
    if (isObject(value)) changeIn(value, at);
    else if (Array.isArray(value) && entersArrays) changeAmong(value, at);
    return value;
  };
  const changeIn = (object: DataObject, at: number): void => {
    const step = steps[at]!;
    for (const key of step === '*' && entersArrays ? Object.keys(object) : [step]) {
      const value = getKey(object, key);
      if (value === undefined) continue;
      const next = changed(value, at + 1);
      if (next !== value) setKey(object, key, next);
    }
  };
  const changeAmong = (items: Data[], at: number): void => {
    const step = steps[at]!;
    if (step === '*') {
      for (const [place, item] of items.entries()) items[place] = changed(item, at + 1);
    } else if (/^\d+$/.test(step) && Number(step) < items.length) {
      items[Number(step)] = changed(items[Number(step)]!, at + 1);
    }
  };
  return (data) => {
    left = MOST_GROWTH;
    changeIn(data, 0);
  };
}
