const DIGITS: Readonly<Record<string, RegExp>> = {
  b: /^[01]+$/,
  o: /^[0-7]+$/,
  x: /^[0-9a-f]+$/,
};

const DECIMAL = /^(?:\d[\d_]*)?(?:\.[\d_]*)?(?:[eE][+-]?\d+)?$/;

/**
 * Parses a number in Go syntax: `1_000`, `0x1F`, `0b101`, `0o17`, `017`, `1.5e3`.
 * @returns a bigint for an integer, a number if there is a point or an exponent, undefined for an invalid number.
 */
export function readNumber(written: string): bigint | number | undefined {
  const sign = written.startsWith('-') ? -1 : 1;
  const text = written.replace(/^[+-]/, '');
  if (/__|_$|^_|_\.|\._|_[eE]/.test(text)) return undefined;
  const plain = text.replaceAll('_', '');
  const [, base, digits] = /^0([bBoOxX])(.+)$/.exec(plain) ?? [];
  if (base !== undefined) return based(base.toLowerCase(), digits!.toLowerCase(), sign);
  if (/^0\d+$/.test(plain)) return based('o', plain.slice(1), sign);
  if (!DECIMAL.test(text) || !/\d/.test(text)) return undefined;
  if (/^\d+$/.test(plain)) return inRange(BigInt(sign) * BigInt(plain));
  const value = sign * Number(plain);
  return Number.isFinite(value) ? value : undefined;
}

function based(base: string, digits: string, sign: number): bigint | undefined {
  return DIGITS[base]!.test(digits) ? inRange(BigInt(sign) * BigInt(`0${base}${digits}`)) : undefined;
}

function inRange(value: bigint): bigint | undefined {
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
