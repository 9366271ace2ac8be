import { deepEqual, rejects } from 'node:assert/strict';
import { HeaderBag, type PipeRequest, Reply } from '#contract';
import type { VaultServer } from '../../../plugins/secrets/vault/api.ts';
import { Session } from '../../../plugins/secrets/vault/session.ts';
import { until } from '../../support/conditions.ts';
import { rememberingLog } from '../../support/log.ts';

describe('a login of secrets/vault that several calls share', () => {
  it('is repeated for the other calls if the call that began it is canceled', async () => {
    const logins: ((text: string) => void)[] = [];
    const answered = (data: object) => Reply.raw(200, new HeaderBag(), Buffer.from(JSON.stringify(data)));
    const server = {
      ...{ address: new URL('http://vault.test'), namespace: undefined, log: rememberingLog(), timeoutMs: 60_000 },
      send({ target }: PipeRequest, call) {
        if (!target.endsWith('/login')) return answered({ data: { a: 1 } });
        return new Promise<Reply>((resolve, reject) => {
          call.onCancel(reject);
          logins.push((text) => resolve(answered({ auth: { client_token: text } })));
        });
      },
    } as VaultServer;
    const session = new Session({ path: 'auth/approle/login', fields: {}, files: {} } as never);
    const [first, second] = [new AbortController(), new AbortController()];
    const canceled = session.call(server, 'GET', 'kv/a', first.signal);
    const waiting = session.call(server, 'GET', 'kv/a', second.signal);
    await until(() => logins.length === 1);
    first.abort();
    await rejects(canceled);
    await until(() => logins.length === 2);
    logins[1]!('token');
    deepEqual(await waiting, { data: { a: 1 } });
  });
});
