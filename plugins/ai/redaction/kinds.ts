import { isIPv6 } from 'node:net';
import { isIban } from './iban.ts';
import { nationalId } from './national-ids.ts';

/**
 * A kind of personal data. The expression finds candidates in time linear in the text: it begins only at the border of a
 * word, and every repetition is bounded. `accepts` validates a candidate.
 */
export interface Kind {
  readonly name: string;
  /** Description of the matched values, for the reference. */
  readonly finds: string;
  readonly pattern: RegExp;
  /**
   * Returns the length of the personal data at the beginning of a candidate; 0 for none. Default: the whole candidate.
   */
  readonly accepts?: (candidate: string) => number;
}

const digitsOf = (text: string) => text.replace(/\D/g, '');

const whole = (isValid: (candidate: string) => boolean) => (candidate: string) =>
  isValid(candidate) ? candidate.length : 0;

/**
 * All kinds, in order of precedence: the first kind that accepts a candidate is used, so longer and validated kinds
 * come first.
 */
export const kinds: readonly Kind[] = [
  {
    name: 'email',
    finds: 'E-mail addresses.',
    pattern:
      /(?<![\w.%+\u0080-\uffff-])[\w.%+\u0080-\uffff-]{1,64}@(?:[A-Za-z0-9\u0080-\uffff](?:[A-Za-z0-9\u0080-\uffff-]{0,61}[A-Za-z0-9\u0080-\uffff])?\.){1,8}[A-Za-z\u0080-\uffff]{2,24}/g,
  },
  {
    name: 'iban',
    finds: 'Account numbers (IBAN) with the length of their country and a valid checksum.',
    pattern: /(?<!\w)[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]){11,30}/g,
    accepts: isIban,
  },
  {
    name: 'card',
    finds: 'Payment card numbers of 13 to 19 digits with a valid checksum (Luhn).',
    pattern: /(?<![\w.])[2-6]\d{3}(?:[ -]?\d){9,15}(?!\d)/g,
    accepts: whole((candidate) => isLuhn(digitsOf(candidate))),
  },
  {
    name: 'national_id',
    finds:
      'Social security numbers (US), National Insurance numbers (GB), DNI and NIE (ES), NIR (FR), CPF (BR) and tax IDs (DE), with their checksums where they have one.',
    pattern: nationalId.pattern,
    accepts: whole(nationalId.isValid),
  },
  {
    name: 'ip',
    finds: 'IPv4 and IPv6 addresses.',
    pattern:
      /(?<![\w.:])(?:(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w.]?\w)|(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:]))/g,
    accepts: whole((candidate) => !candidate.includes(':') || (isIPv6(candidate) && /\d/.test(candidate))),
  },
  {
    name: 'phone',
    finds:
      'Phone numbers with `+` or `00` and the country code, in the form 555-123-4567, or with a leading 0 and a separator.',
    pattern:
      /(?<![\w+.-])(?:(?:\+|00)[1-9](?:[ ()./-]{0,2}\d){7,13}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}|\(?0[1-9]\d{1,4}\)?[ /-]\d{3,8}(?:[ -]\d{1,5}){0,3})(?![\w-]?\d)/g,
    accepts: whole((candidate) => digitsOf(candidate).length >= 7 && digitsOf(candidate).length <= 15),
  },
];

export const kindNames: readonly string[] = kinds.map(({ name }) => name);

function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return digits.length >= 13 && sum % 10 === 0;
}
