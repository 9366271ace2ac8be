import { deepEqual, equal, match, ok } from 'node:assert/strict';
import { readResponse as read, readByNode } from '../../../scripts/fuzz/http1.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const whole = (text: string, method?: string, ends?: boolean) =>
  read([bytes(text)], { ...(method !== undefined && { method }), ...(ends !== undefined && { ends }) });

/** Random numbers that are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const answers = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b c\r\n\r\nhello',
  'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 404 Not Found\r\nX-Empty:\r\nX-Tab:\tx \t\r\ncontent-length:2\r\n\r\nno',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntransfer-encoding: CHUNKED\r\n\r\n00a\r\n0123456789\r\n0\r\nX-T: 1\r\nX-U: 2\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx',
  'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 3\r\n\r\nold',
  '\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend',
  'HTTP/1.1 204 No Content\r\nX-A: b\r\n\r\n',
  'HTTP/1.1 200 OK\r\nX-Bytes: \x80\xff\r\nContent-Length: 2\r\n\r\n\x00\xff',
];

describe('an HTTP/1.1 response', () => {
  it('is parsed identically for any split into chunks', async () => {
    for (const answer of answers) {
      const expected = await whole(answer);
      equal(expected.error, '', answer);
      for (let at = 1; at < answer.length; at += 1) {
        deepEqual(
          await read([bytes(answer.slice(0, at)), bytes(answer.slice(at))]),
          expected,
          `cut at ${at}: ${answer}`,
        );
      }
      deepEqual(await read([...answer].map(bytes)), expected, `byte by byte: ${answer}`);
    }
  });

  it('if it is corrupted, is either parsed like Node.js parses it or rejected', async () => {
    const random = numbers(17);
    const odd = [
      '\r',
      '\n',
      '\r\n',
      '\0',
      ' ',
      '\t',
      ':',
      ';',
      ',',
      '0',
      '9',
      'f',
      '\x7f',
      '\xff',
      'HTTP/1.1 200 OK\r\n',
    ];
    let accepted = 0;
    for (let round = 0; round < 10_000; round += 1) {
      let text = answers[random(answers.length)]!;
      for (let change = random(3); change >= 0; change -= 1) {
        const at = random(text.length);
        text = text.slice(0, at) + odd[random(odd.length)] + text.slice(at + random(3));
      }
      const ours = await whole(text, 'GET', true);
      if (ours.error !== '') continue;
      const theirs = await readByNode(text);
      // A protocol upgrade, which the caller rejects; and bytes after a response, which Node treats as an error.
      if (
        theirs === 'extensions' ||
        ours.status === 101 ||
        (theirs === null && !ours.isReusable && /Content-Length|chunked| 204 /i.test(text))
      ) {
        continue;
      }
      accepted += 1;
      deepEqual({ status: ours.status, body: ours.body }, theirs, JSON.stringify(text));
    }
    ok(accepted > 500, `${accepted} accepted`);
  });

  for (const [what, answer] of [
    ['ends its lines with LF only', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
    ['has a folded header', 'HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 2\r\n\r\nok'],
    ['has a space before a colon', 'HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok'],
    ['has a header without a name', 'HTTP/1.1 200 OK\r\n: 1\r\nContent-Length: 2\r\n\r\nok'],
    ['has a line without a colon', 'HTTP/1.1 200 OK\r\nX-A\r\nContent-Length: 2\r\n\r\nok'],
    ['declares HTTP/2.0', 'HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['declares HTTP/1.2', 'HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['has a status of four digits', 'HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['has a signed Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok'],
    ['has chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['has a chunk with a negative size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n'],
    ['has a chunk without a size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n'],
    ['has an oversized chunk size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffff\r\n'],
    ['has a chunk longer than its size', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n'],
    [
      'has an incomplete line end between its chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a\nok\r\n0\r\n\r\n',
    ],
    [
      'has an incomplete line end in its trailers',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\nC: d\r\n\r\n',
    ],
    ['is an SSH greeting', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ] as const) {
    it(`that ${what} is rejected, and its connection is closed`, async () => {
      const { error, isReusable } = await whole(answer);
      ok(error !== '' && error !== 'unfinished', error);
      equal(isReusable, false);
    });
  }

  it('is rejected at the first invalid byte, before its head is complete', async () => {
    match((await read([bytes('HTTP/1'), bytes('.1 200 OK\r'), bytes('\nX: a\0b')])).error, /not HTTP/);
    match((await read([bytes('HT'), bytes('M')])).error, /not HTTP/);
    equal((await read([bytes('HTTP/1.1 200 OK\r'), bytes('\nX: '), bytes('a\r')])).error, 'unfinished');
  });

  it('is rejected if its head, interim responses, chunk extensions or trailers exceed their limits', async () => {
    const filler = bytes(`X: ${'a'.repeat(60_000)}\r\n`);
    match((await read([bytes('HTTP/1.1 200 OK\r\n'), ...Array(20).fill(filler)])).error, /header/i);
    match((await whole('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(40))).error, /too many/);
    const chunked = bytes('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    match((await read([chunked, bytes(`1;${'a'.repeat(20_000)}`)])).error, /extensions/);
    match((await read([chunked, bytes('0\r\n'), filler, filler])).error, /trailers/);
  });

  it('can have trailers after its chunks, without hop-by-hop headers', async () => {
    const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { trailers } = await whole(`${chunked}0\r\nX-T: 1\r\nTransfer-Encoding: chunked\r\nX-U:\r\n\r\n`);
    deepEqual(trailers, ['X-T', '1', 'X-U', '']);
  });

  it('is rejected if it arrives before the request was sent', async () => {
    const outcome = await read([bytes(answers[0]!)], { isEarly: true });
    deepEqual([outcome.status, outcome.isReusable], [0, false]);
    match(outcome.error, /did not process the request/);
  });

  it('without a length ends with its connection', async () => {
    const { body, error } = await whole('HTTP/1.1 200 OK\r\n\r\nall of it', 'GET', true);
    deepEqual([body, error], ['all of it', '']);
  });

  for (const [what, answer, method, isReusable] of [
    ['a Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'GET', true],
    ['HTTP/1.0 and a Content-Length', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 'GET', false],
    [
      'HTTP/1.0, a Content-Length and keep-alive',
      'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok',
      'GET',
      true,
    ],
    [
      'a Content-Length and Connection: close',
      'HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 2\r\n\r\nok',
      'GET',
      false,
    ],
    ['more bytes than its Content-Length', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!', 'GET', false],
    ['bytes after its last chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n!', 'GET', false],
    ['no body', 'HTTP/1.1 204 No Content\r\n\r\n', 'GET', true],
    ['a Content-Length with 204', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n', 'GET', false],
    ['chunks with 204', 'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n', 'GET', false],
    ['a Content-Length for HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', 'HEAD', false],
    ['a Content-Length with 304', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n', 'GET', true],
  ] as const) {
    it(`that has ${what} ${isReusable ? 'keeps' : 'closes'} its connection`, async () => {
      const outcome = await whole(answer, method);
      deepEqual([outcome.error, outcome.isReusable], ['', isReusable]);
    });
  }
});
