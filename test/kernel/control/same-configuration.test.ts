import { equal } from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EndpointConfig } from '#contract';
import { hasSameFiles, isSame } from '../../../kernel/control/same-configuration.ts';
import { EndpointPrints } from '../../../kernel/runtime/prints/endpoint-prints.ts';
import type { Fingerprint } from '../../../kernel/runtime/prints/fingerprint.ts';
import { ReadFiles } from '../../../kernel/runtime/prints/read-files.ts';
import type { Runtime } from '../../../kernel/runtime/runtime.ts';

const printsOf = (endpoints: readonly object[]): EndpointPrints => {
  const work = EndpointPrints.none.with([], endpoints as EndpointConfig[]);
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
};

describe('a configuration counts as equal to the active one', () => {
  let directory: string;
  let path: string;
  let serving: Runtime;

  const print = (service: string, endpoints: Record<string, string>): Fingerprint => ({
    service,
    endpoints: printsOf(Object.entries(endpoints).map(([endpoint, name]) => ({ method: 'GET', endpoint, name }))),
  });

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-same-'));
    path = join(directory, 'a');
    await writeFile(path, 'one');
    const files = new ReadFiles();
    files.read(path);
    serving = { fingerprint: print('s', { a: '1', b: '2' }), files: files.reads } as unknown as Runtime;
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('if the service, every endpoint and every file are equal', () => {
    equal(isSame(serving, print('s', { b: '2', a: '1' }), new ReadFiles()), true);
  });

  for (const [what, other] of Object.entries({
    'the service differs': print('t', { a: '1', b: '2' }),
    'an endpoint differs': print('s', { a: '1', b: '3' }),
    'an endpoint is missing': print('s', { a: '1' }),
    'an endpoint is added': print('s', { a: '1', b: '2', c: '3' }),
    'an endpoint replaces another': print('s', { a: '1', c: '2' }),
  })) {
    it(`no longer if ${what}`, () => equal(isSame(serving, other, new ReadFiles()), false));
  }

  it('no longer if a file has other content, or is missing', async () => {
    const { fingerprint } = serving;
    await writeFile(path, 'two');
    equal(isSame(serving, fingerprint, new ReadFiles()), false);
    equal(hasSameFiles(serving, new ReadFiles()), false);
    await rm(path);
    equal(hasSameFiles(serving, new ReadFiles()), false);
  });

  it('without reading files again whose contents are already known', async () => {
    await writeFile(path, 'two');
    equal(hasSameFiles(serving, new ReadFiles([[path, Buffer.from('one')]])), true);
  });
});
