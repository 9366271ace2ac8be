import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Operations } from '#kernel';
import { sluice } from '../kernel/cli/command.ts';
import { json, startBackend, startGateway, type TestBackend } from '../support/gateway.ts';

describe('the sample "graphql"', () => {
  let backend: TestBackend;
  let gateway: Operations;

  before(async () => {
    backend = await startBackend(json({ data: { hero: { name: 'R2-D2' } } }));
    const config = JSON.parse(readFileSync('samples/graphql/gateway.json', 'utf8'));
    gateway = await startGateway({ ...config, host: [backend.url] });
  });
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  const asked = () => JSON.parse(String(backend.requests.at(-1)!.body)).variables;

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/graphql/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('sends a query with a variable from the path', async () => {
    deepEqual((await gateway.inject('/hero/JEDI')).json(), { hero: { name: 'R2-D2' } });
    deepEqual(asked(), { episode: 'JEDI' });
  });

  it('sends a query with variables from the body', async () => {
    await gateway.inject({ url: '/reviews/JEDI', method: 'POST', payload: { review: { stars: 5 } } });
    deepEqual(asked(), { ep: 'JEDI', review: { stars: 5 } });
  });
});
