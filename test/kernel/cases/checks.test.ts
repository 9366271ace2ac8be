import { deepEqual, equal, throws } from 'node:assert/strict';
import type { Data } from '#contract';
import { bodyChecks, type ExpectedBody } from '../../../kernel/cases/checks/body.ts';
import { callsCheck, headersOf } from '../../../kernel/cases/checks/calls.ts';
import { differences } from '../../../kernel/cases/checks/differences.ts';
import { headerChecks } from '../../../kernel/cases/checks/headers.ts';
import type { ExpectedCalls, ExpectedHeaders } from '../../../kernel/cases/schema.ts';

const bytes = (text: string) => Buffer.from(text);

describe('the difference between two bodies', () => {
  it('is empty for equal values, regardless of the order of their keys', () => {
    deepEqual(differences({ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }), []);
  });

  it('names each path with the expected and the actual value', () => {
    deepEqual(differences({ user: { name: 'Ann' }, ids: [1, 2] }, { user: { name: 'Bob', age: 7 }, ids: [1] }), [
      '- user.name: "Ann"',
      '+ user.name: "Bob"',
      '+ user.age: 7',
      '- ids[1]: 2',
    ]);
  });

  it('ignores additional keys if the expectation is a part of the body, but not additional entries of a list', () => {
    deepEqual(differences({ user: { name: 'Ann' } }, { user: { name: 'Ann', age: 7 }, more: 1 }, true), []);
    deepEqual(differences({ ids: [1] }, { ids: [1, 2] }, true), ['+ ids[1]: 2']);
  });

  it('treats __proto__ as data', () => {
    const actual = JSON.parse('{"__proto__":{"admin":true}}') as Data;
    deepEqual(differences({}, actual), ['+ __proto__: {"admin":true}']);
    deepEqual(differences(JSON.parse('{"constructor":1}') as Data, {}), ['- constructor: 1']);
  });

  it('masks secrets by their names', () => {
    deepEqual(differences({ password: 'one' }, { password: 'two' }), ['- password: ***', '+ password: ***']);
    deepEqual(differences({}, { login: { password: 'two' } }), ['+ login: {"password":"***"}']);
  });

  it('shows a limited number of differences, and limited values', () => {
    const lines = differences(Array(1000).fill(1), Array(1000).fill(2));
    equal(lines.length, 41);
    equal(differences('', 'x'.repeat(10_000))[1]!.length < 250, true);
  });

  it('distinguishes numbers beyond the precision of JavaScript', () => {
    const [one, other] = ['12345678901234567890', '12345678901234567891'].map((text) => JSON.rawJSON(text) as Data);
    equal(differences(one!, one!).length, 0);
    equal(differences(one!, other!).length, 2);
  });
});

describe('the expectation of a body', () => {
  const messages = (expected: ExpectedBody, body: string): string[] =>
    bodyChecks(expected, '/expect').flatMap((check) => check(bytes(body)).map(({ message }) => message));

  it('compares a string with the text, and other values with its JSON', () => {
    deepEqual(messages({ body: '{"a": 1}' }, '{"a":1}'), ['body differs']);
    deepEqual(messages({ body: { a: 1 } }, '{"a":1}'), []);
    deepEqual(messages({ body: { a: 1 } }, 'no'), ['body is not JSON']);
  });

  it('evaluates JMESPath expressions', () => {
    deepEqual(messages({ jmespath: { 'length(users)': 2, 'users[0].id': 1 } }, '{"users":[{"id":1},{}]}'), []);
    deepEqual(messages({ jmespath: { 'users[0].id': 2 } }, '{"users":[{"id":1}]}'), ['users[0].id differs']);
    deepEqual(messages({ jmespath: { missing: null } }, '{}'), []);
    throws(() => bodyChecks({ jmespath: { 'a[': 1 } }, ''), { code: 'TEST_EXPRESSION' });
  });

  it('validates JSON Schemas, and rejects invalid ones', () => {
    const schema = { type: 'object', required: ['id'], properties: { id: { type: 'string', pattern: '^a+$' } } };
    deepEqual(messages({ body_schema: schema }, '{"id":"aa"}'), []);
    deepEqual(messages({ body_schema: schema }, '{"id":"ab"}'), ['body does not match the schema']);
    const dated = { properties: { at: { format: 'date-time' } } };
    deepEqual(messages({ body_schema: dated }, '{"at":"2026-11-26T18:00:00Z"}'), []);
    deepEqual(messages({ body_schema: dated }, '{"at":"today"}'), ['body does not match the schema']);
    throws(() => bodyChecks({ body_schema: { type: 'thing' } }, ''), { code: 'TEST_SCHEMA' });
    throws(() => bodyChecks({ body_schema: { $ref: 'https://example.com/other.json' } }, ''), { code: 'TEST_SCHEMA' });
    throws(() => bodyChecks({ body_schema: { pattern: '(' } }, ''), { code: 'TEST_PATTERN' });
  });

  it('fails for an endlessly recursive schema', () => {
    deepEqual(messages({ body_schema: { $ref: '#' } }, '{}'), ['body does not match the schema']);
  });

  it('matches expressions in linear time', () => {
    deepEqual(messages({ body_matches: '^(a+)+$' }, `${'a'.repeat(50_000)}b`), ['body does not match ^(a+)+$']);
    throws(() => bodyChecks({ body_matches: '(' }, ''), { code: 'TEST_PATTERN' });
  });
});

