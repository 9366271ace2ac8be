import type { HeaderBag } from '#contract';

/** Headers that reveal the client's address, or the host and scheme that the client used, to a backend; in lower case. */
const clientHeaders: ReadonlySet<string> = new Set([
  'forwarded',
  'x-forwarded-client-cert',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
]);

/** Removes the headers that tell a backend the client's address, or the host and scheme that the client used. */
export function hideClient(headers: HeaderBag): void {
  headers.filter((name) => !clientHeaders.has(name));
}
