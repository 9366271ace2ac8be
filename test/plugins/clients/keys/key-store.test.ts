import { equal } from 'node:assert/strict';
import type { MirrorOptions, Site } from '#contract';
import { BUSY } from '../../../../plugins/clients/keys/download-gate.ts';
import { KeyStore } from '../../../../plugins/clients/keys/key-store.ts';
import { until } from '../../../support/conditions.ts';

describe('the copy of a key set in a worker', () => {
  const set = JSON.stringify({ keys: [{ kty: 'oct', kid: 'a', k: 'YQ' }] });

  /** A worker that receives `BUSY` from the main process because another worker is downloading. */
  function openBusy(respond: () => Promise<number>) {
    let report: () => void = () => {};
    const closing: (() => void)[] = [];
    const site = {
      use: () => ({ now: () => 0 }),
      mirror(_key: unknown, sections: MirrorOptions<unknown, never>) {
        const value = sections.open();
        report = () => sections.apply(value, { text: set, age: 0 } as never);
        return { value, change: () => {} };
      },
      share: () => respond,
      defer: (close: () => void) => closing.push(close),
    };
    const server = { identity: 'a', fetch: () => Promise.reject(new Error('not asked')) };
    const store = new KeyStore(site as unknown as Site<unknown>, server);
    return { store, tell: () => report(), close: () => closing.forEach((each) => void each()) };
  }

  it('contains the keys that another worker has downloaded after the notification about them', async () => {
    const { store, tell: report, close } = openBusy(async () => BUSY);
    const refreshing = store.refresh('stale');
    await new Promise(setImmediate);
    report();
    await refreshing;
    equal(store.fresh(1000)?.keys.length, 1);
    close();
  });

  it('does not wait for a notification that arrived together with the response', async () => {
    let response: (value: number) => void = () => {};
    const {
      store,
      tell: report,
      close,
    } = openBusy(
      () =>
        new Promise((resolve) => {
          response = resolve;
        }),
    );
    let isOver = false;
    const refreshing = store.refresh('stale')!.then(() => {
      isOver = true;
    });
    response(BUSY);
    report();
    await new Promise(setImmediate);
    equal(isOver, true);
    close();
    await refreshing;
  });

  it('stops waiting when its configuration is replaced', async () => {
    const { store, close } = openBusy(async () => BUSY);
    let isOver = false;
    void store.refresh('stale')!.then(() => {
      isOver = true;
    });
    await new Promise(setImmediate);
    close();
    await until(() => isOver);
  });
});
