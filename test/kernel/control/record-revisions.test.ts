import { deepEqual, equal, ok } from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../../kernel/contract/internal.ts';
import type { Trigger } from '../../../kernel/control/attempts.ts';
import type { Change } from '../../../kernel/control/change.ts';
import { Control } from '../../../kernel/control/control.ts';
import { type Engine, openEngine } from '../../../kernel/control/engine.ts';
import { createEventLog } from '../../../kernel/control/event-log.ts';
import { recordRevisions, recordStart } from '../../../kernel/control/record-revisions.ts';
import { createRevisionStore, type RevisionStore } from '../../../kernel/control/revision-store.ts';
import { ConfigText } from '../../../kernel/control/snapshot.ts';
import { silentSinks } from '../../../kernel/testing/index.ts';
import { catalogue } from '../../../plugins/index.ts';
import { makeCertificates } from '../../support/certificates.ts';

describe('the recorded history of revisions', () => {
  let folder: string;
  let file: string;
  let engine: Engine;
  let control: Control;
  let revisions: RevisionStore;

  const text = (name: string, more: object = {}) => JSON.stringify({ version: 3, name, endpoints: [], ...more });
  const apply = (change: Partial<Change>) => control.apply({ trigger: 'api', ...change });
  const newest = () => revisions.list()[0]!;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-history-'));
    file = join(folder, 'gateway.json');
    writeFileSync(file, text('one'));
    const events = createEventLog();
    engine = openEngine(catalogue, { sinks: silentSinks, events });
    revisions = await createRevisionStore(null, () => 20, silentLog);
    control = new Control({ generations: engine.generations, overrides: {}, source: file, events });
    recordRevisions(control, engine.generations, revisions);
    await control.apply({ trigger: 'start' });
  });
  afterEach(async () => {
    await engine.generations.close();
    await engine.registry.close();
    rmSync(folder, { recursive: true });
  });

  const start = () => recordStart(control, engine.generations, revisions);

  it('begins with the first configuration', async () => {
    deepEqual(revisions.list(), []);
    await start();
    const { at, ...kept } = (await revisions.get(1)) as object & { at: string };
    deepEqual(kept, {
      number: 1,
      hash: engine.generations.current.runtime.hash,
      source: 'start',
      actor: null,
      message: null,
      result: 'applied',
      reason: null,
      pinned: false,
      format: 'json',
      files: [file],
      text: text('one'),
    });
    ok(Math.abs(Date.now() - Date.parse(at)) < 60_000);
  });

  it('contains the first configuration once', async () => {
    await start();
    await revisions.markBad(1, 'errors rose');
    await start();
    deepEqual(
      revisions.list().map(({ number, result }) => [number, result]),
      [[1, 'rolled-back']],
    );
  });

  it('places the first configuration after the revisions of other processes', async () => {
    const { hash } = engine.generations.current.runtime;
    await start();
    const other = { ...((await revisions.get(1)) as never as object), number: 7 };
    await revisions.add(other as never);
    await start();
    deepEqual(
      revisions.list().map(({ number }) => number),
      [7, 1],
    );
    equal(hash, revisions.list()[1]!.hash);
  });

  for (const [trigger, source, as] of [
    ['api', new ConfigText(text('two'), 'json'), 'api'],
    ['api', { version: 3, name: 'two', endpoints: [] }, 'file'],
    ['watch', new ConfigText(text('two'), 'json'), 'file'],
    ['signal', new ConfigText(text('two'), 'json'), 'file'],
    ['rollback', new ConfigText(text('two'), 'json'), 'rollback'],
    ['guard', new ConfigText(text('two'), 'json'), 'guard'],
    ['resume', new ConfigText(text('two'), 'json'), 'resume'],
    ['start', new ConfigText(text('two'), 'json'), 'start'],
  ] as const satisfies readonly (readonly [Trigger, object, string])[]) {
    const how = source instanceof ConfigText ? 'a text' : 'an object';
    it(`records ${as} as the source of ${how} with the trigger ${trigger}`, async () => {
      const { revision, hash } = await apply({ trigger, source });
      deepEqual([newest().number, newest().source, newest().hash], [revision, as, hash]);
    });
  }

  it('records actor, message and every file that was read', async () => {
    const certificates = makeCertificates();
    const { certificate, privateKey } = certificates.issue('one', certificates.authority('authority'));
    writeFileSync(file, text('two', { tls: { keys: [{ public_key: certificate, private_key: privateKey }] } }));
    await apply({ actor: 'deployer', message: 'a certificate' });
    const { actor, message, files, source } = newest();
    deepEqual([actor, message, source], ['deployer', 'a certificate', 'file']);
    deepEqual(files.toSorted(), [file, certificate, privateKey].toSorted());
    certificates.remove();
  });

  it('records the format of a text, without a file', async () => {
    await apply({ source: new ConfigText('version: 3\nname: two\nendpoints: []\n', 'yaml') });
    deepEqual([newest().files, newest().format], [[], 'yaml']);
  });

  it('omits changes that need not be recorded, change nothing or are dry runs', async () => {
    await apply({ source: new ConfigText(text('two'), 'json'), recorded: false });
    await apply({ source: new ConfigText(text('three'), 'json'), dryRun: true });
    await apply({ source: new ConfigText(text('two'), 'json') });
    deepEqual(revisions.list(), []);
    await apply({ source: new ConfigText(text('four'), 'json'), recorded: true });
    equal(revisions.list().length, 1);
  });
});
