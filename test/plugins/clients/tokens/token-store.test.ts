import { deepEqual } from 'node:assert/strict';
import type { Site } from '#contract';
import { TokenStore } from '../../../../plugins/clients/tokens/token-store.ts';

describe('a token that two processes need at the same time', () => {
  it('is requested once, even if a process gets the permission to request it after the other process has finished', async () => {
    const requested: string[] = [];
    const issued: string[] = [];
    let learn: ((change: unknown) => void) | null = null;
    const site = {
      use: () => ({ now: () => 1000 }),
      defer() {},
      mirror: (_key: unknown, { open, apply }: { open(): object; apply(value: object, change: unknown): void }) => {
        const value = open();
        learn = (change) => apply(value, change);
        return { value, change: (change: unknown) => learn!(change) };
      },
      // The token that another process has requested arrives before this process gets the permission to request one.
      share: () => async (what: string) => {
        requested.push(what);
        await Promise.resolve();
        if (what === 'begin') learn!({ authorization: 'Bearer theirs', ageMs: 0, leftMs: 60_000 });
        return 1;
      },
    };
    const store = new TokenStore(site as unknown as Site<unknown>, 'key', {
      reserveMs: 0,
      issue: async () => {
        issued.push('own');
        return { authorization: 'Bearer own', lifeMs: null } as never;
      },
    });
    const { authorization } = await store.get();
    deepEqual([authorization, issued, requested], ['Bearer theirs', [], ['begin', 'end']]);
  });
});
