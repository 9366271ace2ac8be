import type { Schema } from '#contract';
import { readDuration } from './duration.ts';
import type { Check } from './finding.ts';
import { hintOfNumber, wrongChoice } from './meant.ts';
import { type Place, pointerOf, subjectName } from './place.ts';
import { type Problem, showValue, wrongType } from './problem.ts';

type SchemaOf<T> = Extract<Schema, { readonly type: T }>;

export function checkString({ enum: choices, pattern, minLength = 0, secret, examples }: SchemaOf<'string'>): Check {
  const expression = pattern === undefined ? undefined : regExp(pattern);
  return (value, place, findings) => {
    if (typeof value !== 'string') {
      const pointer = pointerOf(place);
      findings.push({ ...wrongType(pointer, 'string', value, secret), ...hintOfNumber(value, choices ?? []) });
      return value;
    }
    if (minLength > 0 && isShorter(value, minLength)) {
      const rule = minLength === 1 ? 'not be empty' : `have at least ${minLength} characters`;
      findings.push(outOfRange(place, rule, value, secret));
    }
    if (expression && !expression.test(value)) {
      const pointer = pointerOf(place);
      const message = `${subjectName(pointer)} must match ${pattern}, found ${showValue(value, secret)}`;
      const hint = examples?.length ? { hint: String(examples[0]) } : {};
      findings.push({ code: 'SCHEMA_PATTERN', pointer, message, ...hint });
    }
    if (choices && !choices.includes(value)) findings.push(wrongChoice(pointerOf(place), choices, value, secret));
    return value;
  };
}

/** Whole numbers beyond the safe ones are not exact. */
export function checkNumber(schema: SchemaOf<'integer' | 'number'>): Check {
  const isWhole = schema.type === 'integer';
  const { enum: choices, exclusiveMinimum, secret } = schema;
  const { minimum = isWhole ? Number.MIN_SAFE_INTEGER : -Infinity } = schema;
  const { maximum = isWhole ? Number.MAX_SAFE_INTEGER : Infinity } = schema;
  const rules: readonly (readonly [isBroken: (value: number) => boolean, rule: string])[] = [
    [(value) => value > maximum, `be ${maximum} or less`],
    [(value) => value < minimum, `be ${minimum} or more`],
    [(value) => exclusiveMinimum !== undefined && value <= exclusiveMinimum, `be more than ${exclusiveMinimum}`],
  ];
  return (value, place, findings) => {
    // A number with more digits than JavaScript keeps is still a number.
    const isExact = JSON.isRawJSON(value);
    const number = isExact ? Number(value.rawJSON) : value;
    const isFitting = isExact && isWhole ? Number.isSafeInteger(number) : Number.isFinite(number);
    if (!isFitting || (isWhole && !Number.isInteger(number))) {
      findings.push(wrongType(pointerOf(place), schema.type, value, secret));
      return value;
    }
    for (const [isBroken, rule] of rules) {
      if (isBroken(number as number)) findings.push(outOfRange(place, rule, value, secret));
    }
    if (choices && !choices.includes(number as number))
      findings.push(wrongChoice(pointerOf(place), choices, number, secret));
    return number;
  };
}

export function checkBoolean({ secret }: SchemaOf<'boolean'>): Check {
  return (value, place, findings) => {
    if (typeof value !== 'boolean') findings.push(wrongType(pointerOf(place), 'boolean', value, secret));
    return value;
  };
}

/** Turns `"2s"` into 2000, and what is no duration into 0. */
export function checkDuration({ secret }: SchemaOf<'duration'>): Check {
  return (value, place, findings) => {
    const milliseconds = typeof value === 'string' ? readDuration(value) : undefined;
    if (milliseconds === undefined) findings.push(wrongType(pointerOf(place), 'duration', value, secret));
    // Zero is as good as not set: what follows from the mistake is not told too.
    return milliseconds ?? 0;
  };
}

function outOfRange(place: Place, rule: string, value: unknown, isSecret: boolean | undefined): Problem {
  const pointer = pointerOf(place);
  const message = `${subjectName(pointer)} must ${rule}, found ${showValue(value, isSecret)}`;
  return { code: 'SCHEMA_RANGE', pointer, message };
}

/** Characters count, not the units that JavaScript keeps them in. */
function isShorter(text: string, length: number): boolean {
  return text.length < length || (text.length < 2 * length && Array.from(text).length < length);
}

/** Patterns are read as Unicode where they are valid so, else the older, laxer way. */
function regExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}
