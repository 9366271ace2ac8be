import { deepEqual } from 'node:assert/strict';
import { mock } from 'node:test';
import { LimitedLog } from '../../../kernel/containment/limited-log.ts';

describe('a log limited to one line a second for each subject', () => {
  let lines: string[];
  let log: LimitedLog;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    lines = [];
    log = new LimitedLog((line) => lines.push(line));
  });
  afterEach(() => {
    log.close();
    mock.timers.reset();
  });

  it('writes the first line immediately, and after a second the latest suppressed line', () => {
    log.write('loop', 'held for 51 ms', ' at a.ts');
    log.write('loop', 'held for 600 ms', ' at b.ts');
    log.write('loop', 'held for 70 ms');
    deepEqual(lines, ['held for 51 ms at a.ts']);
    mock.timers.tick(1000);
    deepEqual(lines.slice(1), ['held for 70 ms (2 more in the last second)']);
    log.write('loop', 'held for 80 ms');
    mock.timers.tick(1000);
    deepEqual(lines.slice(2), ['held for 80 ms (1 more in the last second)']);
  });

  it('forgets a line that was not repeated', () => {
    log.write('loop', 'held for 51 ms');
    mock.timers.tick(3000);
    log.write('loop', 'held for 52 ms', ' at a.ts');
    deepEqual(lines, ['held for 51 ms', 'held for 52 ms at a.ts']);
  });

  it('limits each subject separately', () => {
    log.write('one', 'a');
    log.write('other', 'b');
    deepEqual(lines, ['a', 'b']);
  });
});
