import type { Response } from 'light-my-request';
import type { Catalogue } from '#contract';
import type { Source } from '../control/snapshot.ts';
import { type OpenSandbox, openSandbox, type SandboxOptions } from '../sandbox/open-sandbox.ts';
import type { Session } from '../sandbox/session.ts';
import { MockedServers } from './mock.ts';
import type { TestFile } from './read-tests.ts';
import { sendTo } from './send-to.ts';
import type { Failure, Test, TestRequest, TestResponse } from './test.ts';

/** Result of a test. */
export interface TestResult {
  readonly file: TestFile;
  readonly test: Test;
  readonly failures: readonly Failure[];
  /** The response; undefined if none arrived. */
  readonly response: TestResponse | undefined;
  readonly ms: number;
  /** Warnings and errors that the gateway logged, for a failed test. */
  readonly lines: readonly string[];
}

/** A gateway that runs the tests of files. */
export interface Target {
  run(file: TestFile, test: Test): Promise<TestResult>;
  /** Connections that the gateway attempted on its own, and requests without a mock. */
  readonly refusals: readonly string[];
  close(): Promise<void>;
}

/** Creates the target for a running gateway. Its servers are real, so expectations of calls to them are not checked. */
export function targetAt(address: URL): Target {
  return {
    run: (file, test) => runTest(file, test, [], (signal) => sendTo(address, test.request, signal), null),
    refusals: [],
    async close() {},
  };
}

/**
 * Opens a gateway for the tests of files, with mocked servers.
 * @param mocks of the files, which answer requests that the gateway sends on its own, for example for keys.
 * @throws ConfigErrors if the configuration is not valid.
 */
export async function openTarget(
  catalogue: Catalogue,
  source: Source,
  files: readonly TestFile[],
  options: SandboxOptions,
): Promise<Target & { readonly sandbox: OpenSandbox }> {
  const network = options.network === true;
  const own = new MockedServers(
    files.flatMap(({ mocks }) => mocks),
    network,
  );
  const sandbox = await openSandbox(catalogue, source, own, options);
  return {
    sandbox,
    run(file, test) {
      const servers = new MockedServers(test.mocks, network);
      sandbox.clock.advance(test.advanceMs);
      const inject = (signal: AbortSignal) => injectTest(sandbox, servers, test.request, signal);
      return runTest(file, test, servers.lines, inject, servers);
    },
    get refusals() {
      return [...own.refusals, ...own.unanswered.keys().map((request) => `${request}: no mock of a file matches`)];
    },
    close: () => sandbox.close(),
  };
}

/** Sends a request to a gateway in a sandbox. @param servers answer the requests of the gateway. */
export async function injectTest(
  sandbox: OpenSandbox,
  servers: Session,
  { method, path, headers, body }: TestRequest,
  signal: AbortSignal,
): Promise<TestResponse> {
  const startedAt = performance.now();
  const payload = body ? { payload: Buffer.from(body) } : {};
  const options = { method: method as 'GET', url: path, headers: { ...headers }, signal, ...payload };
  return toResponse(await sandbox.inject(servers, options), performance.now() - startedAt);
}

async function runTest(
  file: TestFile,
  test: Test,
  lines: readonly string[],
  send: (signal: AbortSignal) => Promise<TestResponse>,
  servers: MockedServers | null,
): Promise<TestResult> {
  const startedAt = performance.now();
  const ending = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new Error(`no response within ${test.timeoutMs} ms`));
    ending.abort();
  }, test.timeoutMs);
  let response: TestResponse | undefined;
  const failures: Failure[] = [];
  try {
    const sent = send(ending.signal);
    // The request fails at its time limit; a failure after that is ignored.
    sent.catch(() => {});
    response = await Promise.race([sent, late]);
    const outcome = { response, calls: servers?.calls ?? null };
    for (const check of test.checks) for (const failure of check(outcome)) failures.push(failure);
  } catch (error) {
    failures.push({ pointer: test.pointer, message: (error as Error).message, lines: [] });
  } finally {
    clearTimeout(timer);
  }
  for (const request of servers?.unanswered.keys() ?? []) {
    failures.push({ pointer: test.pointer, message: `no mock matches the request ${request}`, lines: [] });
  }
  const refused = failures.length > 0 ? [...(servers?.refusals ?? [])] : [];
  for (const connection of refused) {
    failures.push({ pointer: test.pointer, message: `refused a connection: ${connection}`, lines: [] });
  }
  return { file, test, failures, response, ms: performance.now() - startedAt, lines: failures.length > 0 ? lines : [] };
}

function toResponse({ statusCode: status, headers: all, rawPayload: body }: Response, ms: number): TestResponse {
  const headers = new Map<string, string[]>();
  for (const [name, value] of Object.entries(all)) {
    if (value !== undefined) headers.set(name.toLowerCase(), Array.isArray(value) ? value : [String(value)]);
  }
  return { status, headers, body, ms };
}
