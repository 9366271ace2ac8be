import { deepEqual, equal, match } from 'node:assert/strict';
import { issuesOf, through } from './testbed.ts';

const cookie = { name: 'n', value: 'v' };

describe('the cookies of modifier/martian', () => {
  it('are added to the request without their attributes', async () => {
    const config = { ...cookie, path: '/', secure: true, maxAge: 60, scope: ['request'] };
    const { headers } = await through({ 'cookie.Modifier': config }, { headers: ['Cookie', 'a=1', 'Cookie', 'b=2'] });
    deepEqual(headers, ['Cookie', 'a=1; b=2; n=v']);
    deepEqual((await through({ 'cookie.Modifier': config })).headers, ['Cookie', 'n=v']);
  });

  for (const [what, fields, line] of [
    ['Max-Age and Secure', { maxAge: 60, secure: true }, 'n=v; Max-Age=60; Secure'],
    ['no attributes', {}, 'n=v'],
    ['a max age of 0, which sets no Max-Age', { maxAge: 0 }, 'n=v'],
    ['a negative max age, which expires it', { maxAge: -5 }, 'n=v; Max-Age=0'],
    ['a value with a space in quotes', { value: 'a b' }, 'n="a b"'],
    [
      'everything',
      { path: '/p', domain: '.example.com', expires: '2030-04-12T23:20:50.52+02:00', httpOnly: true },
      'n=v; Path=/p; Domain=example.com; Expires=Fri, 12 Apr 2030 21:20:50 GMT; HttpOnly',
    ],
  ] as const) {
    it(`are set on the response with ${what}`, async () => {
      const { replied } = await through(
        { 'cookie.Modifier': { ...cookie, ...fields, scope: ['response'] } },
        {},
        { headers: ['Set-Cookie', 'own=1'] },
      );
      deepEqual(replied, ['Set-Cookie', 'own=1', 'Set-Cookie', line]);
    });
  }

  const filter = (fields: object) => ({
    'cookie.Filter': {
      name: 'c',
      modifier: { 'header.Modifier': { name: 'X-C', value: 't' } },
      else: { 'header.Modifier': { name: 'X-C', value: 'f' } },
      ...fields,
    },
  });

  for (const [what, fields, header, expected] of [
    ['another value', { value: 'yes' }, 'c=no', 'f'],
    ['the value', { value: 'yes' }, 'a=1; c=yes', 't'],
    ['the value in quotes', { value: 'yes' }, 'c="yes"', 't'],
    ['a filter without a value', {}, 'c=', 't'],
    ['another cookie that holds the name', {}, 'cc=1; x=c=1', 'f'],
    ['text without a name and value', {}, 'c', 'f'],
  ] as const) {
    it(`are matched in a request with ${what}`, async () => {
      const { request } = await through(filter(fields), { headers: ['Cookie', header] });
      equal(request.headers.get('x-c'), expected);
    });
  }

  it('are matched in a response by Set-Cookie', async () => {
    const cookies = ['Set-Cookie', 'a=1', 'Set-Cookie', 'c=yes; Path=/'];
    const given = { headers: cookies };
    equal((await through(filter({ value: 'yes' }), {}, given)).reply.headers.get('x-c'), 't');
    equal((await through(filter({ value: 'yes' }), { headers: ['Cookie', 'c=yes'] })).reply.headers.get('x-c'), 'f');
  });

  for (const [what, fields, issue] of [
    ['an invalid name', { name: 'a b' }, /\/name "a b" is not a valid cookie name/],
    ['a value with a semicolon', { value: 'a; b' }, /\/value the value contains characters/],
    ['a path with a semicolon', { path: '/; Domain=x' }, /\/path the path contains characters/],
    ['an invalid domain', { domain: 'a b' }, /\/domain "a b" is not a valid domain/],
    ['an invalid time', { expires: 'tomorrow' }, /\/expires "tomorrow" is not a valid time/],
    ['a date that does not exist', { expires: '2030-02-45T00:00:00Z' }, /is not a valid time/],
  ] as const) {
    it(`are rejected if they have ${what}`, async () => {
      match((await issuesOf({ 'cookie.Modifier': { ...cookie, ...fields } })).join(), issue);
    });
  }
});
