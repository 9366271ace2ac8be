import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { PortHandler } from '#contract';
import { EXPOSITION_TYPE, exposition } from './prometheus.ts';
import type { MetricStore } from './store.ts';

/** Longest time that a scraper may take to read a response, in milliseconds. */
const READ_MS = 10_000;
/** Maximum number of concurrent scrapes; further ones are rejected with 503. */
const MAX_SCRAPES = 8;

/**
 * Responds to `GET /metrics` with the current content of stores.
 * @param stores returns the stores to show, called on every scrape.
 */
export function scrapes(stores: () => readonly MetricStore[], resource: Readonly<Record<string, string>>): PortHandler {
  let running = 0;
  return (message, response) => {
    message.resume();
    const path = message.url!.split('?', 1)[0];
    if (path !== '/metrics') return void response.writeHead(404).end();
    if (message.method !== 'GET' && message.method !== 'HEAD') {
      return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    }
    if (running >= MAX_SCRAPES) return void response.writeHead(503, { 'Retry-After': '1' }).end();
    running += 1;
    response.setTimeout(READ_MS, () => response.destroy());
    response.writeHead(200, { 'Content-Type': EXPOSITION_TYPE });
    write(response, exposition(stores(), resource))
      .catch(() => response.destroy())
      .finally(() => {
        running -= 1;
      });
  };
}

async function write(response: ServerResponse, pieces: Iterable<string>): Promise<void> {
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
    await turn();
  }
  response.end();
}

/** Resolves when the response can take more data. Also resolves when the client has disconnected. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
