/** Minimum length of masked values: shorter texts are too common to be masked everywhere. */
const SHORTEST = 4;

/** Maximum number of remembered values; the most recent ones are kept. */
const MOST = 1000;

const values = new Set<string>();
/** Texts that references to secrets have become, of any length. */
const texts = new Set<string>();

/**
 * Remembers a value that was read from the environment or from a file of secrets, so that it is masked wherever the
 * configuration is shown. Applies to the whole process, like its environment.
 */
export function rememberSecret(value: string): void {
  if (value.length >= SHORTEST) remember(values, value);
}

/** Remembers a text that a reference has become: it is not a literal of the document. */
export function rememberText(text: string): void {
  remember(texts, text);
}

/** True for such a text. */
export function isReadText(text: string): boolean {
  return texts.has(text);
}

function remember(recent: Set<string>, value: string): void {
  recent.delete(value);
  recent.add(value);
  if (recent.size > MOST) recent.delete(recent.values().next().value!);
}

/** True if a text is such a value, or contains a sufficiently long one. */
export function holdsReadSecret(text: string): boolean {
  if (values.size === 0) return false;
  if (values.has(text)) return true;
  for (const value of values) if (value.length >= 2 * SHORTEST && text.includes(value)) return true;
  return false;
}

/** Masks all such values in a text. */
export function maskReadSecrets(text: string, mask: string): string {
  if (values.size === 0) return text;
  if (values.has(text)) return mask;
  let masked = text;
  for (const value of values) if (value.length >= 2 * SHORTEST) masked = masked.replaceAll(value, mask);
  return masked;
}
