import { equal } from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { hasTooManyParameters } from '#contract';
import { inspectHead, isLength } from '../../../kernel/server/http1/framing.ts';

/** The status with which a request head is rejected; 0 if it is valid. @param lines `Name: value`. */
function refusalOf(lines: readonly string[], httpVersion = '1.1'): number {
  const rawHeaders = lines.flatMap((line) => line.split(': '));
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) headers[rawHeaders[at]!.toLowerCase()] = rawHeaders[at + 1]!;
  return inspectHead({ rawHeaders, headers, httpVersion, url: '/' } as unknown as IncomingMessage);
}

describe('the framing of an HTTP request', () => {
  const lengths: [text: string, is: boolean][] = [
    ['0', true],
    ['007', true],
    ['9007199254740991', true],
    ['9007199254740992', false],
    ['', false],
    ['+5', false],
    ['5e0', false],
    ['5,5', false],
  ];
  for (const [text, is] of lengths) {
    it(`treats ${JSON.stringify(text)} as ${is ? 'a valid' : 'an invalid'} length`, () => equal(isLength(text), is));
  }

  const heads: [lines: string[], status: number, version?: string][] = [
    [['Host: a'], 0],
    [['HOST: a', 'CONTENT-LENGTH: 5'], 0],
    [['host: a', 'TRANSFER-ENCODING: CHUNKED'], 0],
    [[], 400],
    [[], 0, '1.0'],
    [['Host: a'], 505, '0.9'],
    [['Host: a', 'Link: b/c', 'X-Other-Length: x', 'X-Other-Encodings: x'], 0],
    [['Host: a', 'X-Fourteen-Abc: b', 'X-Seventeen-Chars: c'], 0],
    [['Host: a', 'Content-Length: x'], 400],
    [['Host: a', 'Transfer-Encoding: chunked', 'Content-Length: 5'], 400],
    [['Transfer-Encoding: chunked'], 400, '1.0'],
    [['Host: a', 'Transfer-Encoding: gzip'], 501],
    [['Host: a', 'Host: a'], 400],
    [['Host: a/b'], 400],
  ];
  for (const [lines, status, version = '1.1'] of heads) {
    it(`of HTTP/${version} with ${lines.join(', ') || 'no header'} is ${status ? `rejected with ${status}` : 'valid'}`, () => {
      equal(refusalOf(lines, version), status);
    });
  }

  it('can have a thousand query parameters at most', () => {
    const target = (count: number) => `/a?${Array.from({ length: count }, (_, at) => `p${at}=v`).join('&')}`;
    equal(hasTooManyParameters(target(1000)), false);
    equal(hasTooManyParameters(target(1001)), true);
    equal(hasTooManyParameters(`/a?${'&'.repeat(140_000)}`), true);
  });

  it('can have two thousand headers at most', () => {
    const others = (count: number) => Array.from({ length: count }, () => 'a: b');
    equal(refusalOf(['Host: a', ...others(1999)]), 0);
    equal(refusalOf(['Host: a', ...others(2000)]), 431);
  });
});
