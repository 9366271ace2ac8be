import { equal, rejects } from 'node:assert/strict';
import { decodeInSlices, decodeText } from '../../../kernel/config/syntax/load.ts';

describe('a text that is decoded in slices', () => {
  for (const [what, text] of [
    ['nothing', ''],
    ['letters of one byte', 'a'.repeat(5_000_000)],
    ['letters of three bytes, wherever a slice ends', `x${'€'.repeat(1_500_000)}`],
    ['a mark of the byte order', `\ufeff{"a": 1}`],
  ] as const) {
    it(`is what it is as a whole: ${what}`, async () => {
      const bytes = Buffer.from(text);
      equal(await decodeInSlices(bytes, 'gateway.json'), decodeText(bytes, 'gateway.json'));
    });
  }

  for (const [what, end] of [
    ['what is not valid UTF-8', [0xff]],
    ['a letter that is cut off', [0xe2, 0x82]],
  ] as const) {
    it(`is rejected if it ends with ${what}`, async () => {
      const bytes = Buffer.concat([Buffer.from('a'.repeat(5_000_000)), Buffer.from(end)]);
      await rejects(decodeInSlices(bytes, 'gateway.json'), (error: Error) =>
        /the text is not UTF-8/.test(error.message),
      );
    });
  }
});
