import { deepEqual, equal } from 'node:assert/strict';
import { looksUnfinished } from '../../../kernel/runtime/watch/index.ts';
import { debounce } from '../../../kernel/runtime/watch/settle.ts';
import { createWaits } from '../../../kernel/runtime/watch/timers.ts';
import { handTimers } from '../../support/hand-timers.ts';

describe('the debouncing of file events', () => {
  const times = { quietMs: 200, longestMs: 2_000 };

  it('runs once after a quiet period', () => {
    const timers = handTimers();
    const ran: number[] = [];
    const poke = debounce(timers, times, () => ran.push(timers.now()));
    poke();
    timers.advance(150);
    poke();
    timers.advance(1_000);
    deepEqual(ran, [350]);
  });

  it('runs after the maximum delay even if events continue, and starts again', () => {
    const timers = handTimers();
    const ran: number[] = [];
    const poke = debounce(timers, times, () => ran.push(timers.now()));
    for (let at = 0; at < 3_000; at += 100) {
      poke();
      timers.advance(100);
    }
    timers.advance(5_000);
    deepEqual(ran, [2_000, 3_100]);
  });
});

describe('timers of the watcher', () => {
  it('release all waiters when they end, and run nothing afterwards', async () => {
    const timers = handTimers();
    const waits = createWaits(timers);
    let ran = 0;
    waits.after(10, () => ran++);
    const pause = waits.pause(10);
    waits.end();
    await pause;
    await waits.pause(10);
    waits.after(10, () => ran++);
    timers.advance(100);
    equal(ran, 0);
  });
});

describe('the detection of unfinished files', () => {
  const cases: readonly (readonly [file: string, text: string, unfinished: boolean])[] = [
    ['a.json', '', true],
    ['a.txt', '', true],
    ['a.json', ' \n', true],
    ['a.json', '{"a": [1, 2', true],
    ['a.json', '{"a": "b', true],
    ['a.json', '{"a": "b\\"', true],
    ['a.json', '{"a": "b\\', true],
    ['a.json', '\ufeff{"a": 1', true],
    ['a.json', '{"a": 1 /* half a rem', true],
    ['gateway', '{"a": 1', true],
    ['tls.pem', '-----BEGIN CERTIFICATE-----\nMIIB', true],
    [
      'tls.pem',
      '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\nMIIB\n-----EN',
      true,
    ],
    ['a.json', '{"a": [1, 2]}', false],
    ['a.json', '"}{"', false],
    ['a.json', '{"a": "}\\""} // an open end {', false],
    ['a.json', '{"a": [}', false],
    ['a.json', '{"a": "no end of the line\n', false],
    ['a.json', '}', false],
    ['a.yaml', 'a: [', false],
    ['htpasswd', 'user:{x', false],
    ['tls.pem', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n', false],
    ['tls.key', 'not a key', false],
  ];
  for (const [file, text, unfinished] of cases) {
    it(`treats ${file} with ${JSON.stringify(text)} as ${unfinished ? '' : 'not '}unfinished`, () => {
      equal(looksUnfinished(file, Buffer.from(text)), unfinished);
    });
  }
});
