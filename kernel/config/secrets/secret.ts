import { type Data, isObject } from '#contract';
import { joinPointer, parsePointer } from '../../values/pointer.ts';
import { isPathOfSecret, isSecretText, maskText, mayHoldSecret } from './secret-words.ts';

/** True if the value at a pointer must not be shown. @param holder the object that contains it, if known. */
export type IsSecret = (pointer: string, value: unknown, holder?: unknown) => boolean;

/**
 * True if the value at a pointer is a secret, judging by its name, the name of the field that contains it, or its
 * content. Names of components are not considered. Lists and objects may contain secrets but are not secrets
 * themselves; neither are file paths.
 */
export function isSecret(pointer: string, value: unknown, holder?: unknown): boolean {
  if (!canBeSecret(value) || isReferenceAlone(value)) return false;
  const steps = parsePointer(pointer);
  if (isOfCredential(steps, holder)) return true;
  if (typeof value !== 'string') return isSecretPlace(steps);
  return isSecretText(value) || (isSecretPlace(steps) && !isPathOfSecret(steps.at(-1) ?? '', value));
}

/** True for the value of a header, written as name and value, that carries credentials. */
function isOfCredential(steps: readonly string[], holder: unknown): boolean {
  if (steps.at(-1) !== 'value' || !isObject(holder)) return false;
  const { name } = holder;
  return typeof name === 'string' && mayHoldSecret(name);
}

/** A reference to a secret in a store, alone. */
const reference = /^\$\{[a-z][a-z\d-]*:[^{}]+\}$/;

/** True for a text that consists only of a reference to a secret. Such a text is shown. */
export function isReferenceAlone(value: unknown): boolean {
  return typeof value === 'string' && reference.test(value);
}

/** True for values that can be secrets. */
export function canBeSecret(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || JSON.isRawJSON(value);
}

function isSecretPlace(steps: readonly string[]): boolean {
  return isApiKey(steps) || steps.some((step, index) => steps[index - 1] !== 'extra_config' && mayHoldSecret(step));
}

/** API keys are recognized only by the list that contains them, not by name. */
function isApiKey(steps: readonly (string | number)[]): boolean {
  const [list, index = '', name] = steps.slice(-3);
  return list === 'keys' && name === 'key' && /^\d+$/.test(String(index));
}

/** Pointers of all secrets in a document. */
export function secretPointers(data: unknown, hides: IsSecret = isSecret): string[] {
  const results: string[] = [];
  const visit = (value: unknown, pointer: string, holder?: unknown): void => {
    if (hides(pointer, value, holder)) results.push(pointer);
    if (!Array.isArray(value) && !isObject(value)) return;
    for (const [key, inner] of Object.entries(value)) visit(inner, joinPointer(pointer, key), value);
  };
  visit(data, '');
  return results;
}

/** Replacement for a secret. */
const MASK = '***';

/** Copies data derived from a configuration, masking the secrets that can be recognized by text alone. */
export function maskTexts<T>(data: T): T {
  const visit = (value: unknown): unknown => {
    if (typeof value === 'string') return maskText(value, MASK);
    if (Array.isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, visit(item)]));
  };
  return visit(data) as T;
}

/** Copies a value with its secrets masked. @param hides selects the secrets. Default: by names and texts. */
export function maskSecrets(value: Data, pointer: string, hides: IsSecret = isSecret, holder?: Data): Data {
  if (hides(pointer, value, holder)) return MASK;
  if (Array.isArray(value)) return value.map((item, index) => maskSecrets(item, `${pointer}/${index}`, hides));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, maskSecrets(item, joinPointer(pointer, key), hides, value)]),
  );
}
