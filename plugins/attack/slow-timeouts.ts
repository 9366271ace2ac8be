import { type DataObject, isObject } from '#contract';

/** Timeouts for slow clients in the sandbox, as a duration. */
const TIMEOUT = '200ms';

/** Time that slow clients wait for the gateway to close their connection, in milliseconds. */
export const PATIENCE_MS = 2_500;

/** Shortens timeouts of a configuration that are not disabled, so that attacks need not wait for them. */
export function shortenTimeouts(document: DataObject): void {
  for (const field of ['read_header_timeout', 'idle_timeout', 'timeout']) {
    if (!isZero(document[field])) document[field] = TIMEOUT;
  }
  if (document['read_timeout'] !== undefined && !isZero(document['read_timeout'])) document['read_timeout'] = TIMEOUT;
  const endpoints = Array.isArray(document['endpoints']) ? document['endpoints'] : [];
  for (const endpoint of endpoints) if (isObject(endpoint)) delete endpoint['timeout'];
}

function isZero(duration: unknown): boolean {
  return duration !== undefined && Number.parseFloat(String(duration)) === 0;
}
