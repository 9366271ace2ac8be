import { equal, rejects } from 'node:assert/strict';
import { decodeInSlices, decodeText } from '../../../kernel/config/syntax/load.ts';

describe('a text that is decoded from UTF-8 in slices', () => {
  for (const [what, text] of [
    ['an empty text', ''],
    ['characters of one byte', 'a'.repeat(5_000_000)],
    ['characters of three bytes, wherever a slice ends', `x${'€'.repeat(1_500_000)}`],
    ['a byte order mark', `\ufeff{"a": 1}`],
  ] as const) {
    it(`equals the text decoded in one go: ${what}`, async () => {
      const bytes = Buffer.from(text);
      equal(await decodeInSlices(bytes, 'gateway.json'), decodeText(bytes, 'gateway.json'));
    });
  }

  for (const [what, end] of [
    ['invalid UTF-8', [0xff]],
    ['an incomplete character', [0xe2, 0x82]],
  ] as const) {
    it(`is rejected if it ends with ${what}`, async () => {
      const bytes = Buffer.concat([Buffer.from('a'.repeat(5_000_000)), Buffer.from(end)]);
      await rejects(decodeInSlices(bytes, 'gateway.json'), (error: Error) =>
        /the text is not UTF-8/.test(error.message),
      );
    });
  }
});
