import { deepEqual } from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { until } from '../../../support/conditions.ts';
import { callUnary } from '../../../support/grpc/caller.ts';
import { bundledProgram } from '../../../support/programs.ts';
import { find, Stage } from './fixture.ts';

const program = bundledProgram();

describe('gRPC services of a gateway with workers', function () {
  // The time limit is raised, because worker processes start slowly on a busy machine.
  this.timeout(120_000);
  const stage = new Stage();
  before(() => stage.open());
  after(() => stage.close());
  afterEach(() => stage.end());

  it('are served by every worker, before and after a reload', async () => {
    await stage.start([find(stage.http('/x'))], {}, { workers: { count: 2, program, args: [] } });
    const codes = async (method: string) => {
      const clients = Array.from({ length: 8 }, (_none, at) =>
        stage.client(undefined, { 'grpc.use_local_subchannel_pool': 1, at }),
      );
      const ended = await Promise.all(clients.map((client) => callUnary(client, method)));
      return [...new Set(ended.map(({ code }) => code))];
    };
    deepEqual(await codes('Find'), [status.OK]);
    deepEqual(await codes('Echo'), [status.UNIMPLEMENTED]);
    await stage.gateway.reload(stage.config([{ name: 'Echo', backend: [stage.http('/camel')] }]) as never);
    deepEqual(await codes('Find'), [status.UNIMPLEMENTED]);
    deepEqual(await codes('Echo'), [status.OK]);
    await until(() => stage.gateway.status.calls === 0);
  });
});
