import { deepEqual } from 'node:assert/strict';
import type { Consumer } from '@platformatic/kafka';
import { Commits } from '../../../../plugins/clients/kafka/consumer/commits.ts';
import { until } from '../../../support/conditions.ts';

describe('offset commits of a Kafka consumer group', () => {
  /** A client whose commits the test answers one by one. */
  const clientOf = () => {
    const requested: string[] = [];
    const answers: PromiseWithResolvers<void>[] = [];
    const client = {
      listCommittedOffsets: async () => new Map([['t', [1n, 1n]]]),
      commit({ offsets }: { offsets: { partition: number; offset: bigint }[] }) {
        requested.push(offsets.map(({ partition, offset }) => `${partition}: ${offset}`).join(' '));
        const answer = Promise.withResolvers<void>();
        answers.push(answer);
        return answer.promise;
      },
    } as unknown as Consumer<Buffer, Buffer, Buffer, Buffer>;
    return { client, requested, answers };
  };
  const both = [{ topic: 't', partitions: [0, 1] }];

  it('continue with a new client while the lost client does not respond', async () => {
    const commits = new Commits();
    const lost = clientOf();
    await commits.begin(lost.client, both, new Map());
    commits.commit('t', 0, 5n);
    await until(() => lost.requested.length === 1);
    const ending = commits.finish(lost.client);
    const next = clientOf();
    await commits.begin(next.client, both, new Map());
    commits.commit('t', 1, 7n);
    await until(() => next.requested.length === 1);
    next.answers[0]!.resolve();
    lost.answers[0]!.reject(new Error('lost'));
    await ending;
    // Expects that commits without a response are repeated.
    await until(() => next.requested.length === 2);
    next.answers[1]!.resolve();
    commits.commit('t', 1, 8n);
    await until(() => next.requested.length === 3);
    next.answers[2]!.resolve();
    deepEqual([lost.requested, next.requested], [['0: 5'], ['1: 7', '0: 5', '1: 8']]);
    await commits.finish(next.client);
  });

  it('exclude partitions that are now assigned to other members', async () => {
    const commits = new Commits();
    const lost = clientOf();
    await commits.begin(lost.client, both, new Map());
    commits.commit('t', 0, 5n);
    await until(() => lost.requested.length === 1);
    const next = clientOf();
    await commits.begin(next.client, [{ topic: 't', partitions: [1] }], new Map());
    lost.answers[0]!.reject(new Error('lost'));
    commits.commit('t', 1, 7n);
    await until(() => next.requested.length === 1);
    next.answers[0]!.resolve();
    await commits.finish(next.client);
    deepEqual(next.requested, ['1: 7']);
  });
});
