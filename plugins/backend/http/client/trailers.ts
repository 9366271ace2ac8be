import { HeaderBag, type Log } from '#contract';
import { incoming } from './headers.ts';

/** Maximum size of the trailers, in bytes. Anything beyond it is dropped. */
const MAX_TRAILER_BYTES = 16 * 1024;

/** Reads the trailers without those of the connection; null without any. @param raw alternating names and values. */
export function readTrailers(raw: unknown, log: Log): HeaderBag | null {
  if (!Array.isArray(raw) || raw.length === 0) return null;
  const fields = raw as readonly Buffer[] | readonly string[];
  let bytes = 0;
  for (const { length } of fields) bytes += length;
  if (bytes <= MAX_TRAILER_BYTES) return new HeaderBag(incoming(fields).list);
  log.warning(`trailers of the backend dropped: ${bytes} bytes exceed the limit of ${MAX_TRAILER_BYTES}`);
  return null;
}
