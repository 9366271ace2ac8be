import { ConfigError, type Data } from '#contract';
import { bodyChecks } from './checks/body.ts';
import { headerChecks } from './checks/headers.ts';
import { compileMocks, toRequest } from './compile-test.ts';
import type { SpecData } from './spec-schema.ts';
import type { Check, Test } from './test.ts';

/** Compiles a spec of KrakenD. @param name of the test. @throws ConfigError for invalid values. */
export function compileSpec({ in: input, out, backends }: SpecData, name: string): Test {
  const path = pathOf(input.url);
  const { method, header, body } = input;
  const headers = Object.keys(header).some((each) => each.toLowerCase() === 'host')
    ? header
    : withHost(header, input.url);
  return {
    name,
    pointer: '',
    expect: { pointer: '/out', isWritten: true },
    request: toRequest({ method, path, headers, ...(body !== undefined && { body }) }, '/in'),
    mocks: compileMocks(backends),
    checks: compileChecks(out),
    advanceMs: 0,
    timeoutMs: 10_000,
  };
}

/** Adds the host of a URL, as a client of that URL sends it. */
function withHost(header: SpecData['in']['header'], url: string): SpecData['in']['header'] {
  const [, host] = /^https?:\/\/(?:[^@/?#]*@)?([^/?#]+)/i.exec(url) ?? [];
  return host === undefined ? header : { ...header, Host: host };
}

function pathOf(url: string): string {
  const [, path] = /^(?:https?:\/\/[^/?#]+)?([/?][^#]*)?(?:#.*)?$/is.exec(url) ?? [];
  if (path === undefined && !/^https?:\/\/[^/?#]+$/i.test(url)) {
    throw new ConfigError('TEST_REQUEST', '/in/url', `"${url}" is not an HTTP URL`);
  }
  return path === undefined || path.startsWith('/') ? (path ?? '/') : `/${path}`;
}

function compileChecks({ status_code: status, header, body, schema }: SpecData['out']): Check[] {
  const checks: Check[] = [];
  if (status !== undefined) {
    checks.push(({ response: { status: actual } }) => {
      const message = `status is ${actual}, not ${status}`;
      return actual === status ? [] : [{ pointer: '/out/status_code', message, lines: [], actual }];
    });
  }
  for (const [name, value] of Object.entries(header)) {
    const values = typeof value === 'string' ? [value] : (value as readonly string[]);
    const check = headerChecks({ [name]: values }, '/out/header');
    const mayBeAbsent = values[0] === '';
    checks.push(({ response: { headers } }) => {
      if (mayBeAbsent && !headers.has(name.toLowerCase())) return [];
      // A spec of KrakenD always contains the header values as a list.
      return check(headers).map(({ actual, ...failure }) => ({
        ...failure,
        ...(actual !== undefined && { actual: listed(actual) }),
      }));
    });
  }
  const expected = { ...(body !== undefined && { body }), ...(schema && { body_schema: schema }) };
  for (const check of bodyChecks(expected, '/out')) {
    checks.push(({ response }) =>
      check(response.body).map((failure) => ({
        ...failure,
        pointer: failure.pointer.replace(/body_schema$/, 'schema'),
      })),
    );
  }
  return checks;
}

function listed(actual: Data): Data {
  if (typeof actual === 'string') return [actual];
  return Array.isArray(actual) ? actual : [''];
}
