import { equal, ok } from 'node:assert/strict';
import { Agent, request as send } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type AtEndpoint, before as beforehand } from '#contract';
import type { Operations } from '../../../kernel/index.ts';
import { createSinks } from '../../../kernel/logging/sinks.ts';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startPlugged } from '../../support/plugged.ts';

/** Number of messages that Node.js keeps for each open connection. */
const LAST = 1;
const ROUNDS = 20;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('a completed request', () => {
  let backend: TestBackend;
  let gateway: Operations;
  let port: number;
  let seen: { readonly path: string; readonly what: string; readonly of: WeakRef<object> }[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sinks = createSinks({ stdout: { write: (_lines, done) => setImmediate(done) } });

  const note: AtEndpoint = {
    endpoint: beforehand((request, call) => {
      const { path, raw } = request;
      const parts = { request, call, message: raw!.request, response: raw!.response, headers: request.headers };
      for (const [what, part] of Object.entries(parts)) seen.push({ path, what, of: new WeakRef(part) });
    }),
  };

  before(async () => {
    backend = await startBackend(json({ a: 1 }));
    const endpoint = (path: string, count: number, more: object = {}) => ({
      endpoint: path,
      timeout: '60s',
      backend: Array.from({ length: count }, (_, at) => ({ url_pattern: `/${at}` })),
      extra_config: { test: { act: 'note' }, 'qos/ratelimit/router': { client_max_rate: 1000, strategy: 'ip' } },
      ...more,
    });
    gateway = await startPlugged(
      {
        host: [backend.url],
        extra_config: { 'telemetry/metrics': { listen_address: '127.0.0.1:0' } },
        endpoints: [
          endpoint('/one', 1),
          endpoint('/merged', 3),
          endpoint('/bytes', 1, { output_encoding: 'no-op' }),
          endpoint('/sent', 1, { method: 'POST' }),
          endpoint('/concurrent', 1, { concurrent_calls: 2 }),
          endpoint('/limited', 1, { backend: [{ url_pattern: '/', timeout: '50s' }] }),
          endpoint('/sequence', 2, { extra_config: { test: { act: 'note' }, proxy: { sequential: true } } }),
        ],
      },
      { endpoint: { note } },
      { sinks },
    );
    ({ port } = await gateway.listen());
  });
  after(async () => {
    agent.destroy();
    await gateway.close();
    await backend.close();
    sinks.close();
  });

  const ask = (method: string, path: string): Promise<void> =>
    new Promise((resolve, reject) => {
      send({ port, method, path, agent }, (response) => {
        equal(response.statusCode, 200);
        response.resume().once('end', resolve);
      })
        .once('error', reject)
        .end(method === 'POST' ? '{"some":"body"}' : '');
    });

  for (const [method, path] of [
    ['GET', '/one'],
    ['GET', '/merged'],
    ['GET', '/bytes'],
    ['POST', '/sent'],
    ['GET', '/concurrent'],
    ['GET', '/limited'],
    ['GET', '/sequence'],
  ] as const) {
    it(`is released from memory: ${method} ${path}`, async () => {
      seen = [];
      for (let round = 0; round < ROUNDS; round++) await ask(method, path);
      ok(seen.length >= 5 * ROUNDS);
      const held = () => seen.slice(0, -5 * LAST).filter(({ of }) => of.deref());
      // Waits for three turns: logs are written within two turns, and collected objects are known one turn later.
      for (let tries = 0; tries < 20 && held().length > 0; tries++) {
        await turn();
        collect();
      }
      equal(
        held()
          .map(({ what }) => what)
          .join(),
        '',
      );
    });
  }
});