describe('the expectation of headers', () => {
  const messages = (expected: ExpectedHeaders, list: string[]): string[] =>
    headerChecks(expected, '')(headersOf(list)).map(({ message }) => message);

  it('compares all values of a header, whose name can be in any letter case', () => {
    deepEqual(
      messages({ 'x-a': '1', 'Set-Cookie': ['a=1', 'b=2'] }, ['X-A', '1', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2']),
      [],
    );
    deepEqual(messages({ 'x-a': '1' }, ['X-A', '2']), ['header x-a differs']);
    deepEqual(messages({ 'x-a': '1' }, []), ['header x-a is missing']);
  });

  it('matches regular expressions, and can require that a header is absent', () => {
    deepEqual(messages({ age: { matches: '^\\d+$' }, 'x-b': { absent: true } } as ExpectedHeaders, ['Age', '7']), []);
    deepEqual(messages({ age: { matches: '^\\d+$' } } as ExpectedHeaders, ['Age', 'x']), [
      'header age does not match ^\\d+$',
    ]);
    deepEqual(messages({ age: { absent: true } } as ExpectedHeaders, ['Age', '7']), ['header age must be absent']);
    deepEqual(messages({ age: { absent: false } } as ExpectedHeaders, []), ['header age is missing']);
  });

  it('masks credentials', () => {
    const [failure] = headerChecks({ Authorization: 'Bearer a' }, '')(headersOf(['Authorization', 'Bearer b']));
    deepEqual(failure!.lines, ['- Authorization: ***', '+ Authorization: ***']);
  });
});

describe('the expectation "calls"', () => {
  const request = (url: string, more: object = {}) => {
    return { protocol: 'http', method: 'GET', url, headers: ['X-A', '1'], body: bytes('{"a":1}'), ...more };
  };
  const messages = (expected: Partial<ExpectedCalls>, ...urls: string[]): string[] => {
    const calls = new Map([['users', urls.map((url) => request(url))]]);
    const response = { status: 200, headers: new Map(), body: bytes(''), ms: 1 };
    return callsCheck('users', expected as ExpectedCalls, '')({ response, calls }).map(({ message }) => message);
  };
  const one = 'http://users/a/1?x=1&y=2&y=3';

  it('compares the number of calls', () => {
    deepEqual(messages({ calls: 1 }, one), []);
    deepEqual(messages({ calls: 0 }, one), ['users was called once, not 0 times']);
    deepEqual(messages({ calls: 2 }), ['users was called 0 times, not 2 times']);
  });

  it('compares method, path, query, headers and body of each request', () => {
    const headers = { 'x-a': '1' };
    const met = { method: 'GET', path: '/a/1', query: { x: '1', y: ['2', '3'] }, headers, body: { a: 1 } };
    deepEqual(messages({ requests: [met] }, one), []);
    const unmet = { method: 'POST', path: '/a/2', query: { x: '1' }, headers: { 'x-a': '2' }, body_contains: { a: 2 } };
    deepEqual(messages({ requests: [unmet] }, one), [
      'request 1 to users: method differs',
      'request 1 to users: path differs',
      'request 1 to users: query differs',
      'request 1 to users: header x-a differs',
      'request 1 to users: body does not contain the expected part',
    ]);
  });

  it('requires as many calls as it lists requests', () => {
    deepEqual(messages({ requests: [{ headers: {} }] }, one, one), ['users was called 2 times, not once']);
  });
});
