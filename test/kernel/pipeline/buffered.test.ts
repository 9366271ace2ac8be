import { deepEqual, equal } from 'node:assert/strict';
import { Reply, type RequestBody } from '#contract';
import { buffered } from '../../../kernel/pipeline/request/buffered.ts';
import { newCall, pipeRequest } from './requests.ts';

/** A body whose bytes are read as `bytes` says. */
function bodyOf(sections: { length?: number; isTooLarge?: boolean; bytes?: () => unknown }) {
  const made = { read: 0, body: null as unknown as RequestBody };
  made.body = {
    isTooLarge: false,
    length: undefined,
    ...sections,
    bytes() {
      made.read++;
      return sections.bytes?.() ?? Promise.resolve(new Uint8Array());
    },
  } as never;
  return made;
}

async function sent(body: RequestBody | null, unlessMeasured?: boolean) {
  let calls = 0;
  const next = () => {
    calls++;
    return Reply.data({});
  };
  const reply = await buffered(next, unlessMeasured)(pipeRequest(body), newCall());
  return { calls, errors: reply.errors.map(({ code }) => code) };
}

describe('a buffered request body', () => {
  it('is read before any inner stage runs', async () => {
    for (const sections of [{}, { length: 5 }, { bytes: () => new Uint8Array() }]) {
      const made = bodyOf(sections);
      deepEqual([await sent(made.body), made.read], [{ calls: 1, errors: [] }, 1]);
    }
    deepEqual(await sent(null), { calls: 1, errors: [] });
  });

  it('is not read for a check of its length alone if the declared length is allowed', async () => {
    for (const [sections, read] of [
      [{ length: 5 }, 0],
      [{ length: 0 }, 0],
      [{}, 1],
      [{ length: 5, isTooLarge: true }, 1],
    ] as const) {
      const made = bodyOf(sections);
      await sent(made.body, true);
      equal(made.read, read, JSON.stringify(sections));
    }
  });

  it('fails the call if it cannot be read: as canceled if the client disconnected, otherwise as an error', async () => {
    for (const [code, reported] of [
      ['ECONNRESET', 'CALL_CANCELLED'],
      ['ERR_STREAM_PREMATURE_CLOSE', 'CALL_CANCELLED'],
      ['EIO', 'GATEWAY_FAULT'],
    ]) {
      const { body } = bodyOf({ bytes: () => Promise.reject(Object.assign(new Error('no'), { code })) });
      deepEqual(await sent(body), { calls: 0, errors: [reported] });
    }
  });
});
