import type Koa from 'koa';
import { type Data, type DataObject, getKey, isObject } from '#contract';
import {
  ConfigText,
  canonicalData,
  editDocument,
  type IsSecret,
  joinPointer,
  maskSecrets,
  type Operations,
  parseDocument,
  secretPointers,
} from '#kernel';
import { callerOf, demandScope } from './caller.ts';
import { queryFlag } from './parameters.ts';

const MASK = '***';

/** Pointer prefix of admin tokens. A configuration holds only their digests, so confirming one does not reveal a token. */
const DIGESTS = '/extra_config/admin~1api/tokens/';

/** A masked value (`***`) and the secret that it replaces. */
interface Kept {
  readonly pointer: string;
  readonly value: Data;
}

/**
 * Restores masked secrets in a configuration: each `***` is replaced by the value at that place in the serving
 * configuration, as written there or as shown. Layout and comments are preserved.
 * @throws ConfigErrors when the configuration cannot be parsed.
 */
export function keepSecrets(given: ConfigText, gateway: Operations): ConfigText {
  if (!given.text.includes(MASK)) return given;
  const document = parseDocument(given.text, `configuration.${given.format}`);
  const kept = secretsKept(document.data as Data, gateway);
  const changes = kept.map(({ pointer, value }) => ({ pointer, value }));
  return new ConfigText(editDocument(document, changes).text, given.format);
}

function secretsKept(data: Data, { serving, config, components: { isSecret } }: Operations): Kept[] {
  const written = serving.snapshot.data as Data;
  const kept = new Map<string, Kept>();
  for (const current of [canonicalData(config), written]) {
    for (const match of maskedIn(data, current, { pointer: '', isSecret })) kept.set(match.pointer, match);
  }
  return [...kept.values()];
}

interface Place {
  readonly pointer: string;
  readonly isSecret: IsSecret;
  readonly holder?: Data;
}

/** Yields the place of every `***` that replaces a secret. */
function* maskedIn(value: Data, current: Data | undefined, place: Place): Generator<Kept> {
  const { pointer, isSecret, holder } = place;
  if (current === undefined) return;
  if (value === MASK) {
    if (isSecret(pointer, current, holder)) yield { pointer, value: current };
  } else if (Array.isArray(value) && Array.isArray(current)) {
    for (const [index, item] of value.entries()) {
      yield* maskedIn(item, counterpart(item, index, value, current), { pointer: `${pointer}/${index}`, isSecret });
    }
  } else if (isObject(value) && isObject(current)) {
    for (const [key, item] of Object.entries(value)) {
      yield* maskedIn(item, getKey(current, key), { pointer: joinPointer(pointer, key), isSecret, holder: current });
    }
  }
}

/** Members by which the entries of two lists are matched, because the list may have been sorted or have new entries. */
const names = ['endpoint', 'method', 'id', 'name', 'url_pattern'] as const;

function counterpart(item: Data, index: number, list: readonly Data[], current: readonly Data[]): Data | undefined {
  if (!isObject(item)) return current[index];
  const reported = names.filter((name) => getKey(item, name) !== MASK);
  const isSame = (other: Data) =>
    isObject(other) && reported.every((name) => nameOf(other, name) === nameOf(item, name));
  // Entries with the same name are matched in their order.
  const nth = list.slice(0, index).filter(isSame).length;
  return current.filter(isSame)[nth];
}

function nameOf(item: DataObject, name: (typeof names)[number]): Data | undefined {
  return getKey(item, name) ?? (name === 'method' ? 'GET' : undefined);
}

/**
 * Pointers to the plaintext secrets in a request body, if the token of the request can neither read secrets nor apply
 * configurations: it must not learn whether these secrets are correct. Empty for all other tokens.
 */
export function guessesIn(ctx: Koa.Context, given: ConfigText | null, { components }: Operations): ReadonlySet<string> {
  const isTrusted = callerOf(ctx)?.scopes.some((scope) => scope === 'write' || scope === 'secrets');
  if (!given || isTrusted) return new Set();
  const { data, valueAt } = parseDocument(given.text, `configuration.${given.format}`);
  const isGuess = (pointer: string) => valueAt(pointer) !== MASK && !pointer.startsWith(DIGESTS);
  return new Set(secretPointers(data, components.isSecret).filter(isGuess));
}

/** Tells whether secrets are to be shown. @throws Problem insufficient-scope when the token may not see them. */
export function isRevealing(ctx: Koa.Context): boolean {
  const reveals = queryFlag(ctx, 'reveal');
  if (reveals) demandScope(ctx, 'secrets');
  return reveals;
}

/**
 * A configuration, or the value at a pointer in it, as the request may see it: secrets are `***` unless revealed.
 * @param holder the object or list that contains the value; undefined for a whole configuration.
 */
export function shown(
  ctx: Koa.Context,
  { components }: Pick<Operations, 'components'>,
  data: Data,
  pointer = '',
  holder?: Data,
): Data {
  return isRevealing(ctx) ? data : maskSecrets(data, pointer, components.isSecret, holder);
}
