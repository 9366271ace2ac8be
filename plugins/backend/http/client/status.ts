/** True for the answers that come before the one that counts; no other protocol is ever asked for. */
export function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101;
}

/** True for an answer without a body, whatever its headers say. */
export function isBodiless(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

/** Methods that may be sent twice to the same effect as once. */
export const idempotent: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']);
