import { ConfigError, type DataObject, isObject } from '#contract';
import { backendSchema, endpointSchema, serviceSchema } from '../../contract/internal.ts';
import { parentPointer, parsePointer, valueAt } from '../../values/pointer.ts';
import type { KnownPlugins } from '../normalize/known-plugins.ts';
import { commentKey } from './edit-document.ts';
import { mayProtect } from './protection.ts';

/** Codes of errors that KrakenD does not detect: such settings have no effect there. */
const UNSEEN: ReadonlySet<string> = new Set([
  'SCHEMA_UNKNOWN_KEY',
  'NAMESPACE_LEVEL',
  'NAMESPACE_UNKNOWN',
  'ENCODING_UNKNOWN',
  'SD_UNKNOWN',
  'DURATION_INVALID',
  'SCHEMA_ENUM',
]);

/** Codes for required fields: KrakenD reports a misspelled one as missing instead of ignoring it. */
const NEEDED: ReadonlySet<unknown> = new Set([
  ...serviceSchema.required,
  ...endpointSchema.required,
  ...backendSchema.required,
]);

/**
 * Selects the errors that KrakenD does not detect, with fixes that keep the document's meaning there:
 * keys without effect become comments, repeated list entries are removed. Settings that may be protective are left for
 * the author to correct.
 */
export function withoutEffect(
  errors: readonly ConfigError[],
  document: DataObject,
  known: Pick<KnownPlugins, 'compatibility'>,
): ConfigError[] {
  return errors.flatMap((error) => {
    const { code, pointer, message, hint } = error;
    if (code === 'SCHEMA_DUPLICATE') return withoutRepeated(error, document);
    if (mayProtect(error, known)) return [];
    if (!UNSEEN.has(code) || NEEDED.has(hint) || !isIgnored(error, document)) return [];
    const steps = parsePointer(pointer);
    const holder = valueAt(document, steps.slice(0, -1));
    if (!isObject(holder)) return [];
    const isOutput = code === 'ENCODING_UNKNOWN' && steps.at(-1) === 'output_encoding' && steps.length > 1;
    // KrakenD reads an unknown encoding as `json`. Removing the key instead would make the service's encoding apply
    // here.
    const fix =
      isOutput && document['output_encoding'] !== undefined
        ? { value: 'json' }
        : { key: commentKey(holder, steps.at(-1)!) };
    return new ConfigError(code, pointer, message, { fix });
  });
}

/**
 * True if KrakenD ignores the invalid value. It does not ignore values outside a list, except TLS versions, or
 * durations that are in components or are not strings.
 */
function isIgnored({ code, pointer }: ConfigError, document: DataObject): boolean {
  if (code === 'SCHEMA_ENUM') return /^\/(?:client_)?tls\/(?:min|max)_version$/.test(pointer);
  if (code !== 'DURATION_INVALID') return true;
  return !pointer.includes('/extra_config/') && typeof valueAt(document, parsePointer(pointer)) === 'string';
}

function withoutRepeated({ code, pointer, message }: ConfigError, document: DataObject): ConfigError[] {
  const at = parentPointer(pointer);
  const list = valueAt(document, parsePointer(at));
  if (!Array.isArray(list) || !list.every((item) => typeof item === 'string')) return [];
  return [new ConfigError(code, at, message, { fix: { value: [...new Set(list)] } })];
}
