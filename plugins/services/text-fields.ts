import { CallError, type Data, type DataObject, getKey, isObject, setKey } from '#contract';

/** Makes another text of one. */
export type ChangeText = (text: string) => string;

/** What a path may lead through. */
export interface PathRules {
  /** Arrays too: a number is the position of an item, `*` stands for all items, and for all values of an object. */
  readonly entersArrays: boolean;
}

/** What all texts of one path may grow by together, in UTF-16 units. */
const MOST_GROWTH = 64 * 1024 * 1024;

/**
 * Compiles a change of the texts that a dotted path leads to, in place. What is missing or is no text is left alone.
 * @returns what changes data; it throws a CallError TEXT_LIMIT where the texts become too long together.
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
