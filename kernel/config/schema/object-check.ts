import { type Data, type DataObject, isObject, type Schema, setKey } from '#contract';
import { joinPointer } from '../../values/pointer.ts';
import { cloneData } from '../plain-data.ts';
import type { Check, Finding } from './finding.ts';
import { miscounted } from './list-check.ts';
import { misspelling, unknownKey } from './meant.ts';
import { inHolder, type Place, pointerOf } from './place.ts';
import { entryCount, wrongType } from './problem.ts';

type ObjectSchema = Extract<Schema, { readonly type: 'object' }>;

interface Field {
  readonly key: string;
  readonly check: Check;
  readonly byDefault: unknown;
}

/** @param compile the check of a schema within. */
export function checkObject(schema: ObjectSchema, compile: (schema: Schema) => Check): Check {
  const { properties = {}, required = [], exactlyOneOf = [], minProperties = 0, maxProperties = Infinity } = schema;
  const fields = Object.entries(properties).map(
    ([key, field]): Field => ({ key, check: compile(field), byDefault: field.default }),
  );
  const known = new Set(Object.keys(properties));
  const checkValue = schema.values && compile(schema.values);
  const isClosed = schema.properties !== undefined && checkValue === undefined;
  const isCounted = minProperties > 0 || maxProperties < Infinity;
  return (value, place, findings) => {
    if (!isObject(value)) {
      findings.push(wrongType(pointerOf(place), 'object', value, schema.secret));
      return value;
    }
    // What is written counts: comments are taken away first, defaults come later.
    if (isClosed) closeObject(value, known, place, findings);
    if (isCounted) countEntries(value, minProperties, maxProperties, place, findings);
    for (const { key, byDefault } of fields) {
      if (byDefault !== undefined && value[key] === undefined) value[key] = cloneData(byDefault) as Data;
    }
    for (const key of required) {
      if (value[key] === undefined) findings.push(missing(value, key, checkValue ? known : undefined, place));
    }
    if (checkValue) {
      for (const key of Object.keys(value)) {
        if (known.has(key)) continue;
        const given = value[key]!;
        const checked = checkValue(given, { holder: place, key }, findings);
        if (checked !== given) setKey(value, key, checked as Data);
      }
    }
    for (const { key, check } of fields) {
      const given = value[key];
      if (given === undefined) continue;
      const checked = check(given, { holder: place, key }, findings);
      if (checked !== given) value[key] = checked as Data;
    }
    for (const group of exactlyOneOf) demandOne(value, group, place, findings);
    return value;
  };
}

/** Refuses unknown keys and takes comment keys away. */
function closeObject(value: DataObject, known: ReadonlySet<string>, place: Place, findings: Finding[]): void {
  for (const key of Object.keys(value)) {
    if (known.has(key)) continue;
    if (/^[@$_#]/.test(key)) delete value[key];
    else findings.push(unknownKey(pointerOf(place), key, known, value));
  }
}

function countEntries(value: DataObject, least: number, most: number, place: Place, findings: Finding[]): void {
  const { length } = Object.keys(value);
  if (length < least) findings.push(miscounted(place, `at least ${entryCount(least)}`));
  else if (length > most) findings.push(miscounted(place, `at most ${entryCount(most)}`));
}

/** @param known the fields of an object that takes other keys, too. */
function missing(value: DataObject, key: string, known: ReadonlySet<string> | undefined, place: Place): Finding {
  const holder = pointerOf(place);
  const others = known ? Object.keys(value).filter((other) => !known.has(other)) : [];
  return {
    code: 'SCHEMA_REQUIRED',
    pointer: holder,
    message: `'${key}' is missing${inHolder(holder)}`,
    ...misspelling(key, holder, others),
    missing: { key, holder },
  };
}

/** Of every group of fields exactly one must be written. */
function demandOne(value: DataObject, group: readonly string[], place: Place, findings: Finding[]): void {
  const written = group.filter((field) => Object.hasOwn(value, field));
  if (written.length === 1) return;
  const pointer = pointerOf(place);
  const names = group.map((field) => `'${field}'`).join(', ');
  const given = written.length === 0 ? 'none' : written.map((field) => `'${field}'`).join(' and ');
  findings.push({
    code: 'SCHEMA_EXACTLY_ONE',
    pointer,
    message: `exactly one of ${names} must be${inHolder(pointer) || ' there'}, found ${given}`,
    related: written.map((field) => joinPointer(pointer, field)),
  });
}
