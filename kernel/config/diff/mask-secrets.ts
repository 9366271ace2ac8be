import { type Data, isObject } from '#contract';
import { joinPointer } from '../pointer.ts';
import { type IsSecret, isSecret } from '../secrets/secret.ts';

/** What stands where a secret is. */
const MASK = '***';

/** A value without the secrets in it. @param hides tells which they are. Default: by names and texts. */
export function maskSecrets(value: Data, pointer: string, hides: IsSecret = isSecret): Data {
  if (hides(pointer, value)) return MASK;
  if (Array.isArray(value)) return value.map((item, index) => maskSecrets(item, `${pointer}/${index}`, hides));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, maskSecrets(item, joinPointer(pointer, key), hides)]),
  );
}
