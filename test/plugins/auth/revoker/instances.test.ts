import { deepEqual, equal } from 'node:assert/strict';
import { Instances, type Pushing } from '../../../../plugins/auth/revoker/server/instances.ts';

describe('the gateways of a revoke server', () => {
  it('receive all revocations again if one was missed while the filter was serialized', async () => {
    const instances = new Instances();
    const requested: string[] = [];
    let isDeaf = true;
    const pushing: Pushing = {
      ask: async ({ pathname }) => {
        requested.push(pathname);
        return pathname === '/add' && isDeaf ? 503 : 200;
      },
      workers: 1,
      retries: 0,
      patienceMs: 1000,
    };
    const { signal } = new AbortController();
    const hear = () => instances.heard('one', '10.0.0.7', 1234, 'run', 0);
    const id = hear()!;
    const packing = Promise.withResolvers<Uint8Array>();
    const completed = instances.complete(id, () => packing.promise, pushing, signal);
    deepEqual(await instances.push(Buffer.from('{}'), pushing, signal), { instances: 1, failed: 1 });
    packing.resolve(Buffer.alloc(0));
    equal(await completed, null);
    isDeaf = false;
    equal(hear(), id);
    equal(await instances.complete(id, async () => Buffer.alloc(0), pushing, signal), null);
    equal(hear(), null);
    deepEqual(requested, ['/add', '/union', '/union']);
  });
});
