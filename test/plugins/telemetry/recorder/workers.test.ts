import { equal } from 'node:assert/strict';
import { until } from '../../../support/conditions.ts';
import { json } from '../../../support/gateway.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { type Entry, RecordingStage } from './fixture.ts';

const program = bundledProgram();

describe('telemetry/recorder in several workers', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(180_000);
  const stage = new RecordingStage();
  afterEach(() => stage.close());

  it('writes the recordings of all workers, each once', async () => {
    await stage.start(json({ ok: true }), {}, {}, { workers: { count: 2, program, args: [] } });
    const { port } = await stage.gateway.listen();
    for (let at = 0; at < 20; at++) {
      await fetch(`http://127.0.0.1:${port}/users/${at}`, { headers: { connection: 'close' } });
    }
    await until(() => stage.files().length === 20);
    const har = JSON.parse(stage.gateway.recordings(5)!) as { log: { entries: Entry[] } };
    equal(new Set(har.log.entries.map(({ _sluice }) => _sluice.id)).size, 5);
    equal(new Set(stage.files().map((file) => stage.entriesOf(file)[0]!.request.url)).size, 20);
  });
});
