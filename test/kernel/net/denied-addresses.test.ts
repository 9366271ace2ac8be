import { deepEqual, equal } from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeniedAddresses } from '../../../kernel/contract/internal.ts';

describe('denied addresses of an admin port', () => {
  const denied = (address: string) => {
    const addresses = new DeniedAddresses();
    addresses.deny({ address, port: 7000 });
    return addresses;
  };

  it('are recognized in every notation', () => {
    const addresses = denied('127.0.0.1');
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '::FFFF:127.0.0.1', '::ffff:7f00:1', '0.0.0.0', '::']) {
      equal(addresses.has(address, 7000), true, address);
    }
    for (const address of ['127.0.0.2', '::1', '10.0.0.1', '::ffff:10.0.0.1', '']) {
      equal(addresses.has(address, 7000), false, address);
    }
    equal(addresses.has('127.0.0.1', 7001), false);
  });

  it('include all addresses of the machine if the port listens on all', () => {
    const own = Object.values(networkInterfaces()).flatMap((known) => (known ?? []).map(({ address }) => address));
    for (const everywhere of ['0.0.0.0', '::']) {
      const addresses = denied(everywhere);
      for (const address of [...own, '127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']) {
        equal(addresses.has(address, 7000), true, address);
      }
      equal(addresses.has('192.0.2.1', 7000), false);
    }
  });

  it('include Unix sockets, also through symbolic links, and ignore circular links', () => {
    const folder = mkdtempSync(join(tmpdir(), 'denied-'));
    const [file, link, loop] = ['file', 'link', 'loop'].map((name) => join(folder, name)) as [string, string, string];
    try {
      writeFileSync(file, '');
      symlinkSync(file, link);
      symlinkSync(loop, loop);
      const addresses = new DeniedAddresses();
      for (const path of [loop, file]) addresses.deny({ address: `unix:${path}`, port: 0 });
      deepEqual(
        [file, link, loop, folder].map((path) => addresses.hasSocket(path)),
        [true, true, false, false],
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('are allowed again when their registration is removed, each separately', () => {
    const addresses = denied('127.0.0.1');
    const allow = addresses.deny({ address: '127.0.0.1', port: 7000 });
    allow();
    equal(addresses.has('127.0.0.1', 7000), true);
    addresses.deny({ address: '::1', port: 7002 })();
    equal(addresses.hasPort(7002), false);
    deepEqual(addresses.all, [{ address: '127.0.0.1', port: 7000 }]);
  });

  it('can be replaced by those of another process', () => {
    const addresses = denied('127.0.0.1');
    addresses.replace([{ address: '127.0.0.1', port: 7001 }]);
    deepEqual([addresses.hasPort(7000), addresses.hasPort(7001)], [false, true]);
  });
});
