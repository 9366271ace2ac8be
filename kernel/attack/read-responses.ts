import type { AttackResponse } from '#contract';

/** A response as the client of attacks reads it. */
export type WireResponse = Omit<AttackResponse, 'calls'>;

/** A response, and the bytes that follow it on the connection. */
interface Read {
  readonly response: WireResponse;
  readonly rest: Buffer;
  /** Whether the connection stays open for another request. */
  readonly isKept: boolean;
}

/**
 * Reads the first response of a connection. @param isHead whether the response has no body, as it answers HEAD.
 * @param isEnded whether no more bytes follow. @returns null if the response is incomplete.
 */
function readResponse(bytes: Buffer, isHead: boolean, isEnded: boolean): Read | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const [line = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1] ?? 0);
  const headers = lines.map((text): [string, string] => {
    const colon = text.indexOf(':');
    return [text.slice(0, colon), text.slice(colon + 1).trim()];
  });
  const value = (name: string) => headers.find(([known]) => known.toLowerCase() === name)?.[1];
  const content = bytes.subarray(end + 4);
  const isKept = value('connection')?.toLowerCase() !== 'close';
  const read = (body: Buffer, rest: Buffer, kept = isKept): Read => ({
    response: { status, headers, body: body.toString() },
    rest,
    isKept: kept,
  });
  const nothing = Buffer.alloc(0);
  if (isHead || status < 200 || status === 204 || status === 304) return read(nothing, content);
  if (value('transfer-encoding')?.toLowerCase() === 'chunked') {
    const chunked = readChunks(content);
    if (chunked) return read(chunked.body, chunked.rest);
    return isEnded ? read(content, nothing, false) : null;
  }
  const length = value('content-length');
  if (length === undefined) return isEnded ? read(content, nothing, false) : null;
  if (content.length < Number(length)) return isEnded ? read(content, nothing, false) : null;
  return read(content.subarray(0, Number(length)), content.subarray(Number(length)));
}

/** Reads the first response that is not an interim one, such as 100 Continue. */
export function readFinal(bytes: Buffer, isHead: boolean, isEnded: boolean): Read | null {
  const read = readResponse(bytes, isHead, isEnded);
  const isInterim = read !== null && read.response.status >= 100 && read.response.status < 200;
  return isInterim ? readFinal(read.rest, isHead, isEnded) : read;
}

/** Reads a body in chunks. @returns null if the last chunk is missing. */
function readChunks(content: Buffer): { readonly body: Buffer; readonly rest: Buffer } | null {
  const pieces: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = content.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(content.toString('latin1', at, line), 16);
    if (!(size >= 0)) return null;
    if (size === 0) {
      const trailers = content.indexOf('\r\n\r\n', line);
      return trailers < 0 ? null : { body: Buffer.concat(pieces), rest: content.subarray(trailers + 4) };
    }
    if (content.length < line + 2 + size + 2) return null;
    pieces.push(content.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/** Reads all responses of an ended connection; the rest of an incomplete one is ignored. */
export function readAll(bytes: Buffer): readonly WireResponse[] {
  const responses: WireResponse[] = [];
  let rest = bytes;
  for (let read = readResponse(rest, false, true); read; read = readResponse(rest, false, true)) {
    responses.push(read.response);
    rest = read.rest;
    if (rest.length === 0) break;
  }
  return responses;
}
