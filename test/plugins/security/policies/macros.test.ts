import { equal, match, throws } from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { type Data, type DataObject, HeaderBag, makeRequest, PipeRequest, Query } from '#contract';
import { createPatterns } from '../../../../kernel/patterns/patterns.ts';
import { compileExpression } from '../../../../plugins/engines/cel/expression.ts';
import { withSource } from '../../../../plugins/engines/cel/macro-source.ts';
import { Variables } from '../../../../plugins/engines/cel/variables.ts';

const patterns = createPatterns();
const types = new Map([['JWT', { key: 'string', value: 'dyn' } as const]]);

function requestWith(headers: string[], more: { search?: string; params?: Record<string, string> } = {}): PipeRequest {
  const client = makeRequest({ headers: new HeaderBag(headers), ip: '203.0.113.7' });
  return new PipeRequest(client, more.params ?? {}, Query.parse(more.search ?? ''), client.headers, null);
}

/** The result of an expression with claims and a request. */
function verdict(source: string, claims: DataObject = {}, request: PipeRequest | null = null) {
  const expression = compileExpression(source, types, patterns, { macros: true });
  const variables = new Variables({ request, path: '', reply: null, raw: false, claims });
  const locate = (address: string) => ({ Country: { IsoCode: address === '203.0.113.7' ? 'ES' : '' } });
  return withSource(request && { request, locate }, () => expression.evaluate(variables, 1000));
}

