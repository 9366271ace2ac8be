import { equal, ok } from 'node:assert/strict';
import { kinds } from '../../../../plugins/ai/redaction/kinds.ts';
import { Placeholders } from '../../../../plugins/ai/redaction/placeholders.ts';
import { Redactor } from '../../../../plugins/ai/redaction/redactor.ts';

describe('kinds of personal data', () => {
  const redactor = new Redactor(kinds, []);
  const redact = (text: string) =>
    redactor.redact(
      text,
      new Placeholders(
        () => '',
        () => {},
      ),
    );

  for (const [text, redacted] of [
    ['Write to ada.lovelace+x@mail.example.co.uk.', 'Write to [EMAIL_1].'],
    ['a@b.de, c@d.org, a@b.de', '[EMAIL_1], [EMAIL_2], [EMAIL_1]'],
    ['Post: jörg@müller.example', 'Post: [EMAIL_1]'],
    ['DE89 3704 0044 0532 0130 00 is mine', '[IBAN_1] is mine'],
    ['GB82WEST12345698765432', '[IBAN_1]'],
    ['fr14 2004 1010 0505 0001 3m02 606, thanks', '[IBAN_1], thanks'],
    ['DE89 3704 0044 0532 0130 00 IST MEINE', '[IBAN_1] IST MEINE'],
    ['4111 1111 1111 1111', '[CARD_1]'],
    ['5500-0000-0000-0004 and 378282246310005', '[CARD_1] and [CARD_2]'],
    ['SSN 123-45-6789', 'SSN [NATIONAL_ID_1]'],
    ['AB 12 34 56 C', '[NATIONAL_ID_1]'],
    ['12345678Z and X1234567L', '[NATIONAL_ID_1] and [NATIONAL_ID_2]'],
    ['1 85 05 78 006 084 91', '[NATIONAL_ID_1]'],
    ['CPF 529.982.247-25', 'CPF [NATIONAL_ID_1]'],
    ['86 095 742 719', '[NATIONAL_ID_1]'],
    ['from 192.168.10.254 to 2001:db8::8a2e:370:7334', 'from [IP_1] to [IP_2]'],
    ['Call +49 (30) 901820-0 or 0049 30 901820.', 'Call [PHONE_1] or [PHONE_2].'],
    ['(555) 123-4567, 030/1234567', '[PHONE_1], [PHONE_2]'],
  ] as const) {
    it(`are replaced in ${text}`, () => equal(redact(text), redacted));
  }

  for (const text of [
    'user@localhost, @handle, a@b',
    'DE88370400440532013002',
    'XX22 1234 5678 9012 3456 78',
    '4111 1111 1111 1112',
    'order 1234567890123456789012345',
    '000-12-3456, 666-12-3456, 900-12-3456, 123-00-4567, 123-45-0000',
    '12345678A and X1234567A',
    '1 85 05 78 006 084 92',
    '529.982.247-26, 111.111.111-11',
    '86095742718',
    '256.1.1.1, 1.2.3, 1.2.3.4.5',
    'std::vector, 12:30:45, ::',
    '2026-11-26 12:00, 1,234,567.89, 550e8400-e29b-41d4-a716-446655440000',
    'https://example.com/path?id=12345',
  ]) {
    it(`are not found in ${text}`, () => equal(redact(text), text));
  }

  for (const [what, unit] of [
    ['letters', 'a'],
    ['digits', '1'],
    ['digits with separators', '1 '],
    ['at signs', 'a@'],
    ['domain labels', 'a@a.a'],
    ['colons', 'a:'],
    ['plus signs', '+1'],
    ['zeros', '0 1'],
  ] as const) {
    it(`are searched in a megabyte of ${what} in linear time`, () => {
      const text = unit.repeat(1_000_000 / unit.length);
      // With a search that starts anew at every character, this would take hours.
      ok(redact(text).length > 0);
    });
  }
});
