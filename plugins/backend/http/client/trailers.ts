import { HeaderBag, type Log } from '#contract';
import { incoming } from './headers.ts';

/** Bytes that the fields behind a body may have; more than that is left out. */
const MAX_TRAILER_BYTES = 16 * 1024;

/** What a backend said behind its body, without the fields of the connection; null for nothing. @param raw names and values in turn. */
export function readTrailers(raw: unknown, log: Log): HeaderBag | null {
  if (!Array.isArray(raw) || raw.length === 0) return null;
  const fields = raw as readonly Buffer[] | readonly string[];
  let bytes = 0;
  for (const { length } of fields) bytes += length;
  if (bytes <= MAX_TRAILER_BYTES) return new HeaderBag(incoming(fields).list);
  log.warning(`trailers of the backend left out: ${bytes} bytes, of ${MAX_TRAILER_BYTES} at most`);
  return null;
}
