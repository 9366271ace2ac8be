import { ConfigError, type DataObject, isObject } from '#contract';
import { backendSchema, endpointSchema, serviceSchema } from '../../contract/internal.ts';
import { parentPointer, parsePointer, valueAt } from '../../values/pointer.ts';
import type { KnownPlugins } from '../known-plugins.ts';
import { commentKey } from './edit-document.ts';
import { mayProtect } from './protection.ts';

/** Mistakes that the compatible product does not see: what is written so has no effect there. */
const UNSEEN: ReadonlySet<string> = new Set([
  'SCHEMA_UNKNOWN_KEY',
  'NAMESPACE_LEVEL',
  'NAMESPACE_UNKNOWN',
  'ENCODING_UNKNOWN',
  'SD_UNKNOWN',
  'DURATION_INVALID',
  'SCHEMA_ENUM',
]);

/** What one of these is a misspelling of is missed there, not ignored. */
const NEEDED: ReadonlySet<unknown> = new Set([
  ...serviceSchema.required,
  ...endpointSchema.required,
  ...backendSchema.required,
]);

/**
 * Of the mistakes of a document those that the compatible product does not see, mended so that the document means what it
 * means there: a key without effect becomes a comment, a repeated entry of a list goes. Settings that may
 * protect are left for their author to correct.
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
    // There it is read as json, here without it the service's would hold.
    const fix =
      isOutput && document['output_encoding'] !== undefined
        ? { value: 'json' }
        : { key: commentKey(holder, steps.at(-1)!) };
    return new ConfigError(code, pointer, message, { fix });
  });
}

/** Other choices than a version of TLS, durations of components, and those that are no text, are not passed over. */
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
