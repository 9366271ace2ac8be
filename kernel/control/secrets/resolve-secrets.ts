import { ConfigError, isObject, type Log } from '#contract';
import {
  mayReferToSecrets,
  rememberStored,
  type SecretReference,
  type SecretValues,
  secretReferences,
  underEnvironment,
} from '../../config/index.ts';
import { ConfigErrors } from '../../contract/internal.ts';
import type { BuildContext } from '../../runtime/build/config-build.ts';
import { registryFor } from '../../runtime/build/read-config.ts';
import type { ReadFiles } from '../../runtime/prints/read-files.ts';
import type { Timers } from '../../runtime/watch/timers.ts';
import { type Fetched, fetchAll, type Wanted } from './fetch-secrets.ts';
import { type HeldSecrets, type KnownSecret, secretOf } from './held-secrets.ts';
import { type OpenStores, openStores } from './open-stores.ts';
import { knownSecret, upkeepOf } from './schedule.ts';
import { selectValue } from './secret-value.ts';

/** Maximum number of references in one document. */
export const MAX_REFERENCES = 1000;

/** Options for resolving the references of a document. */
export interface Resolving {
  readonly context: BuildContext;
  /** Reads plugins and other files of the attempt. */
  readonly files: ReadFiles;
  /** Reads files with secrets. */
  readonly secretFiles: ReadFiles;
  readonly pluginFolder: string | undefined;
  readonly signal: AbortSignal;
  readonly timers: Timers;
  readonly log: Log;
  /** Secrets of the serving configuration; null for none. */
  readonly serving: HeldSecrets | null;
  /**
   * `all` fetches every secret, except those with a lease that can be reused; `unknown` only those that the serving
   * configuration does not have; `none` uses the given values only.
   */
  readonly fetches: 'all' | 'unknown' | 'none';
  /** True at startup: failed fetches are retried for as long as the stores allow. */
  readonly isStart: boolean;
  /** Values to use instead of those in the stores. */
  readonly given: SecretValues | null;
  /** Secrets that cannot be fetched cause only a warning, and have no value. */
  readonly isTolerant: boolean;
}

/**
 * Finds the values of a document's references to secrets.
 * @returns null for a document without references, or with plugins that cannot be loaded.
 * @throws ConfigErrors SECRET_FETCH, SECRET_VALUE, SECRET_LIMIT, and those of `openStores`.
 */
export async function resolveSecrets(document: unknown, resolving: Resolving): Promise<HeldSecrets | null> {
  if (!isObject(document) || !(await mayReferToSecrets(document))) return null;
  const { context, pluginFolder, files, secretFiles, signal } = resolving;
  const overridden = underEnvironment(document, process.env);
  const { registry, errors } = await registryFor(overridden, pluginFolder, context.registry, files);
  if (errors.length > 0) return null;
  const references = await secretReferences(document, (scheme) => registry.secretStore(scheme) !== undefined);
  if (references.length === 0) return null;
  demandFew(references);
  const stores = await openStores(document, references, registry, context, secretFiles, signal);
  try {
    return await hold(references, stores, resolving);
  } catch (error) {
    await stores.close();
    throw error;
  }
}

function demandFew(references: readonly SecretReference[]): void {
  const excess = references[MAX_REFERENCES];
  if (!excess) return;
  const message = `more than ${MAX_REFERENCES} references to secrets`;
  throw new ConfigErrors([new ConfigError('SECRET_LIMIT', excess.pointer, message, { within: excess.within })]);
}

async function hold(
  references: readonly SecretReference[],
  stores: OpenStores,
  resolving: Resolving,
): Promise<HeldSecrets> {
  const { serving, given, isTolerant, timers, fetches } = resolving;
  const known = new Map<string, KnownSecret>();
  const wanted = new Map<string, Wanted>();
  for (const { scheme, name } of references) {
    const id = secretOf({ scheme, name });
    const open = stores.of(scheme);
    const before = serving?.known.get(id);
    const isOwn = before !== undefined && before.identity === open.identity;
    if (isOwn) known.set(id, before);
    if (fetches !== 'none' && (!isOwn || mustFetch(before, resolving))) wanted.set(id, { id, name, open });
  }
  const { isStart, signal, log } = resolving;
  const fetched = await fetchAll([...wanted.values()], isStart, signal, log);
  for (const [id, outcome] of fetched) {
    const { name, open } = wanted.get(id)!;
    if ('secret' in outcome) known.set(id, knownSecret(id, name, open, outcome.secret, timers.now()));
  }
  const values = new Map<string, string>();
  const errors: ConfigError[] = [];
  const warnings: ConfigError[] = [];
  for (const reference of references) {
    const value = given?.get(reference.id) ?? readValue(reference, known, errors);
    if (value !== undefined) values.set(reference.id, value);
    const failure = failureOf(fetched.get(secretOf(reference)));
    if (failure === null) continue;
    const isKnown = value !== undefined;
    const error = fetchError(reference, failure, isKnown);
    (isKnown || isTolerant ? warnings : errors).push(error);
  }
  if (errors.length > 0) throw new ConfigErrors(errors);
  for (const value of values.values()) rememberStored(value);
  const declined = given
    ? new Map([...latestValues(references, known)].filter(([id, value]) => value !== given.get(id)))
    : new Map();
  const upkeep = [...stores.all]
    .filter(([, { store }]) => store.keepAlive)
    .map(([scheme]) => upkeepOf(scheme, timers.now()));
  return { references, stores, known, upkeep, values, declined, warnings };
}

/** A lease is reused until it is renewed or ends, because a new lease would create another user in the system that it grants access to. */
function mustFetch({ lease, endsAt }: KnownSecret, { fetches, given, timers }: Resolving): boolean {
  return given === null && fetches === 'all' && (lease === null || endsAt <= timers.now());
}

function failureOf(outcome: Fetched | undefined): string | null {
  return outcome && 'error' in outcome ? outcome.error.message : null;
}

/** @returns undefined for a secret that is not known, or whose value cannot be used, which is reported. */
function readValue(
  reference: SecretReference,
  known: ReadonlyMap<string, KnownSecret>,
  errors: ConfigError[],
): string | undefined {
  const secret = known.get(secretOf(reference));
  if (!secret) return undefined;
  try {
    return selectValue(reference, secret);
  } catch (error) {
    const { id, pointer, within } = reference;
    errors.push(
      new ConfigError('SECRET_VALUE', pointer, `\${${id}} has no value: ${(error as Error).message}`, { within }),
    );
    return undefined;
  }
}

function latestValues(
  references: readonly SecretReference[],
  known: ReadonlyMap<string, KnownSecret>,
): Map<string, string> {
  const ignored: ConfigError[] = [];
  return new Map(
    references.flatMap((reference) => {
      const value = readValue(reference, known, ignored);
      return value === undefined ? [] : [[reference.id, value] as const];
    }),
  );
}

function fetchError({ id, pointer, within }: SecretReference, reason: string, isKnown: boolean): ConfigError {
  const consequence = isKnown ? '; the value in use stays' : '';
  return new ConfigError('SECRET_FETCH', pointer, `cannot fetch \${${id}}: ${reason}${consequence}`, { within });
}
