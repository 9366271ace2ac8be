/** Minimum length of masked values: shorter texts are too common to be masked everywhere. */
const SHORTEST = 4;

/** Maximum number of remembered values; the most recent ones are kept. */
const MOST = 1000;

const values = new Set<string>();
/**
 * Values from stores of secrets, which messages must never contain. Messages may contain other remembered values, such
 * as host names from variables.
 */
const stored = new Set<string>();
/** Texts of any length that have replaced references to secrets. */
const texts = new Set<string>();

/**
 * Remembers a value that was read from the environment or from a file of secrets, so that it is masked wherever the
 * configuration is shown. Applies to the whole process, like its environment.
 */
export function rememberSecret(value: string): void {
  if (value.length >= SHORTEST) remember(values, value);
}

/** Remembers the value of a secret in a store, so that messages and logs do not show it either. */
export function rememberStored(value: string): void {
  rememberSecret(value);
  if (value.length >= SHORTEST) remember(stored, value);
}

/** Masks the values of secrets in stores. */
export function maskStored(text: string): string {
  return stored.size === 0 ? text : masked(text, stored, '***');
}

/** Remembers a text that has replaced a reference to a secret, because the document does not contain it literally. */
export function rememberText(text: string): void {
  remember(texts, text);
}

/** True for a text that has replaced a reference to a secret. */
export function isReadText(text: string): boolean {
  return texts.has(text);
}

function remember(recent: Set<string>, value: string): void {
  recent.delete(value);
  recent.add(value);
  if (recent.size > MOST) recent.delete(recent.values().next().value!);
}

/** True if a text is a known secret value, or contains one that is long enough. */
export function holdsReadSecret(text: string): boolean {
  if (values.size === 0) return false;
  if (values.has(text)) return true;
  for (const value of values) if (value.length >= 2 * SHORTEST && text.includes(value)) return true;
  return false;
}

/** Masks all known secret values in a text. */
export function maskReadSecrets(text: string, mask: string): string {
  return values.size === 0 ? text : masked(text, values, mask);
}

function masked(text: string, secrets: ReadonlySet<string>, mask: string): string {
  if (secrets.has(text)) return mask;
  let result = text;
  for (const value of secrets) if (value.length >= 2 * SHORTEST) result = result.replaceAll(value, mask);
  return result;
}
