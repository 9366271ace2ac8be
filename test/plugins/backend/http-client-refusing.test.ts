import { deepEqual, equal } from 'node:assert/strict';
import { mock } from 'node:test';
import type { Dispatcher } from 'undici';
import { DeniedAddresses } from '../../../kernel/contract/internal.ts';
import { type Resolve, refusing } from '../../../plugins/backend/http/client/refusing.ts';

const PORT = 8090;

describe('a backend behind a proxy, with the port of the admin API,', () => {
  afterEach(() => mock.timers.reset());

  /** Sends calls whose destination is checked first. @returns the error code of each call; null for a call that is sent. */
  function sending(resolve: Resolve) {
    const denied = new DeniedAddresses();
    denied.deny({ address: '127.0.0.1', port: PORT });
    const outcomes: (string | null)[] = [];
    const dispatch = refusing(
      denied,
      [`http://backend.test:${PORT}`],
      1_000,
      resolve,
    )(() => {
      outcomes.push(null);
      return true;
    });
    const handler = {
      onResponseError: (_: unknown, { code }: NodeJS.ErrnoException) => void outcomes.push(code ?? ''),
    } as Dispatcher.DispatchHandler;
    return { outcomes, send: () => dispatch({ path: '/', method: 'GET' }, handler) };
  }
  const turn = () => new Promise(setImmediate);

  it('is not called if its name cannot be resolved within the connection timeout', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const { outcomes, send } = sending(() => new Promise(() => {}));
    send();
    mock.timers.tick(999);
    await turn();
    deepEqual(outcomes, []);
    mock.timers.tick(1);
    await turn();
    deepEqual(outcomes, ['CONNECT_TIMEOUT']);
  });

  it('has its name resolved once for all calls that wait for it', async () => {
    let lookups = 0;
    const { promise, resolve } = Promise.withResolvers<{ address: string }[]>();
    const { outcomes, send } = sending(() => {
      lookups++;
      return promise;
    });
    for (let call = 0; call < 3; call++) send();
    resolve([{ address: '127.0.0.1' }]);
    await turn();
    equal(lookups, 1);
    deepEqual(outcomes, ['BACKEND_DENIED', 'BACKEND_DENIED', 'BACKEND_DENIED']);
    send();
    await turn();
    equal(lookups, 2);
  });

  it('is called if only the proxy can resolve its name, or if the name leads elsewhere', async () => {
    for (const answer of [Promise.reject(new Error('ENOTFOUND')), Promise.resolve([{ address: '192.0.2.1' }])]) {
      const { outcomes, send } = sending(() => answer);
      send();
      await turn();
      deepEqual(outcomes, [null]);
    }
  });
});
