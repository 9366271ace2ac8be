import { equal, ok, throws } from 'node:assert/strict';
import { parseDuration } from '../../../kernel/config/index.ts';
import { cost } from '../../support/cost.ts';

describe('the duration parser', () => {
  const accepted: readonly (readonly [text: string, milliseconds: number])[] = [
    ['250ns', 0.00025],
    ['90us', 0.09],
    ['90\u00b5s', 0.09],
    ['90\u03bcs', 0.09],
    ['1500ms', 1500],
    ['2s', 2000],
    ['3m', 180_000],
    ['1h', 3_600_000],
    ['0s', 0],
    ['1.5s', 1500],
    ['.5s', 500],
    ['1h30m', 5_400_000],
    ['1m1s1ms', 61_001],
    ['1.s', 1000],
    ['007s', 7000],
    ['999999h', 3_599_996_400_000],
    ['9999999m', 599_999_940_000],
    ['999999999s', 999_999_999_000],
    ['2000000000ns', 2000],
    ['1h1h1h1h1h1h1h1h', 28_800_000],
  ];
  for (const [text, milliseconds] of accepted) {
    it(`reads ${text} as ${milliseconds} milliseconds`, () => equal(parseDuration(text), milliseconds));
  }

  for (const text of ['', '2', '0', 's', '2d', '-1s', '+1s', '1 s', '1s ', '1e3s', '1.2.3s', '9'.repeat(400) + 's']) {
    it(`rejects ${JSON.stringify(text.slice(0, 20))}`, () => throws(() => parseDuration(text), RangeError));
  }

  for (const text of ['1000000h', '99999999h', '100000000m', '10000000000s', `1m${'9'.repeat(400)}s`]) {
    it(`rejects ${text.slice(0, 20)} as too long a duration`, () =>
      throws(() => parseDuration(text), /is longer than 999999h$/));
  }

  it('rejects durations of more than eight parts', () =>
    throws(() => parseDuration('1h'.repeat(9)), /is not a duration/));

  it('rejects a long text without parsing it completely', () => {
    const text = `${'1s'.repeat(50_000)}x`;
    ok(cost(() => throws(() => parseDuration(text), RangeError)) < 500);
  });
});
