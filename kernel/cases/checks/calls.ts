import type { DataObject, SandboxRequest } from '#contract';
import { joinPointer, mayHoldSecret } from '../../config/index.ts';
import type { ExpectedCalls } from '../schema.ts';
import type { Check, Failure } from '../test.ts';
import { bodyChecks } from './body.ts';
import { differences } from './differences.ts';
import { headerChecks } from './headers.ts';

type RequestCheck = (request: SandboxRequest) => readonly Failure[];

/** Compiles the expected calls to a mocked server. @throws ConfigError for an invalid expression. */
export function callsCheck(name: string, expected: ExpectedCalls, pointer: string): Check {
  const { requests = [], calls = expected.requests?.length } = expected;
  const checks = requests.map((request, at) => requestChecks(request, joinPointer(pointer, 'requests', String(at))));
  return ({ calls: all }) => {
    if (all === null) return [];
    const actual = all.get(name) ?? [];
    const failures: Failure[] = [];
    if (calls !== undefined && actual.length !== calls) {
      const at = expected.calls === undefined ? pointer : joinPointer(pointer, 'calls');
      const lines = actual.slice(0, 10).map(({ method, url }) => `+ ${method} ${maskedQuery(url)}`);
      const message = `${name} was called ${times(actual.length)}, not ${times(calls)}`;
      failures.push({ pointer: at, message, lines, ...(expected.calls !== undefined && { actual: actual.length }) });
    }
    for (const [at, request] of actual.slice(0, checks.length).entries()) {
      for (const check of checks[at]!) {
        for (const failure of check(request)) {
          failures.push({ ...failure, message: `request ${at + 1} to ${name}: ${failure.message}` });
        }
      }
    }
    return failures;
  };
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function requestChecks(expected: NonNullable<ExpectedCalls['requests']>[number], pointer: string): RequestCheck[] {
  const { method, path, query, headers } = expected;
  const checks: RequestCheck[] = [];
  const differs = (field: string, wanted: string, actual: string): Failure[] =>
    wanted === actual
      ? []
      : [
          {
            pointer: joinPointer(pointer, field),
            message: `${field} differs`,
            lines: [`- ${wanted}`, `+ ${actual}`],
            actual,
          },
        ];
  if (method !== undefined) checks.push((request) => differs('method', method, request.method));
  if (path !== undefined) checks.push(({ url }) => differs('path', path, splitUrl(url).path));
  if (query !== undefined) {
    checks.push(({ url }) => {
      const actual = queryOf(splitUrl(url).query);
      const lines = differences({ ...query } as DataObject, actual);
      const at = joinPointer(pointer, 'query');
      return lines.length === 0 ? [] : [{ pointer: at, message: 'query differs', lines, actual }];
    });
  }
  const headersCheck = headerChecks(headers, joinPointer(pointer, 'headers'));
  checks.push((request) => headersCheck(headersOf(request.headers)));
  for (const check of bodyChecks(expected, pointer)) checks.push(({ body }) => check(body));
  return checks;
}

/** Splits a URL without normalizing it. */
function splitUrl(url: string): { readonly path: string; readonly query: string } {
  const [, path = '', query = ''] = /^(?:[a-z][a-z\d+.-]*:\/\/[^/?]*)?([^?]*)\??(.*)$/is.exec(url) ?? [];
  return { path, query };
}

function queryOf(query: string): DataObject {
  const parameters = new URLSearchParams(query);
  return Object.fromEntries(
    [...new Set(parameters.keys())].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? values[0]! : values];
    }),
  );
}

/** Collects all values of each header. @param list alternating names and values. */
export function headersOf(list: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>();
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at]!.toLowerCase();
    const values = headers.get(name);
    if (values) values.push(list[at + 1]!);
    else headers.set(name, [list[at + 1]!]);
  }
  return headers;
}

function maskedQuery(url: string): string {
  return url.replace(/([?&])([^=&]*)=([^&]*)/g, (whole, sign, name) =>
    mayHoldSecret(name) ? `${sign}${name}=***` : whole,
  );
}
