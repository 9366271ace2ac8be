import { equal } from 'node:assert/strict';
import { printDuration } from '../../../../kernel/config/diff/print-duration.ts';
import { readDuration } from '../../../../kernel/config/index.ts';

describe('printing a duration', () => {
  for (const text of ['0s', '1h', '90m', '2s', '1500ms', '90us', '70us', '1ns', '123456789ns', '87600h']) {
    it(`gives back ${text}`, () => equal(printDuration(readDuration(text)!), text));
  }
});