describe('the functions of security/policies', () => {
  it('compare a number with inclusive bounds', () => {
    for (const source of ['between(5, 2, 7)', '5.between(2, 7)', 'between(2, 2, 7)', 'between(7, 2, 7)']) {
      equal(verdict(source), true, source);
    }
    equal(verdict('between(2, 5, 7)'), false);
    equal(verdict('between(1.5, 1.0, 2.0)'), true);
    equal(verdict('between(2u, 1u, 3u)'), true);
    equal(verdict('between(JWT.n, 1, 3)', { n: 2.5 }), true);
    equal(verdict('JWT.n.between(1, 3)', { n: 3.5 }), false);
  });

  it('reject comparisons of numbers of different types, and values other than numbers', () => {
    throws(() => verdict('between(1, 2.0, 3)'), /cannot be applied/);
    throws(() => verdict("between('a', 'b', 'c')"), /cannot be applied/);
    match(String(verdict('between(JWT.n, 1, 3)', { n: 'two' })), /between\(\) requires numbers/);
  });

  const nothings: readonly [string, Data][] = [
    ['null', null],
    ['text', ''],
    ['list', []],
    ['object', {}],
  ];
  for (const [name, value] of nothings) {
    it(`treat an empty ${name} as empty`, () => equal(verdict('isEmpty(JWT.x)', { x: value }), true));
  }

  it('treat a missing member as empty at any depth', () => {
    equal(verdict('isEmpty(JWT.x)'), true);
    equal(verdict('isEmpty(JWT.x.y.z)'), true);
    equal(verdict('isEmpty(JWT.x.y)', { x: {} }), true);
    equal(verdict("isEmpty(JWT['x'])"), true);
    equal(verdict("isEmpty(JWT['x']['y'].z)", { x: { y: {} } }), true);
    equal(verdict('!isEmpty(JWT.x.y)', { x: { y: 'a' } }), true);
    equal(verdict('isEmpty(JWT.list.filter(x, isEmpty(x.a)))', { list: [{ a: 1 }] }), true);
  });

  it('do not treat 0, false, a list with null or other values with content as empty', () => {
    for (const x of [0, false, 'a', [null], { a: 1 }]) equal(verdict('isEmpty(JWT.x)', { x }), false);
  });

  it('read client cookies regardless of forwarded headers', () => {
    const request = requestWith(['Cookie', 'a=1; GDPR=yes; empty=', 'cookie', 'b="quoted"; c=x=y']);
    request.headers = new HeaderBag();
    for (const [source, value] of [
      ["getCookie('GDPR') == 'yes'", true],
      ["getCookie('gdpr') == ''", true],
      ["getCookie('b') == 'quoted'", true],
      ["getCookie('c') == 'x=y'", true],
      ["getCookie('none') == ''", true],
      ["hasCookie('empty')", true],
      ["hasCookie('none')", false],
      ["hasCookie('constructor')", false],
    ] as const) {
      equal(verdict(source, {}, request), value, source);
    }
  });

  it('read forwarded headers and query parameters', () => {
    const request = requestWith(['X-Team', 'a', 'X-Team', 'b'], { search: 'q=1&q=2&e=' });
    for (const [source, value] of [
      ["getHeader('x-team') == 'a'", true],
      ["getHeader('X-None') == ''", true],
      ["hasHeader('X-TEAM')", true],
      ["hasHeader('__proto__')", false],
      ["getQuerystring('q') == '1'", true],
      ["hasQuerystring('e')", true],
      ["hasQuerystring('Q')", false],
    ] as const) {
      equal(verdict(source, {}, request), value, source);
    }
  });

  it('read path parameters with the first letter in either case', () => {
    const request = requestWith([], { params: { Id: '12' } });
    equal(verdict("getParam('id') == '12' && getParam('Id') == '12' && hasParam('id')", {}, request), true);
    equal(verdict("hasParam('other') || getParam('other') != ''", {}, request), false);
  });

  it("read the client's address and match it with a range", () => {
    const request = requestWith([]);
    equal(verdict("clientIP() == '203.0.113.7' && inCIDR(clientIP(), '203.0.113.0/24')", {}, request), true);
    equal(verdict("inCIDR(clientIP(), '10.0.0.0/8') || inCIDR('::1', '10.0.0.0/8')", {}, request), false);
    equal(verdict("inCIDR('::ffff:10.1.1.1', '10.0.0.0/8')", {}, request), true);
    equal(verdict("inCIDR('no address', '10.0.0.0/8')", {}, request), false);
    throws(() => verdict("inCIDR(clientIP(), '10.0.0.0/33')", {}, request), /not a valid IP range/);
    match(String(verdict('inCIDR(clientIP(), JWT.range)', { range: 'x' }, request)), /not a valid IP range/);
  });

  it('look up the location of an address', () => {
    equal(verdict("geoIP().Country.IsoCode == 'ES'", {}, requestWith([])), true);
  });

  it('hash and encode strings', () => {
    const hash = (name: string) => createHash(name).update('ö').digest('hex');
    equal(verdict(`md5('ö') == '${hash('md5')}' && sha1('ö') == '${hash('sha1')}'`), true);
    equal(verdict(`sha256('ö') == '${hash('sha256')}'`), true);
    equal(verdict(`hmacSha256('key', 'ö') == '${createHmac('sha256', 'key').update('ö').digest('hex')}'`), true);
    equal(verdict("base64Encode('ö') == 'w7Y=' && base64Decode('w7Y=') == 'ö'"), true);
    match(String(verdict("base64Decode('*') == ''")), /not base64/);
    equal(typeof verdict("base64Decode('/w==') == ''"), 'string');
    equal(verdict("uuid().matches('^[0-9a-f-]{36}$') && uuid() != uuid()"), true);
  });

  it('find roles in a list and in a string', () => {
    equal(verdict("hasRole(JWT.roles, 'admin')", { roles: ['user', 'admin'] }), true);
    equal(verdict("hasRole(JWT.roles, 'adm')", { roles: ['admin'] }), false);
    equal(verdict("hasRole(JWT.scope, 'read')", { scope: 'write read' }), true);
    equal(verdict("hasRole(JWT.scope, 'rea')", { scope: 'write read' }), false);
    equal(typeof verdict("!hasRole(JWT.roles, 'admin')"), 'string');
    equal(typeof verdict("!hasRole(JWT.roles, 'admin')", { roles: { admin: true } }), 'string');
  });

  it('are not available in expressions of other components', () => {
    throws(() => compileExpression("getCookie('a') == ''", types, patterns), /unknown function 'getCookie'/);
  });
});
