import { deepEqual, equal } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operations } from '#kernel';
import { LocalTurns } from '../../../../plugins/auth/oidc/turns.ts';
import { until } from '../../../support/conditions.ts';
import { openGateway, rememberingSinks } from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { OidcStage } from './stage.ts';

const program = bundledProgram();

describe('the workers of a gateway with auth/oidc', function () {
  this.timeout(60_000);
  let folder: string;
  let stage: OidcStage;
  let workers: Operations | undefined;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-oidc-'));
    stage = await OidcStage.open();
  });
  afterEach(async () => {
    await workers?.close();
    workers = undefined;
    await stage.close();
    rmSync(folder, { recursive: true });
  });

  /** Starts three workers. */
  const listen = async (): Promise<number> => {
    const file = join(folder, 'gateway.json');
    writeFileSync(file, JSON.stringify({ version: 3, timeout: '20s', ...stage.config() }));
    const gateway = await openGateway(file, {
      port: 0,
      sinks: rememberingSinks(),
      workers: { count: 3, program, args: [] },
    });
    workers = gateway;
    return (await gateway.listen()).port;
  };
  /** Cookie header of a browser that is logged in, at a gateway without workers. */
  const logIn = async (): Promise<string> => {
    await stage.serve();
    const browser = stage.browser();
    await browser.open('/oidc/main/login?return_to=/none');
    return [...browser.own].map((pair) => pair.join('=')).join('; ');
  };
  /** Statuses of requests with a connection of their own: they reach different workers. */
  const statuses = (port: number, count: number, path: string, headers: Record<string, string>) =>
    Promise.all(
      Array.from(
        { length: count },
        () =>
          new Promise<number>((resolve, reject) => {
            request({ port, path, headers, agent: false }, (response) => {
              response.resume().on('end', () => resolve(response.statusCode!));
            })
              .on('error', reject)
              .end();
          }),
      ),
    );

  it('refresh a session once', async () => {
    stage.provider.accessSeconds = 5;
    const cookie = await logIn();
    stage.provider.accessSeconds = 3600;
    stage.provider.requests.length = 0;
    const port = await listen();
    const results = await statuses(port, 24, '/a', { cookie, accept: 'application/json' });
    deepEqual(new Set(results), new Set([200]));
    equal(stage.count('POST /token'), 1);
  });

  it('all reject copies of a session that one worker has ended', async () => {
    const cookie = await logIn();
    const port = await listen();
    const ask = () => statuses(port, 12, '/a', { cookie, accept: 'application/json' });
    deepEqual(new Set(await ask()), new Set([200]));
    deepEqual(await statuses(port, 1, '/oidc/main/logout', { cookie, 'sec-fetch-site': 'same-origin' }), [303]);
    await until(async () => (await ask()).every((status) => status === 401));
  });
});

describe('the turns of processes to refresh a token with auth/oidc', () => {
  it('are limited to ten thousand, of which the oldest is dropped', () => {
    const turns = new LocalTurns();
    for (let at = 0; at < 10_001; at++) deepEqual(turns.claim(String(at), 60_000), { turn: 'mine' });
    equal(turns.claimed.size, 10_000);
    deepEqual([turns.claim('0', 60_000), turns.claim('9000', 60_000)], [{ turn: 'mine' }, { turn: 'taken' }]);
  });

  it('end with the result, or after a time limit', () => {
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
