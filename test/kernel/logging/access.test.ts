import { deepEqual, equal, match } from 'node:assert/strict';
import { type AccessRecord, HeaderBag, type LogSinks } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { accessLine } from '../../../kernel/logging/access.ts';
import { createAccessWriter, joinLogging } from '../../../kernel/logging/index.ts';
import { printDuration } from '../../../kernel/logging/timestamp.ts';

function record(given: Partial<AccessRecord> = {}): AccessRecord {
  return {
    endedAt: new Date(2024, 0, 2, 3, 4, 5, 678).getTime(),
    latencyMs: 0.004529,
    status: 200,
    method: 'GET',
    path: '/a',
    search: '',
    host: 'gateway.test',
    ip: '127.0.0.1',
    secure: false,
    httpVersion: '1.1',
    requestHeaders: new HeaderBag(),
    errors: [],
    endpoint: '/a',
    route: null,
    completed: true,
    tls: null,
    certificate: null,
    call: null,
    ...given,
  };
}

function written(router: { disable_access_log: boolean; logger_skip_paths: string[] }, records: AccessRecord[]) {
  const lines: string[] = [];
  const sink = { terminal: false, lost: 0, write: (line: string) => void lines.push(line) };
  const sinks: LogSinks = { stdout: sink, stderr: sink, lost: 0, open: () => ({ ...sink, close() {} }) };
  const write = createAccessWriter(router, joinLogging([], sinks), sinks, silentLog);
  for (const one of records) write?.(one);
  return lines;
}

describe('a line of the built-in access log', () => {
  it('has fixed columns', () => {
    equal(
      accessLine(record({ search: 'x=1' })),
      '[GATEWAY] 2024/01/02 - 03:04:05 | 200 |       4.529µs |       127.0.0.1 | GET      "/a?x=1"\n',
    );
  });

  it('is followed by one line for every error', () => {
    const errors = [{ message: 'first' }, { message: 'sec\nond' }];
    const [, one, two] = accessLine(record({ errors })).split('\n');
    deepEqual([one, two], ['Error #01: first', 'Error #02: sec\\nond']);
  });

  it('cannot be forged by the path', () => {
    const line = accessLine(record({ path: '/a"\\\x85\n[GATEWAY] fake' }));
    match(line, /"\/a\\"\\\\\\x85\\n\[GATEWAY\] fake"\n$/);
    equal(line.split('\n').length, 2);
  });

  it('prints the latency in the largest suitable unit', () => {
    deepEqual([0.0000005, 0.000812, 0.004529, 12.5, 1200, 59_999.5, 63_900, 3_725_000].map(printDuration), [
      '1ns',
      '812ns',
      '4.529µs',
      '12.5ms',
      '1.2s',
      '59.9995s',
      '1m3s',
      '1h2m5s',
    ]);
    equal(printDuration(0), '0s');
  });
});

describe('the access log', () => {
  it('is not written if the router settings disable it', () => {
    deepEqual(written({ disable_access_log: true, logger_skip_paths: [] }, [record()]), []);
  });

  it('skips the listed paths, with and without a query, and no others', () => {
    const router = { disable_access_log: false, logger_skip_paths: ['/__health'] };
    const records = [
      record({ path: '/__health' }),
      record({ path: '/__health', search: 'x=1' }),
      record({ path: '/__health/more' }),
    ];
    const lines = written(router, records);
    equal(lines.length, 1);
    match(lines[0]!, /"\/__health\/more"/);
  });
});
