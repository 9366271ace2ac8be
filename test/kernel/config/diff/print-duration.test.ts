import { equal } from 'node:assert/strict';
import { readDuration } from '../../../../kernel/config/index.ts';
import { printDuration } from '../../../../kernel/config/schema/duration.ts';

describe('a printed duration', () => {
  for (const text of ['0s', '1h', '90m', '2s', '1500ms', '90us', '70us', '1ns', '123456789ns', '87600h']) {
    it(`equals the source text ${text}`, () => equal(printDuration(readDuration(text)!), text));
  }

  for (const text of ['999999h59m59s', '999999h999999h30m', '8h'.repeat(8), '1.25h', '0.001ms', '999999999s999ms']) {
    it(`lasts exactly as long as ${text}`, () => {
      const milliseconds = readDuration(text)!;
      equal(readDuration(printDuration(milliseconds)), milliseconds);
    });
  }
});
