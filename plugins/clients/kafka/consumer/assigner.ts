import type { GroupPartitionsAssigner } from '@platformatic/kafka';

/**
 * Range assignor: each member gets a contiguous range of the partitions of every topic it reads; the first members get
 * one more if they do not divide evenly.
 */
export const rangeAssigner: GroupPartitionsAssigner = (_current, members, topics, metadata) => {
  const assignments = new Map([...members.keys()].map((memberId) => [memberId, new Map()]));
  for (const topic of topics) {
    const readers = [...members]
      .filter(([, member]) => member.topics?.includes(topic) ?? true)
      .map(([memberId]) => memberId)
      .sort();
    const count = metadata.topics.get(topic)?.partitionsCount ?? 0;
    let next = 0;
    for (const [index, memberId] of readers.entries()) {
      const share = Math.floor(count / readers.length) + (index < count % readers.length ? 1 : 0);
      const partitions = Array.from({ length: share }, (_, at) => next + at);
      next += share;
      if (share > 0) assignments.get(memberId)?.set(topic, { topic, partitions });
    }
  }
  return [...assignments].map(([memberId, assigned]) => ({ memberId, assignments: assigned }));
};
