import fc from 'fast-check';
import { CallError, ConfigError, type Data, isObject } from '#contract';
import { headersOf } from '../../../kernel/cases/checks/calls.ts';
import { compileFile } from '../../../kernel/cases/compile-file.ts';
import { MockedServers } from '../../../kernel/cases/mock.ts';
import { fileSchema } from '../../../kernel/cases/schema.ts';
import { specSchema } from '../../../kernel/cases/spec-schema.ts';
import { ConfigErrors } from '../../../kernel/contract/internal.ts';
import { configurationsOf } from '../from-schema.ts';
import { data, oddTexts } from '../grammar.ts';
import { defineTarget } from '../target.ts';

interface Input {
  readonly file: unknown;
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: unknown;
  readonly calls: readonly { readonly url: string; readonly body: string }[];
}

/** Files with tests, and the responses and calls that they are compared with. */
export const testFiles = defineTarget<Input>({
  name: 'test-files',
  law: 'A file is rejected with errors, or its expectations are met or not; prototypes stay as they are.',
  boundMs: 500,
  rooms: ['kernel/cases/'],
  isGuided: true,
  inputs: fc.record({
    file: fc.oneof(configurationsOf(fileSchema), configurationsOf(specSchema)),
    status: fc.integer({ min: 200, max: 599 }),
    headers: fc.array(fc.tuple(oddTexts, oddTexts), { maxLength: 4 }).map((pairs) => pairs.flat()),
    body: fc.oneof(data, oddTexts),
    calls: fc.array(fc.record({ url: fc.oneof(oddTexts, fc.webUrl({ withQueryParameters: true })), body: oddTexts }), {
      maxLength: 4,
    }),
  }),
  async open() {
    return { accept, async close() {} };
  },
});

async function accept({ file, status, headers, body, calls }: Input): Promise<void> {
  // Recordings are not read, because they are files of the system.
  const given = isObject(file) && 'recordings' in file ? { ...file, recordings: [] } : file;
  try {
    for (const { mocks, checks } of compileFile(given as Data, 'tests.json').tests) {
      const servers = new MockedServers(mocks, false);
      for (const call of calls) respond(servers, call);
      const text = Buffer.from(typeof body === 'string' ? body : (JSON.stringify(body) ?? ''));
      const response = { status, headers: headersOf(headers), body: text, ms: 1 };
      for (const check of checks) check({ response, calls: servers.calls });
    }
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof ConfigErrors)) throw error;
  }
  if (Object.keys(Object.prototype).length > 0) throw new Error('Object.prototype has a property');
}

function respond(servers: MockedServers, { url, body }: Input['calls'][number]): void {
  try {
    servers.respond({ protocol: 'http', method: 'GET', url, headers: ['X-A', '1'], body: Buffer.from(body) });
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
  }
}
