import type { Namespace } from '#contract';
import type { KnownPlugins } from '../../config/index.ts';
import { type Answers, silentAnswers, usualAnswers, variedAnswers } from '../generate/answers.ts';
import { type Baseline, type Baselines, UNKNOWN_PATH } from '../generate/baseline.ts';
import { variationsOf } from '../generate/variations.ts';
import type { TestRequest } from '../test.ts';
import type { CompatCase } from './case.ts';
import type { Origins } from './origins.ts';

/** Number of endpoints whose backends never respond in a case, and the longest timeout of such an endpoint. */
const MAX_SILENT = 5;
const MAX_SILENT_MS = 3000;

/** Endpoints that can be compared, and the others with the reason. */
export interface Comparable {
  readonly requests: readonly Baseline[];
  readonly omitted: Baselines['omitted'];
}

/**
 * Finds the endpoints whose backends can be mocked for another gateway: those that are called over HTTP, by address.
 * @param http the component that calls backends over HTTP.
 */
export function comparableOf({ requests, omitted }: Baselines, origins: Origins, http: Namespace): Comparable {
  const reasons = requests.map((baseline) => obstacleOf(baseline, origins, http));
  return {
    requests: requests.filter((_, at) => reasons[at] === null),
    omitted: [
      ...omitted,
      ...requests.flatMap(({ route: { id }, pointer }, at) => {
        const reason = reasons[at]!;
        return reason === null ? [] : [{ id, pointer, reason }];
      }),
    ],
  };
}

function obstacleOf({ endpoint, route }: Baseline, origins: Origins, http: Namespace): string | null {
  for (const [at, { sd, host }] of endpoint.backend.entries()) {
    const { hosts, namespaces } = route.backends[at]!;
    if (sd !== 'static') return `backend ${at} is found by service discovery`;
    const isHttp = namespaces.at(-1) === http && hosts.length > 0 && host.every((each) => origins.has(each));
    if (!isHttp) return `backend ${at} is not called over HTTP`;
  }
  return null;
}

/** Generates the cases of a configuration: variations of requests first, then responses of backends, failures last. */
export function generatedCases(
  requests: readonly Baseline[],
  known: Pick<KnownPlugins, 'encoding'>,
  origins: Origins,
): CompatCase[] {
  const originOf = (host: string) => origins.mockedAt(host);
  const usual = requests.map((baseline) => ({ baseline, answers: usualAnswers(baseline.endpoint, known, originOf) }));
  const varied = usual.flatMap(({ baseline, answers }) =>
    variationsOf(baseline).map(({ name, request }) => caseOf(baseline, name, request, answers)),
  );
  const answered = requests.flatMap((baseline) =>
    variedAnswers(baseline.endpoint, known, originOf).map((answers) =>
      caseOf(baseline, answers.name, baseline.request, answers),
    ),
  );
  const silent = requests
    .filter(({ endpoint: { timeout } }) => timeout <= MAX_SILENT_MS)
    .slice(0, MAX_SILENT)
    .map((baseline) => {
      const answers = silentAnswers(baseline.endpoint, originOf);
      return caseOf(baseline, answers.name, baseline.request, answers);
    });
  return [...varied, ...unknownCases(usual[0]?.answers), ...answered, ...silent];
}

function caseOf({ route }: Baseline, name: string, request: TestRequest, { mocks }: Answers): CompatCase {
  return { endpoint: route.id, name, request, mocks };
}

/** Requests to paths that no endpoint has. */
function unknownCases(answers: Answers | undefined): CompatCase[] {
  return ['GET', 'POST'].flatMap((method) =>
    [UNKNOWN_PATH, '/'].map((path) => ({
      endpoint: `${method} ${path}`,
      name: 'unknown path',
      request: { method, path, headers: {}, body: null },
      mocks: answers?.mocks ?? [],
    })),
  );
}
