/** Minimum length of masked values: shorter texts are too common to be masked everywhere. */
const SHORTEST = 4;

/** Maximum number of remembered values; the most recent ones are kept. */
const MOST = 1000;

const values = new Set<string>();

/**
 * Remembers a value that was read from the environment or from a file of secrets, so that it is masked wherever the
 * configuration is shown. Applies to the whole process, like its environment.
 */
export function rememberSecret(value: string): void {
  if (value.length < SHORTEST) return;
  values.delete(value);
  values.add(value);
  if (values.size > MOST) values.delete(values.values().next().value!);
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
  if (values.has(text)) return mask;
  let masked = text;
  for (const value of values) if (value.length >= 2 * SHORTEST) masked = masked.replaceAll(value, mask);
  return masked;
}
