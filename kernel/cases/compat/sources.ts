import { ConfigError } from '#contract';
import type { KnownPlugins } from '../../config/index.ts';
import { pointerOnly, type Served } from '../../inspect/index.ts';
import { findMatch } from '../../inspect/match.ts';
import { usualAnswers } from '../generate/answers.ts';
import type { Baseline } from '../generate/baseline.ts';
import { findFiles, readTests } from '../read-tests.ts';
import { readRequests, readTraffic } from '../replay/traffic.ts';
import type { TestRequest } from '../test.ts';
import type { CompatCase } from './case.ts';
import { openApiRequests } from './openapi-requests.ts';
import type { Origins } from './origins.ts';

/** Files that requests are taken from. Without any, they are generated. */
export interface CaseSources {
  /** Files and folders of tests, whose mocked servers respond. */
  readonly tests: readonly string[];
  /** HAR files. Recorded calls of backends respond; without any, responses are generated. */
  readonly recordings: readonly string[];
  /** OpenAPI documents. Responses are generated. */
  readonly documents: readonly string[];
}

/** The configuration that requests are matched to. */
export interface CaseContext {
  readonly served: Served;
  readonly requests: readonly Baseline[];
  readonly known: Pick<KnownPlugins, 'encoding'>;
  readonly origins: Origins;
  readonly seed: number;
}

/** Reads the cases of files. @returns null without any file. @throws ConfigError for invalid files. */
export async function casesFrom(sources: CaseSources, context: CaseContext): Promise<CompatCase[] | null> {
  const { tests, recordings, documents } = sources;
  if (tests.length + recordings.length + documents.length === 0) return null;
  const cases: CompatCase[] = [];
  for (const path of await findFiles(tests)) for (const each of await testCases(path, context)) cases.push(each);
  for (const path of recordings) for (const each of await recordedCases(path, context)) cases.push(each);
  for (const path of documents) {
    for (const { name, request } of await openApiRequests(path, context.seed)) {
      cases.push(await matched(name, request, context));
    }
  }
  return cases;
}

async function testCases(path: string, context: CaseContext): Promise<CompatCase[]> {
  const file = await readTests(path);
  if ('errors' in file) {
    const { code, message } = file.errors[0]!;
    throw new ConfigError(code, '', `${path}: ${message}`);
  }
  return Promise.all(
    file.tests.map(async ({ name, request, mocks }) => {
      const usual = await matched(name, request, context);
      return { ...usual, mocks: [...mocks, ...usual.mocks] };
    }),
  );
}

async function recordedCases(path: string, context: CaseContext): Promise<CompatCase[]> {
  const { requests } = readTraffic(path);
  if (requests.length > 0) {
    return requests.map(({ endpoint, request, mocks }) => ({ endpoint, name: 'recorded request', request, mocks }));
  }
  return Promise.all(readRequests(path).map((request) => matched('recorded request', request, context)));
}

/** Finds the endpoint that a request matches, whose backends give their usual responses. */
async function matched(name: string, request: TestRequest, context: CaseContext): Promise<CompatCase> {
  const { served, requests, known, origins } = context;
  const headers = Object.entries(request.headers).map(([header, value]) => [header.toLowerCase(), value]);
  const { match } = await findMatch(served, request.method, request.path, pointerOnly, Object.fromEntries(headers));
  const baseline = match.kind === 'route' ? requests.find(({ route }) => route.id === match.route.id) : undefined;
  const endpoint = baseline?.route.id ?? `${request.method} ${request.path.replace(/\?.*$/s, '')}`;
  const mocks = baseline ? usualAnswers(baseline.endpoint, known, (host) => origins.mockedAt(host)).mocks : [];
  return { endpoint, name, request, mocks };
}
