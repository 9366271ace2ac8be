import type { Catalogue } from '#contract';
import type { Source } from '../../control/snapshot.ts';
import { openSandbox, type SandboxOptions } from '../../sandbox/open-sandbox.ts';
import { MockedServers } from '../mock.ts';
import type { RecordedRequest, Traffic } from '../replay/traffic.ts';
import { injectTest } from '../run-tests.ts';
import type { TestResponse } from '../test.ts';

/** Time limit of a request, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Response of a configuration to a recorded request. */
export interface Answered {
  /** Null if no response arrived in time. */
  readonly response: TestResponse | null;
  /** Calls of backends that the recording does not contain, with their number. */
  readonly unanswered: ReadonlyMap<string, number>;
}

/**
 * Sends the requests of a recording to a configuration, whose backends respond as recorded. The clock of rate limits and
 * breakers follows the times of the recording.
 * @throws ConfigErrors if the configuration is not valid.
 */
export async function* runTraffic(
  { requests }: Traffic,
  catalogue: Catalogue,
  source: Source,
  options: SandboxOptions,
): AsyncGenerator<readonly [RecordedRequest, Answered]> {
  const mocks = requests.flatMap((request) => request.mocks);
  const sandbox = await openSandbox(catalogue, source, new MockedServers(mocks, false), options);
  try {
    let at = requests[0]?.at ?? 0;
    for (const recorded of requests) {
      const passedMs = Math.max(0, recorded.at - at);
      at += passedMs;
      sandbox.clock.advance(passedMs);
      const servers = new MockedServers(recorded.mocks, false);
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await injectTest(sandbox, servers, recorded.request, signal).catch(() => null);
      yield [recorded, { response, unanswered: servers.unanswered }];
    }
  } finally {
    await sandbox.close();
  }
}
