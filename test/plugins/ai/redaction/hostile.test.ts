import { equal, ok } from 'node:assert/strict';
import { EventRestorer } from '../../../../plugins/ai/redaction/event-restorer.ts';
import { kinds } from '../../../../plugins/ai/redaction/kinds.ts';
import { Placeholders } from '../../../../plugins/ai/redaction/placeholders.ts';
import { Redactor, redactBody } from '../../../../plugins/ai/redaction/redactor.ts';
import { cost } from '../../../support/cost.ts';

/** Maximum processor time for one text, in milliseconds. Quadratic time would be several seconds. */
const LIMIT_MS = 1_500;

const redactor = new Redactor(kinds, []);
const redacted = (text: string) => {
  const placeholders = new Placeholders(
    () => text,
    () => {},
  );
  return redactBody(Buffer.from(text), 'application/json', (piece) => redactor.redact(piece, placeholders)).toString();
};

describe('ai/redaction, with texts that are built to be slow', () => {
  it('takes linear time for a prompt that consists of placeholders', () => {
    const taken = Array.from({ length: 60_000 }, (_, at) => `[EMAIL_${at + 1}]`).join('');
    let result = '';
    const ms = cost(() => {
      result = redacted(JSON.stringify([taken, 'ada@example.com']));
    });
    ok(result.endsWith('"[EMAIL_60001]"]'), result.slice(-50));
    ok(ms < LIMIT_MS, `${Math.round(ms)} ms`);
  });

  it('finds values in strings of many megabytes, and behind as many escapes', () => {
    const sentence = ' ada@example.com "quoted" \\';
    for (const filling of ['x '.repeat(8e6), '\n'.repeat(5e6)]) {
      const result = redacted(JSON.stringify([filling + sentence, sentence]));
      const expected = JSON.stringify([filling + sentence, sentence]).replaceAll('ada@example.com', '[EMAIL_1]');
      ok(result === expected, result.slice(-100));
    }
  });

  describe('in an event of a response', () => {
    const placeholders = new Placeholders(
      () => '',
      () => {},
    );
    for (let count = 0; count < 10_000; count++) placeholders.of('email', `${count}@example.com`);
    const event = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

    it('takes linear time for many texts that resemble the beginning of a placeholder', () => {
      const restorer = new EventRestorer(placeholders);
      const ms = cost(() => restorer.write(event(Array(40_000).fill('[Z'))));
      ok(ms < LIMIT_MS, `${Math.round(ms)} ms`);
    });

    it('holds few beginnings of placeholders back, because each is written as an event of its own', () => {
      const restorer = new EventRestorer(placeholders);
      const texts = Array(1_000).fill('[EMAIL_');
      const first = restorer.write(event(texts));
      const rest = restorer.write(event({ other: 1 }));
      ok(first.length + rest.length < 40 * event(texts).length, `${first.length + rest.length} characters`);
    });

    it('still restores a placeholder that is split over events', () => {
      const restorer = new EventRestorer(placeholders);
      const output = restorer.write(event({ text: 'to [EMA' })) + restorer.write(event({ text: 'IL_2].' }));
      equal(output, event({ text: 'to ' }) + event({ text: '1@example.com.' }));
    });
  });
});
