import { deepEqual, equal } from 'node:assert/strict';
import { Session } from 'node:inspector/promises';
import { json } from '../../support/gateway.ts';
import { Secure } from './secure.ts';

/** Number of calls of each function in a file of the repository while an action runs. */
async function callsOf(file: string, work: () => Promise<unknown>): Promise<Record<string, number>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await session.post('Profiler.takePreciseCoverage');
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const functions = result.find(({ url }) => url.endsWith(file))?.functions ?? [];
    return Object.fromEntries(functions.map(({ functionName, ranges }) => [functionName, ranges[0]!.count]));
  } finally {
    session.disconnect();
  }
}

describe('serving a request', () => {
  let secure: Secure;

  before(() => {
    secure = new Secure();
  });
  after(async () => {
    await secure.close();
    secure.made.remove();
  });

  it('creates no Error objects, which would cost more than the request', async () => {
    const backend = await secure.backend(json({ a: 1 }));
    const backends = [{ url_pattern: '/' }];
    const { port } = await secure.listen({
      host: [backend.url],
      endpoints: [
        { endpoint: '/bytes', output_encoding: 'no-op', backend: [{ url_pattern: '/', encoding: 'no-op' }] },
        { endpoint: '/data', backend: backends },
        { endpoint: '/merged', backend: [...backends, { url_pattern: '/', group: 'b' }] },
        { endpoint: '/sent', method: 'POST', backend: backends },
      ],
    });
    const ask = async (path: string, init?: RequestInit) => {
      const reply = await fetch(`http://127.0.0.1:${port}${path}`, init);
      await reply.arrayBuffer();
      equal(reply.status, 200);
    };
    const everything = async () => {
      for (const path of ['/bytes', '/data', '/merged']) await ask(path);
      await ask('/sent', { method: 'POST', body: '{}' });
    };
    await everything();
    deepEqual(await callsOf('/kernel/contract/errors.ts', everything), {});
  });
});
