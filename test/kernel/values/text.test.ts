import { equal } from 'node:assert/strict';
import { parseExact, textOf } from '#contract';

const textOfJson = (json: string) => textOf(parseExact(json));

describe('the text form of a value', () => {
  it('is the string itself', () => {
    equal(textOfJson('"a/b?c"'), 'a/b?c');
  });

  it('keeps the digits of a number', () => {
    equal(textOfJson('1034'), '1034');
    equal(textOfJson('-0.5'), '-0.5');
    equal(textOfJson('12345678901234567890'), '12345678901234567890');
  });

  it('is true or false for a boolean', () => {
    equal(textOfJson('true'), 'true');
    equal(textOfJson('false'), 'false');
  });

  it('is <nil> for null', () => {
    equal(textOfJson('null'), '<nil>');
  });

  it('joins the elements of an array with commas', () => {
    equal(textOfJson('[1, "a", null, 12345678901234567890]'), '1,a,<nil>,12345678901234567890');
  });

  it('is empty for an empty array', () => {
    equal(textOfJson('[]'), '');
  });

  it('is compact JSON for an object', () => {
    equal(
      textOfJson('{"a": [1, {"b": null}], "n": 12345678901234567890}'),
      '{"a":[1,{"b":null}],"n":12345678901234567890}',
    );
  });

  it('is JSON for an object inside an array', () => {
    equal(textOfJson('[{"a":1},{"a":2}]'), '{"a":1},{"a":2}');
  });
});
