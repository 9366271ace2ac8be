import type { Reply } from '#contract';

/**
 * Body of a response that the gateway reads itself; empty without one. Rejects with `BODY_TOO_LARGE` for a stream beyond
 * the limit.
 */
export function bytesOf({ body }: Reply, limitBytes: number): Uint8Array | Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  return body instanceof Uint8Array ? body : body.collect(limitBytes);
}

/** Body of a response as text, with the errors of `bytesOf`. */
export async function textOf(reply: Reply, limitBytes: number): Promise<string> {
  const bytes = await bytesOf(reply, limitBytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
