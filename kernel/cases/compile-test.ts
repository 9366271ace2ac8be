import { METHODS } from 'node:http';
import { ConfigError, type Data, nearest } from '#contract';
import { joinPointer } from '../config/index.ts';
import { bytesOf } from './body.ts';
import { bodyChecks } from './checks/body.ts';
import { callsCheck } from './checks/calls.ts';
import { headerChecks } from './checks/headers.ts';
import { compileMock, type Mock } from './mock.ts';
import type { ExpectData, MockData, TestData } from './schema.ts';
import type { Check, Test, TestRequest } from './test.ts';

/** Compiles mocks. */
export function compileMocks(mocks: Readonly<Record<string, MockData>>): Mock[] {
  return Object.entries(mocks).map(([name, mock]) => compileMock(name, mock));
}

/**
 * Compiles a test. @param shared mocks of the file. @param isWritten whether the file contains its expectations.
 * @throws ConfigError for invalid expectations.
 */
export function compileTest(data: TestData, pointer: string, shared: readonly Mock[], isWritten: boolean): Test {
  const { name, request, backends, expect, advance, timeout } = data;
  const own = compileMocks(backends);
  const mocks = [...own, ...shared.filter((mock) => !own.some((other) => other.name === mock.name))];
  const at = joinPointer(pointer, 'expect');
  return {
    name,
    pointer,
    expect: { pointer: at, isWritten },
    request: toRequest(request, joinPointer(pointer, 'request')),
    mocks,
    checks: compileChecks(expect, at, mocks),
    advanceMs: advance,
    timeoutMs: timeout,
  };
}

/** @param given `method`, headers and body as in a test, and the path with its query. */
export function toRequest(
  {
    method,
    path,
    headers,
    body,
  }: { method: string; path: string; headers: Readonly<Record<string, string>>; body?: Data },
  pointer: string,
): TestRequest {
  const name = method.toUpperCase();
  if (!METHODS.includes(name)) {
    throw new ConfigError('TEST_REQUEST', joinPointer(pointer, 'method'), `"${method}" is not an HTTP method`);
  }
  const hasType = Object.keys(headers).some((header) => header.toLowerCase() === 'content-type');
  const isJson = body !== undefined && typeof body !== 'string';
  return {
    method: name,
    path,
    headers: isJson && !hasType ? { ...headers, 'Content-Type': 'application/json' } : headers,
    body: body === undefined ? null : bytesOf(body),
  };
}

function compileChecks(expect: ExpectData, pointer: string, mocks: readonly Mock[]): Check[] {
  const { status, headers, backends, within } = expect;
  const checks: Check[] = [];
  if (status !== undefined) {
    checks.push(({ response: { status: actual } }) => {
      const message = `status is ${actual}, not ${status}`;
      return actual === status ? [] : [{ pointer: joinPointer(pointer, 'status'), message, lines: [], actual }];
    });
  }
  const headersCheck = headerChecks(headers, joinPointer(pointer, 'headers'));
  checks.push(({ response }) => headersCheck(response.headers));
  for (const check of bodyChecks(expect, pointer)) checks.push(({ response }) => check(response.body));
  for (const [name, calls] of Object.entries(backends)) {
    const at = joinPointer(pointer, 'backends', name);
    demandMock(name, mocks, at);
    checks.push(callsCheck(name, calls, at));
  }
  if (within !== undefined) {
    checks.push(({ response: { ms } }) => {
      const message = `the response took ${ms.toFixed(0)} ms, more than ${within} ms`;
      return ms <= within ? [] : [{ pointer: joinPointer(pointer, 'within'), message, lines: [] }];
    });
  }
  return checks;
}

function demandMock(name: string, mocks: readonly Mock[], pointer: string): void {
  const names = mocks.map((mock) => mock.name);
  if (names.includes(name)) return;
  const hint = nearest(name, names);
  throw new ConfigError('TEST_BACKEND', pointer, `no mock has the name "${name}"`, hint === undefined ? {} : { hint });
}
