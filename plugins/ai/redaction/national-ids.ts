/** A national number: how it is written, and whether its check digits are valid. */
interface NationalNumber {
  readonly form: string;
  readonly isValid: (text: string) => boolean;
}

const compact = (text: string) => text.replace(/[ .-]/g, '').toUpperCase();

/** Numbers with their usual separators. Numbers without a checksum require them, because any number would match. */
const numbers: readonly NationalNumber[] = [
  // US: social security number. 000, 666 and 9xx are never issued.
  { form: '(?!000|666|9)\\d{3}-(?!00)\\d{2}-(?!0000)\\d{4}', isValid: () => true },
  // GB: National Insurance number.
  {
    form: '[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\\d{2} ?\\d{2} ?\\d{2} ?[A-D]',
    isValid: (text) => !/^(?:BG|GB|NK|KN|TN|NT|ZZ)/.test(text),
  },
  // ES: DNI and NIE, with a check letter.
  { form: '(?:\\d{8}|[XYZ]-?\\d{7})-?[A-Z]', isValid: isSpanish },
  // FR: NIR, with two check digits.
  { form: '[12] ?\\d{2} ?\\d{2} ?\\d{2} ?\\d{3} ?\\d{3} ?\\d{2}', isValid: isFrench },
  // BR: CPF, with two check digits.
  { form: '\\d{3}\\.?\\d{3}\\.?\\d{3}-?\\d{2}', isValid: isBrazilian },
  // DE: tax ID, with a check digit.
  { form: '[1-9]\\d ?\\d{3} ?\\d{3} ?\\d{3}', isValid: isGerman },
];

/** All numbers in one expression. A candidate is valid if it has one of the forms with a valid checksum. */
export const nationalId = {
  pattern: new RegExp(`(?<![\\w.-])(?:${numbers.map(({ form }) => form).join('|')})(?![\\w-]?\\w)`, 'g'),
  isValid: (candidate: string): boolean =>
    numbers.some(({ form, isValid }) => new RegExp(`^(?:${form})$`).test(candidate) && isValid(compact(candidate))),
};

function isSpanish(text: string): boolean {
  const number = Number(text.slice(0, -1).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter))));
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23] === text.at(-1);
}

function isFrench(text: string): boolean {
  const month = Number(text.slice(3, 5));
  const hasMonth = (month >= 1 && month <= 12) || (month >= 20 && month <= 99);
  return hasMonth && 97 - (Number(text.slice(0, 13)) % 97) === Number(text.slice(13));
}

function isBrazilian(text: string): boolean {
  if (/^(\d)\1*$/.test(text)) return false;
  const checkDigit = (length: number) => {
    let sum = 0;
    for (let at = 0; at < length; at++) sum += Number(text[at]) * (length + 1 - at);
    return ((sum * 10) % 11) % 10;
  };
  return checkDigit(9) === Number(text[9]) && checkDigit(10) === Number(text[10]);
}

/** Checks a German tax ID: ISO 7064 MOD 11,10, and exactly one digit occurs more than once among the first ten. */
function isGerman(text: string): boolean {
  const repeated = new Set(text.slice(0, 10)).size;
  if (repeated !== 9 && repeated !== 8) return false;
  let product = 10;
  for (const digit of text.slice(0, 10)) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === Number(text[10]);
}
