import { type Data, type DataObject, findNear, type Near } from '#contract';
import { joinPointer } from '../../values/pointer.ts';
import { inHolder, subjectName } from './place.ts';
import { type Problem, showValue } from './problem.ts';

/** A value that is none of those it may be, with the one that is likely meant. */
export function wrongChoice(
  pointer: string,
  choices: readonly (string | number)[],
  value: unknown,
  isSecret: boolean | undefined,
): Problem {
  const allowed = choices.map(String);
  const near = typeof value === 'string' && !isSecret ? meantChoice(value, allowed) : undefined;
  return {
    code: 'SCHEMA_ENUM',
    pointer,
    message: `${subjectName(pointer)} must be ${allowed.length === 1 ? allowed[0] : `one of ${allowed.join(', ')}`}, found ${showValue(value, isSecret)}`,
    ...(near && { hint: near.name, ...(near.isSure && { fix: { value: near.name as Data } }) }),
  };
}

/** A number where one of several words is wanted may be the number in one of them. */
export function hintOfNumber(value: unknown, choices: readonly (string | number)[]): Pick<Problem, 'hint'> {
  const near = typeof value === 'number' ? meantChoice(String(value), choices.map(String)) : undefined;
  return near ? { hint: near.name } : {};
}

/** The choice that is near, or the only one that ends with the same letters and digits: `TLS12` for `TLSv1.2` or `1.2`. */
function meantChoice(text: string, choices: readonly string[]): Near | undefined {
  const near = findNear(text, choices) ?? findNear(text.replace(/[^a-z\d]/gi, ''), choices);
  if (near) return near;
  const bare = text.toLowerCase().replaceAll(/[^a-z\d]/g, '');
  const [only, ...others] = choices.filter((choice) => bare !== '' && choice.toLowerCase().endsWith(bare));
  return only !== undefined && others.length === 0 ? { name: only, isSure: false } : undefined;
}

/** A key that no field has, with the field that is likely meant. */
export function unknownKey(parent: string, key: string, known: Iterable<string>, holder: DataObject): Problem {
  const near = findNear(key, known);
  const isFree = near?.isSure && !Object.hasOwn(holder, near.name);
  return {
    code: 'SCHEMA_UNKNOWN_KEY',
    pointer: joinPointer(parent, key),
    message: `unknown key '${key}'${inHolder(parent)}`,
    ...(near && { hint: near.name, ...(isFree && { fix: { key: near.name } }) }),
  };
}

/** A key that is missing where any key may stand, under a name that is nearly its own. */
export function misspelling(
  missing: string,
  pointer: string,
  others: readonly string[],
): Pick<Problem, 'hint' | 'fix' | 'ofKey'> & { readonly pointer?: string } {
  const near = findNear(missing, others);
  if (!near) return {};
  const key = joinPointer(pointer, near.name);
  return { pointer: key, hint: missing, ...(near.isSure ? { fix: { key: missing } } : { ofKey: true }) };
}
