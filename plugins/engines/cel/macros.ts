import { createHash, createHmac, randomUUID } from 'node:crypto';
import { type CelInput, CelScalar, celFunc, celMethod, isCelList, isCelMap, isCelUint } from '@bufbuild/cel';
import { addressMatcher, isAddressRange, paramKey } from '#contract';
import { paramOf } from '../../shared/parameters/value.ts';
import { spend } from './language/budget.ts';
import { CelError } from './language/cel-error.ts';
import { expandEmpty } from './language/expand-empty.ts';
import { extended, language } from './language/signatures.ts';
import { childrenOf, type Expr, type Syntax, textOf } from './language/syntax.ts';
import { objectValue } from './language/values.ts';
import { cookieOf, currentSource } from './macro-source.ts';

const { BOOL, DYN, STRING } = CelScalar;

const between = ['int int int', 'uint uint uint', 'double double double'].map((takes) => `${takes} -> bool`);

/** Functions that read the request. */
const ofRequest = {
  getCookie: ['string -> string'],
  hasCookie: ['string -> bool'],
  getHeader: ['string -> string'],
  hasHeader: ['string -> bool'],
  getQuerystring: ['string -> string'],
  hasQuerystring: ['string -> bool'],
  getParam: ['string -> string'],
  hasParam: ['string -> bool'],
  clientIP: ['-> string'],
  geoIP: ['-> dyn'],
};

/** The functions of policies, in addition to those of the language. */
export const macroLibrary = extended(language, {
  functions: {
    ...ofRequest,
    between,
    isEmpty: ['dyn -> bool'],
    inCIDR: ['string string -> bool'],
    hasRole: ['dyn string -> bool'],
    md5: ['string -> string'],
    sha1: ['string -> string'],
    sha256: ['string -> string'],
    hmacSha256: ['string string -> string'],
    base64Encode: ['string -> string'],
    base64Decode: ['string -> string'],
    uuid: ['-> string'],
  },
  methods: { between },
});

/** Names of the functions that read the request. */
export const requestMacros: ReadonlySet<string> = new Set(Object.keys(ofRequest));

/** Number of bytes of text that count as one visited member. */
const HASH_STEP = 1024;

const hashes = ['md5', 'sha1', 'sha256'].map((name) =>
  celFunc(name, [STRING], STRING, (text) => createHash(name).update(counted(text)).digest('hex')),
);

/** Implementations that the engine calls. Request values are read only when an expression needs them. */
export const macroFunctions = [
  celFunc('between', [DYN, DYN, DYN], BOOL, isBetween),
  celMethod('between', DYN, [DYN, DYN], BOOL, function (low, high) {
    return isBetween(this, low, high);
  }),
  celFunc('isEmpty', [DYN], BOOL, isEmpty),
  ...getAndHas('Cookie', (name) => cookieOf(currentSource().request, name)),
  ...getAndHas('Header', (name) => currentSource().request.headers.get(name.toLowerCase())),
  ...getAndHas('Querystring', (name) => currentSource().request.query.get(name)),
  ...getAndHas('Param', (name) => paramOf(currentSource().request, paramKey(name))),
  celFunc('clientIP', [], STRING, () => currentSource().request.client.ip),
  celFunc('geoIP', [], DYN, (): CelInput => {
    const { request, locate } = currentSource();
    if (!locate) throw new Error('no geolocation database is configured');
    return objectValue(locate(request.client.ip));
  }),
  celFunc('inCIDR', [STRING, STRING], BOOL, (address, range) => rangeOf(range)(address)),
  celFunc('hasRole', [DYN, STRING], BOOL, (claim, role) => {
    if (typeof claim === 'string') return claim.split(' ').includes(role);
    if (!isCelList(claim)) throw new Error('roles must be a list or a string');
    spend(claim.size);
    return [...claim].includes(role);
  }),
  ...hashes,
  celFunc('hmacSha256', [STRING, STRING], STRING, (key, text) =>
    createHmac('sha256', counted(key)).update(counted(text)).digest('hex'),
  ),
  celFunc('base64Encode', [STRING], STRING, (text) => Buffer.from(counted(text)).toString('base64')),
  celFunc('base64Decode', [STRING], STRING, decodeBase64),
  celFunc('uuid', [], STRING, () => randomUUID()),
];

function getAndHas(what: string, find: (name: string) => string | undefined) {
  return [
    celFunc(`get${what}`, [STRING], STRING, (name) => find(name) ?? ''),
    celFunc(`has${what}`, [STRING], BOOL, (name) => find(name) !== undefined),
  ];
}

function isBetween(value: unknown, low: unknown, high: unknown): boolean {
  const [number, least, most] = [value, low, high].map(numberOf) as [number, number, number];
  return number >= least && number <= most;
}

/** Converts a number so that integers stay exact and can be compared with other integers. */
function numberOf(value: unknown): number | bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (isCelUint(value)) return value.value;
  throw new Error('between() requires numbers');
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === '') return true;
  if (isCelList(value) || isCelMap(value)) return value.size === 0;
  return value instanceof Uint8Array && value.length === 0;
}

function counted(text: string): string {
  spend(Math.ceil(text.length / HASH_STEP));
  return text;
}

const base64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeBase64(text: string): string {
  if (!base64.test(counted(text))) throw new Error('the text is not base64');
  return utf8.decode(Buffer.from(text, 'base64'));
}

/** Number of parsed address ranges kept, from requests and expressions: at most about 100 KiB. */
const KEPT_RANGES = 200;
const ranges = new Map<string, (address: string) => boolean>();

function rangeOf(range: string): (address: string) => boolean {
  let matches = ranges.get(range);
  if (!matches) {
    if (!isAddressRange(range)) throw new Error(`'${range.slice(0, 50)}' is not a valid IP range`);
    matches = addressMatcher([range]);
    if (ranges.size >= KEPT_RANGES) ranges.delete(ranges.keys().next().value!);
    ranges.set(range, matches);
  }
  return matches;
}

/**
 * Prepares the calls of these functions in an expression, in place.
 * @throws CelError CEL_TYPE for an invalid address range.
 */
export function expandMacros({ root, placeOf }: Syntax): void {
  const visit = (node: Expr): void => {
    for (const child of childrenOf(node)) visit(child);
    const { case: kind, value } = node.exprKind;
    if (kind !== 'callExpr' || value.target) return;
    if (value.function === 'isEmpty') expandEmpty(node, value.args[0]!);
    if (value.function !== 'inCIDR') return;
    const range = textOf(value.args[1]!);
    if (range === undefined || isAddressRange(range)) return;
    const options = { hint: "for example '10.0.0.0/8'", within: placeOf(value.args[1]!) };
    throw new CelError('CEL_TYPE', `'${range}' is not a valid IP range`, options);
  };
  visit(root);
}
