import type { Schema } from '#contract';
import type { Check, Finding } from './finding.ts';
import { type Place, pointerOf, subjectName } from './place.ts';
import { entryCount, wrongType } from './problem.ts';

type ListSchema = Extract<Schema, { readonly type: 'array' }>;

/** @param checkItem for each entry. */
export function checkList(
  { items, minItems = 0, maxItems = Infinity, uniqueItems, secret }: ListSchema,
  checkItem: Check,
): Check {
  const itemType = 'type' in items ? items.type : undefined;
  return (value, place, findings) => {
    if (!Array.isArray(value)) {
      findings.push(wrongType(pointerOf(place), 'array', value, secret, itemType));
      return value;
    }
    const list: unknown[] = value;
    if (list.length > maxItems) findings.push(miscounted(place, `at most ${entryCount(maxItems)}`));
    if (list.length < minItems) findings.push(miscounted(place, `at least ${entryCount(minItems)}`));
    for (let index = 0; index < list.length; index += 1) {
      list[index] = checkItem(list[index], { holder: place, key: index }, findings);
    }
    if (uniqueItems && list.length > 1) refuseDuplicates(list, place, findings);
    return list;
  };
}

/** A list or an object with too few entries or too many. */
export function miscounted(place: Place, rule: string): Finding {
  const pointer = pointerOf(place);
  return { code: 'SCHEMA_RANGE', pointer, message: `${subjectName(pointer)} must have ${rule}` };
}

/** In time that grows with the length of the list. */
function refuseDuplicates(list: readonly unknown[], place: Place, findings: Finding[]): void {
  const seen = new Map<string, number>();
  for (const [index, item] of list.entries()) {
    const key = typeof item === 'string' ? item : `\0${canonical(item)}`;
    const first = seen.get(key);
    if (first === undefined) {
      seen.set(key, index);
      continue;
    }
    const pointer = pointerOf(place);
    findings.push({
      code: 'SCHEMA_DUPLICATE',
      pointer: `${pointer}/${index}`,
      message: `${subjectName(pointer)} holds ${JSON.stringify(item)} twice (first at position ${first})`,
      related: [`${pointer}/${first}`],
    });
  }
}

/** JSON text with keys in order, so that equal values give equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner) || JSON.isRawJSON(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
