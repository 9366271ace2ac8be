import { deepEqual, equal, match } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Outcome } from '../../support/faulty-port.ts';

const program = fileURLToPath(new URL('../../support/faulty-port.ts', import.meta.url));

describe('an exception in a handler of a client connection', function () {
  this.timeout(120_000);
  let outcomes: readonly Outcome[];

  before(async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 100_000 });
    outcomes = JSON.parse(stdout);
  });

  it('is injected into requests, rejections, first bytes, timers, upgrades, HTTP/2 and handshakes', () => {
    deepEqual(
      outcomes.map(({ fault }) => fault),
      [
        'a request that begins',
        'the code that serves requests',
        'bytes that are not a request',
        'an expectation',
        'the first bytes of a connection',
        'the timer of a silent connection',
        'the choice of an upgrade',
        'data of an upgraded connection',
        'an HTTP/2 request',
        'a TLS handshake that succeeds',
        'a TLS handshake that fails',
        'plain HTTP on the TLS port',
      ],
    );
  });

  it('closes only that connection, and is logged with its client and counted once', () => {
    for (const { fault, logged, counts, other } of outcomes) {
      deepEqual(counts, [['client connection', 1]], fault);
      equal(other, 'HTTP/1.1 200 OK', fault);
      // Only the first of several equal exceptions within a second is logged.
      for (const line of logged)
        match(
          line,
          /^ERROR internal error in client connection of (?:::ffff:)?127\.0\.0\.1:\d+(?: \(GET \/a\))?: .*planted/,
        );
    }
    equal(
      outcomes.some(({ logged }) => logged.length > 0),
      true,
    );
  });
});
