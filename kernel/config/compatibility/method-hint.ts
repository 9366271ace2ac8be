import type { Kind } from './not-supported.ts';

const EACH = 'one endpoint for each method';

/** What to write instead of a `method` that an endpoint or a backend cannot have. */
export function methodHint(kind: Kind | undefined, value: unknown): string {
  if (Array.isArray(value)) return methodsHint(value);
  if (kind === 'backend') return "leave it out: the endpoint's method is the default";
  if (value === 'OPTIONS') return '"auto_options": true in extra_config.router answers OPTIONS on every path';
  return `${EACH}, or "/__catchall" for all methods and paths`;
}

/** What to write instead of a list of methods. */
export function methodsHint([first, ...others]: readonly unknown[]): string {
  const example = `"method": ${JSON.stringify(typeof first === 'string' ? first.toUpperCase() : 'GET')}`;
  return others.length === 0 ? example : `${EACH}, the first with ${example}`;
}
