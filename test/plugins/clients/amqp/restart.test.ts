import { equal, ok } from 'node:assert/strict';
import { runMessages } from '../../../../scripts/chaos/messages.ts';
import { repetitions } from '../../../support/budget.ts';
import { INSTALLATION_MS } from '../../../support/debian.ts';
import { OPENING_MS, withoutRabbit } from '../../../support/rabbitmq.ts';

const where = withoutRabbit === null ? describe : describe.skip;

where(`a RabbitMQ that is killed and started again${withoutRabbit ? ` (${withoutRabbit})` : ''}`, () => {
  it('loses no confirmed message and blocks no request', async function () {
    this.timeout(INSTALLATION_MS + 4 * OPENING_MS);
    // The time limit is raised, because each restart takes four seconds of processor time.
    const restarts = repetitions(1, 2);
    const counts = await runMessages({ reloads: 10, restarts });
    equal(counts.lost, 0);
    ok(counts.confirmed > 100, JSON.stringify(counts));
    ok(counts.refused > 0, JSON.stringify(counts));
    // Duplicates are allowed, because messages that were in progress or not yet persisted when the broker stopped are
    // redelivered.
    ok(counts.doubled <= restarts * 20, JSON.stringify(counts));
    ok(counts.slowestRefusalMs < 4000, JSON.stringify(counts));
    equal(counts.reloads, 10);
  });
});
