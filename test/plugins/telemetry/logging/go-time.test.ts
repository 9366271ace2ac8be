import { equal } from 'node:assert/strict';
import { compileLayout } from '../../../../plugins/telemetry/logging/go-time.ts';

const moment = Date.UTC(2024, 1, 9, 5, 7, 8, 90);
const utc = (layout: string, timeMs = moment) => compileLayout(layout, true)(timeMs);

describe('a Go time layout', () => {
  for (const [layout, text] of [
    ['2006-01-02T15:04:05.000Z07:00', '2024-02-09T05:07:08.090Z'],
    ['2006-01-02T15:04:05.000+00:00', '2024-02-09T05:07:08.090+00:00'],
    ['2006-01-02T15:04:05.999-07:00', '2024-02-09T05:07:08.09+00:00'],
    ['2006-01-02T15:04:05.000000-0700', '2024-02-09T05:07:08.090000+0000'],
    ['2006/01/02 - 15:04:05.000', '2024/02/09 - 05:07:08.090'],
    ['Monday, 2 January 06', 'Friday, 9 February 24'],
    ['Mon Jan _2 3:04:05pm MST', 'Fri Feb  9 5:07:08am UTC'],
    ['002 __2 03 1', '040  40 05 2'],
    ['kitchen', '5:07AM'],
    ['RFC3339', '2024-02-09T05:07:08Z'],
    ['15h04,000 Janet', '05h07,090 Janet'],
  ] as const) {
    it(`prints ${layout}`, () => equal(utc(layout), text));
  }

  it('prints the current time from one second to the next', () => {
    const print = compileLayout('05.000', true);
    equal(print(moment), '08.090');
    equal(print(moment + 5), '08.095');
    equal(print(moment + 1000), '09.090');
    equal(print(moment), '08.090');
  });

  it('prints local time with its offset', () => {
    const text = compileLayout('2006-01-02T15:04:05.000-07:00')(moment);
    equal(Date.parse(text), moment);
  });
});
