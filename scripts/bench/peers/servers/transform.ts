import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { changes, type Data } from '../../work.ts';

/** Decodes a backend's body, transforms it as the scenario requires and sends it; undefined for scenarios that pass bytes. */
export function transformer(
  scenario: string,
): ((body: Readable, response: ServerResponse) => Promise<void>) | undefined {
  const change = changes[scenario];
  if (!change) return undefined;
  return async (body, response) => {
    try {
      const text = JSON.stringify(change((await json(body)) as Data));
      response.setHeader('Content-Type', 'application/json');
      response.setHeader('Content-Length', Buffer.byteLength(text));
      response.end(text);
    } catch {
      response.destroy();
    }
  };
}
