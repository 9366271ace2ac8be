import { equal } from 'node:assert/strict';
import { parseExact } from '#contract';
import { compareNumbers, isWhole, type Numeric } from '../../../plugins/shared/values/exact-values.ts';
import { isMultiple, numberKey } from '../../../plugins/validation/json-schema/numbers.ts';
import { compileValidator } from '../../../plugins/validation/json-schema/validator.ts';
import { site } from './json-schema.ts';

const number = (text: string) => parseExact(text) as Numeric;
const check = (schema: string, text: string) =>
  compileValidator(parseExact(schema) as never, site).validateText(text) ?? '';

describe('numbers in validation/json-schema', () => {
  it('are compared without rounding', () => {
    equal(
      check('{"maximum":9007199254740992}', '9007199254740993'),
      '- (root): Must be less than or equal to 9007199254740992',
    );
    equal(check('{"maximum":9007199254740993}', '9007199254740993'), '');
    equal(
      check('{"minimum":9223372036854775807}', '9223372036854775806'),
      '- (root): Must be greater than or equal to 9223372036854775807',
    );
    equal(check('{"minimum":0}', '-1e999'), '- (root): Must be greater than or equal to 0');
    equal(check('{"properties":{"n":{"maximum":5}}}', '{"n":1e999}'), '- n: Must be less than or equal to 5');
  });

  it('are integers if they have no fraction, in any notation', () => {
    for (const text of ['1.0', '1e2', '-0.0', '12345678901234567890', '12345678901234567890.00', '1e400', '0e999']) {
      equal(check('{"type":"integer"}', text), '', text);
    }
    for (const text of ['1.5', '1e-2', '12345678901234567890.5', '1e-400']) {
      equal(check('{"type":"integer"}', text), '- (root): Invalid type. Expected: integer, given: number', text);
      equal(check('{"type":"number"}', text), '', text);
    }
    equal(
      check('{"type":"string"}', '12345678901234567890'),
      '- (root): Invalid type. Expected: string, given: integer',
    );
  });

  it('are equal if their values are equal', () => {
    equal(check('{"const":9007199254740993}', '9007199254740993.0'), '');
    equal(
      check('{"enum":[9007199254740993]}', '9007199254740992'),
      '- (root): (root) must be one of the following: 9007199254740993',
    );
    equal(check('{"uniqueItems":true}', '[9007199254740993,9007199254740992]'), '');
    equal(
      check('{"uniqueItems":true}', '[9007199254740991,9007199254740991.0]'),
      '- (root): array items[0,1] must be unique',
    );
  });

  it('are checked with multipleOf in decimal arithmetic', () => {
    equal(check('{"multipleOf":0.1}', '0.3'), '');
    equal(check('{"multipleOf":0.01}', '19.99'), '');
    equal(check('{"multipleOf":0.003}', '99999999999999.8'), '- (root): Must be a multiple of 0.003');
    equal(check('{"multipleOf":2}', '9007199254740993'), '- (root): Must be a multiple of 2');
    equal(check('{"multipleOf":3}', '9007199254740993'), '');
  });

  it('with huge exponents are compared in constant time', () => {
    equal(isMultiple(number('1e99999999'), number('7')), false);
    equal(isMultiple(number('7e99999999'), number('7')), true);
    equal(compareNumbers(number('1e999999999999999999999'), number('2e888888888')) > 0, true);
  });

  it('of millions of digits are checked with multipleOf in linear time', function () {
    this.timeout(5000);
    const digits = '7'.repeat(20_000_000);
    equal(isMultiple(JSON.rawJSON(digits), number('7')), true);
    equal(isMultiple(JSON.rawJSON(`${digits}8`), number('7')), false);
    equal(isMultiple(JSON.rawJSON(digits), number('123456789012345678901234567890')), false);
  });

  it('with many zeros are parsed in linear time', () => {
    const long = JSON.rawJSON(`1${'0'.repeat(500_000)}1`);
    equal(isWhole(long), true);
    equal(compareNumbers(long, JSON.rawJSON(`1${'0'.repeat(500_000)}2`)), -1);
  }).timeout(2000);

  it('are ordered by sign and value', () => {
    const ordered = [
      '-1e400',
      '-12345678901234567890',
      '-1',
      '-1e-400',
      '0',
      '1e-400',
      '0.1',
      '1',
      '12345678901234567890',
      '1e400',
    ];
    const numbers = ordered.map(number);
    for (const [left, a] of numbers.entries()) {
      for (const [right, b] of numbers.entries()) equal(Math.sign(compareNumbers(a, b)), Math.sign(left - right));
    }
  });

  it('have one canonical form for each value', () => {
    for (const text of ['100', '1e2', '100.0', '0.1e3']) equal(numberKey(JSON.rawJSON(text)), numberKey(100));
    equal(numberKey(number('-0.0')), numberKey(0));
    equal(numberKey(1e21), numberKey(JSON.rawJSON('1000000000000000000000')));
  });
});
