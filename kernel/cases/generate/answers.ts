import { type EndpointConfig, isObject } from '#contract';
import type { KnownPlugins } from '../../config/index.ts';
import { compileMock, type Mock } from '../mock.ts';
import type { ResponseData } from '../schema.ts';
import { sampleDocument } from './sample-document.ts';

/** One set of responses of the mocked backends of an endpoint. */
export interface Answers {
  /** Description, for example `backend responds with 500`. */
  readonly name: string;
  readonly mocks: readonly Mock[];
}

/** Finds the origin under which requests to a host are mocked. */
export type OriginOf = (host: string) => string;

const plain = { status: 200, headers: {}, delay: 0 } as const;

/** Path to which a mocked backend redirects; its response is the usual one. */
const REDIRECTED = '/sluice-redirected';

/** Time of a slow response, in milliseconds. */
const SLOW_MS = 50;

/** Responses in place of the usual one of a backend, by name. */
const variants: Readonly<Record<string, (usual: ResponseData) => ResponseData>> = {
  'adds headers': (usual) => ({
    ...usual,
    headers: { 'X-Backend': 'sample', 'Set-Cookie': 'a=b; Path=/', 'Cache-Control': 'max-age=60', ...usual.headers },
  }),
  'responds with an empty object': () => ({ ...plain, body: {} }),
  'responds with an array': () => ({ ...plain, body: [{ id: 1 }, { id: 2 }] }),
  'responds with an object in place of an array': () => ({ ...plain, body: { id: 1 } }),
  'responds with a number': () => ({ ...plain, body: 7 }),
  'responds without a body': () => ({ ...plain }),
  'responds with invalid JSON': () => ({
    ...plain,
    headers: { 'Content-Type': 'application/json' },
    body: '{"id": 1, "name"',
  }),
  'responds with 201': (usual) => ({ ...usual, status: 201 }),
  'responds with 204': () => ({ ...plain, status: 204 }),
  'redirects to another path': () => ({ ...plain, status: 302, headers: { Location: REDIRECTED } }),
  'responds with 304': () => ({ ...plain, status: 304 }),
  'responds with 400': () => ({ ...plain, status: 400, body: { error: 'not valid' } }),
  'responds with 401': () => ({ ...plain, status: 401, headers: { 'WWW-Authenticate': 'Bearer' }, body: '' }),
  'responds with 404': () => ({ ...plain, status: 404, body: { error: 'unknown' } }),
  'responds with 500': () => ({ ...plain, status: 500, body: 'internal error' }),
  'responds with 503': () => ({ ...plain, status: 503, headers: { 'Retry-After': '1' }, body: '' }),
  'responds slowly': (usual) => ({ ...usual, delay: SLOW_MS }),
  'closes the connection': () => ({ ...plain, failure: 'reset' }),
};

/** Creates the usual responses of the backends of an endpoint: documents in the encoding that each expects. */
export function usualAnswers(
  endpoint: EndpointConfig,
  known: Pick<KnownPlugins, 'encoding'>,
  originOf: OriginOf,
): Answers {
  return { name: 'backend responds', mocks: mocksOf(endpoint, usualResponses(endpoint, known), originOf) };
}

/** Creates sets of responses in which one backend responds in an unusual way, or fails. */
export function variedAnswers(
  endpoint: EndpointConfig,
  known: Pick<KnownPlugins, 'encoding'>,
  originOf: OriginOf,
): Answers[] {
  const usual = usualResponses(endpoint, known);
  const last = usual.length - 1;
  const varied = Object.entries(variants).flatMap(([name, vary]) => {
    // Variations of the format are tested only for the first backend; failures also for the last one.
    const positions = last > 0 && /500|connection/.test(name) ? [0, last] : [0];
    return positions.map((at) => {
      const responses = usual.with(at, vary(usual[at]!));
      return { name: last > 0 ? `backend ${at} ${name}` : `backend ${name}`, responses };
    });
  });
  if (last > 0)
    varied.push({ name: 'all backends respond with 500', responses: usual.map(variants['responds with 500']!) });
  return varied.map(({ name, responses }) => ({ name, mocks: mocksOf(endpoint, responses, originOf, usual[0]) }));
}

/** Creates sets of responses in which one backend never responds, so that the gateway's timeout ends the call. */
export function silentAnswers(endpoint: EndpointConfig, originOf: OriginOf): Answers {
  const responses = endpoint.backend.map((): ResponseData => ({ ...plain, failure: 'hang' }));
  return { name: 'backend never responds', mocks: mocksOf(endpoint, responses, originOf) };
}

function usualResponses(endpoint: EndpointConfig, known: Pick<KnownPlugins, 'encoding'>): ResponseData[] {
  return endpoint.backend.map(({ encoding: name }, at) => {
    const document = sampleDocument(endpoint, at);
    const encoding = known.encoding(name);
    if (!encoding?.encode || !isObject(document) || /json/.test(name)) return { ...plain, body: document };
    const { writesField: field } = encoding;
    const { contentType, body } = encoding.encode(field ? { [field]: 'text of the backend' } : document, undefined);
    const text = typeof body === 'string' ? body : Buffer.from(body).toString();
    return { ...plain, headers: { 'Content-Type': contentType }, body: text };
  });
}

function mocksOf(
  endpoint: EndpointConfig,
  responses: readonly ResponseData[],
  originOf: OriginOf,
  redirected = responses[0]!,
): Mock[] {
  const own = endpoint.backend.flatMap(({ host, url_pattern: pattern }, at) =>
    host.slice(0, 1).map((first) => {
      const path = pattern.replace(/\?.*$/s, '').replaceAll(/\{[^{}]*\}|\*/g, '**');
      const url = `${originOf(first)}${path.startsWith('/') ? '' : '/'}${path}`;
      return compileMock(`backend ${at}`, { url, response: responses[at]! });
    }),
  );
  return [
    compileMock('redirected', { url: REDIRECTED, response: redirected }),
    ...own,
    // Components can change the URL of the request, so mocks match any path.
    compileMock('another URL', { url: '**', response: responses[0]! }),
  ];
}
