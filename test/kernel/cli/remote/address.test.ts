import { deepEqual, throws } from 'node:assert/strict';
import { UsageError } from '../../../../kernel/cli/arguments.ts';
import { parseAddress } from '../../../../kernel/cli/remote/address.ts';

describe('the address of an admin port', () => {
  const good: readonly [string, string, string][] = [
    ['127.0.0.1:9180', 'http://127.0.0.1:9180', '127.0.0.1:9180'],
    ['gateway.internal:443', 'http://gateway.internal:443', 'gateway.internal:443'],
    ['localhost:80', 'http://localhost:80', 'localhost:80'],
    [':9180', 'http://127.0.0.1:9180', '127.0.0.1:9180'],
    ['[::1]:9180', 'http://[::1]:9180', '[::1]:9180'],
    ['http://localhost:9180', 'http://localhost:9180', 'localhost:9180'],
    ['https://gateway.internal', 'https://gateway.internal', 'gateway.internal:443'],
    ['https://gateway.internal/admin/', 'https://gateway.internal/admin', 'gateway.internal:443'],
    ['unix:/run/sluice/admin.sock', 'http://unix:/run/sluice/admin.sock:', 'unix:/run/sluice/admin.sock'],
    ['unix:/run/a:b c', 'http://unix:/run/a%3Ab%20c:', 'unix:/run/a:b c'],
  ];
  for (const [text, base, listen] of good) {
    it(`can be ${text}`, () => {
      deepEqual(parseAddress(text), { base, listen });
    });
  }

  for (const text of [
    'off',
    'localhost',
    '9180',
    'unix:admin.sock',
    'a b:1',
    'http://user:x@a:1',
    'http://a:1/x?y',
    'ftp://a:1',
    '',
  ]) {
    it(`cannot be ${JSON.stringify(text)}`, () => {
      throws(() => parseAddress(text), UsageError);
    });
  }
});
