import { deepEqual } from 'node:assert/strict';
import { sluice } from '../kernel/cli/command.ts';
import { startEtcd, type TestEtcd, withoutEtcd } from '../support/etcd.ts';
import { followGuide } from './guide.ts';

(withoutEtcd === null ? describe : describe.skip)(
  `the sample "stores"${withoutEtcd ? ` (${withoutEtcd})` : ''}`,
  function () {
    this.timeout(60_000);
    let etcd: TestEtcd;

    before(async () => {
      etcd = await startEtcd();
    });
    after(() => etcd?.close());

    it('passes check without warnings', async () => {
      const { code, err } = await sluice('check', '-c', 'samples/stores/gateway.json');
      deepEqual([code, err], [0, '']);
    });

    it('has a guide whose commands print the output that it shows', () =>
      followGuide('stores', { ports: { 2379: Number(etcd.host.split(':')[1]) }, attempts: 200 }));
  },
);
