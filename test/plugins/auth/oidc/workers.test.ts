import { deepEqual, equal } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LocalTurns } from '../../../../plugins/auth/oidc/turns.ts';
import { openGateway, rememberingSinks } from '../../../support/gateway.ts';
import { OidcStage } from './stage.ts';

const program = fileURLToPath(new URL('../../../support/worker.ts', import.meta.url));

describe('the workers of a gateway with auth/oidc', function () {
  this.timeout(60_000);

  it('refresh a session once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-oidc-'));
    const stage = await OidcStage.open();
    try {
      stage.provider.accessSeconds = 5;
      await stage.serve();
      const browser = stage.browser();
      await browser.open('/oidc/main/login?return_to=/none');
      const cookie = [...browser.own].map((pair) => pair.join('=')).join('; ');
      stage.provider.accessSeconds = 3600;
      stage.provider.requests.length = 0;
      const file = join(folder, 'gateway.json');
      writeFileSync(file, JSON.stringify({ version: 3, timeout: '20s', ...stage.config() }));
      const gateway = await openGateway(file, {
        port: 0,
        sinks: rememberingSinks(),
        workers: { count: 3, program, args: [] },
      });
      try {
        const { port } = await gateway.listen();
        // Each request has a connection of its own: they reach different workers.
        const statuses = await Promise.all(
          Array.from(
            { length: 24 },
            () =>
              new Promise((resolve, reject) => {
                const headers = { cookie, accept: 'application/json' };
                request({ port, path: '/a', headers, agent: false }, (response) => {
                  response.resume().on('end', () => resolve(response.statusCode));
                })
                  .on('error', reject)
                  .end();
              }),
          ),
        );
        deepEqual(new Set(statuses), new Set([200]));
        equal(stage.count('POST /token'), 1);
      } finally {
        await gateway.close();
      }
    } finally {
      await stage.close();
      rmSync(folder, { recursive: true });
    }
  });
});

describe('turns to refresh tokens with auth/oidc', () => {
  it('are limited to ten thousand, of which the oldest is dropped', () => {
    const turns = new LocalTurns();
    for (let at = 0; at < 10_001; at++) deepEqual(turns.claim(String(at), 60_000), { turn: 'mine' });
    equal(turns.claimed.size, 10_000);
    deepEqual([turns.claim('0', 60_000), turns.claim('9000', 60_000)], [{ turn: 'mine' }, { turn: 'taken' }]);
  });

  it('end with their result, or after their time', () => {
    const turns = new LocalTurns();
    turns.claim('a', 60_000);
    turns.settle('a', 'sealed', 60_000);
    deepEqual(turns.claim('a', 60_000), { result: 'sealed' });
    turns.claim('b', 60_000);
    turns.settle('b', '', 0);
    deepEqual([turns.claim('b', 0), turns.claim('b', 60_000)], [{ turn: 'mine' }, { turn: 'mine' }]);
    turns.settle('a', 'sealed', 0);
    deepEqual(turns.claim('a', 60_000), { turn: 'mine' });
  });
});
