/** Shorter texts are too common to be masked wherever they stand. */
const SHORTEST = 4;

/** Values that are remembered: those read last. */
const MOST = 1000;

const values = new Set<string>();

/**
 * Remembers a value that was read from the environment or from a file of secrets: it is masked wherever configuration is
 * shown. It is for the process, as its environment is.
 */
export function rememberSecret(value: string): void {
  if (value.length < SHORTEST) return;
  values.delete(value);
  values.add(value);
  if (values.size > MOST) values.delete(values.values().next().value!);
}

/** Whether a text is such a value, or has one of some length in it. */
export function holdsReadSecret(text: string): boolean {
  if (values.size === 0) return false;
  if (values.has(text)) return true;
  for (const value of values) if (value.length >= 2 * SHORTEST && text.includes(value)) return true;
  return false;
}

/** Masks every such value in a text. */
export function maskReadSecrets(text: string, mask: string): string {
  if (values.has(text)) return mask;
  let masked = text;
  for (const value of values) if (value.length >= 2 * SHORTEST) masked = masked.replaceAll(value, mask);
  return masked;
}
