import { deepEqual, equal, ok } from 'node:assert/strict';
import type Koa from 'koa';
import { describeAdmin } from '../../../admin/openapi/admin-api.ts';
import type { Admin } from '../../../admin/operation.ts';
import { changing } from '../../../admin/operations/changing.ts';
import { live } from '../../../admin/operations/health.ts';
import { reading } from '../../../admin/operations/reading.ts';
import { openStream } from '../../support/stream-client.ts';
import { type Answered, type Ask, TOKEN } from '../support.ts';
import { type Call, calls } from './calls.ts';
import { readDescription } from './description.ts';
import { type Setup, type SetupName, setups } from './setups.ts';

const document = describeAdmin([...changing, ...reading], 'http://127.0.0.1:9180');
const description = readDescription(document);

describe('the OpenAPI document of the admin API', () => {
  it('lists exactly the parameters that occur in each path', () => {
    for (const [name, { parameters = [] }] of description.operations) {
      const reported = parameters.filter((one) => one.in === 'path');
      ok(
        reported.every(({ required }) => required),
        name,
      );
      deepEqual(
        reported.map(({ name: one }) => one),
        [...name.matchAll(/\{(\w+)\}/g)].map(([, one]) => one),
        name,
      );
    }
  });

  it('lists each parameter once', () => {
    for (const [name, { parameters = [] }] of description.operations) {
      equal(new Set(parameters.map((one) => `${one.in} ${one.name}`)).size, parameters.length, name);
    }
  });

  it('gives every operation a unique name', () => {
    const names = [...description.operations.values()].map(({ operationId }) => operationId);
    equal(new Set(names).size, changing.length + reading.length);
  });
});

/** Requests that are rejected before an operation starts. */
const refusals: Readonly<Record<number, { readonly at?: SetupName; change(ask: Ask): Ask }>> = {
  400: { change: (ask) => ({ ...ask, headers: { ...ask.headers, connection: 'upgrade', upgrade: 'other' } }) },
  401: { change: (ask) => ({ ...ask, token: null }) },
  403: { change: (ask) => ({ ...ask, headers: { ...ask.headers, origin: 'http://evil.test' } }) },
  412: { change: (ask) => ({ ...ask, headers: { ...ask.headers, 'if-match': '"9-000000000000"' } }) },
  413: { at: 'small', change: (ask) => ({ body: { level: 'DEBUG' }, ...ask }) },
  415: {
    change: (ask) => ({ body: '{}', ...ask, headers: { ...ask.headers, 'content-type': 'text/plain' } }),
  },
  421: { change: (ask) => ({ ...ask, headers: { ...ask.headers, host: 'evil.test' } }) },
  428: {
    at: 'careful',
    change({ headers: { 'if-match': _, ...headers } = {}, ...ask }) {
      return { ...ask, headers };
    },
  },
  429: { at: 'flooded', change: (ask) => ({ ...ask, token: 'wrong' }) },
};

/** Documented statuses that no client can cause in this test, with the reason. */
const unreachable: Readonly<Record<string, readonly number[]>> = {
  // No token is required, because the requests come from a loopback address.
  'GET /metrics': [401, 429],
  // Only a later release could reject these revisions, which were accepted when they were applied.
  'GET /v1/revisions/{from}/diff/{to}': [422],
  // The response takes ten seconds, so the suite of the operation tests it with a fake clock.
  'POST /v1/try': [504],
};

describe('the responses of the admin API', function () {
  this.timeout(180_000);
  const shared = new Map<SetupName, Promise<Setup>>();
  const given = new Map<string, Set<number>>();

  after(async () => {
    for (const setup of shared.values()) await (await setup).close();
  });

  /** A gateway that rejects all requests, so that they do not change it. */
  const refuser = async (name: SetupName) => {
    const setup = shared.get(name) ?? setups[name]();
    shared.set(name, setup);
    return (await setup).one;
  };

  const note = (name: string, response: Pick<Answered, 'status' | 'headers' | 'text'>, wanted: number): void => {
    equal(response.status, wanted, `${name}: ${response.text}`);
    deepEqual(description.differences(name, response), [], `${name} ${wanted}: ${response.text}`);
    given.set(name, (given.get(name) ?? new Set()).add(wanted));
  };

  /** Sends every kind of request that is rejected before the operation starts. */
  const refuse = async (name: string, path: string, ask: Ask): Promise<void> => {
    for (const [status, { at = 'plain', change }] of Object.entries(refusals)) {
      const isDescribed = status in description.operations.get(name)!.responses;
      if (!isDescribed || unreachable[name]?.includes(Number(status))) continue;
      // After ten responses with the first status to one address, the second status is returned for a minute.
      if (['401', '429'].includes(status)) await make(name, { path, ask: change(ask), at }, Number(status));
      else note(name, await (await refuser(at)).ask(path, change(ask)), Number(status));
    }
  };

  const make = async (name: string, { path, ask, at = 'plain', first }: Call, wanted: number): Promise<void> => {
    const { one, close } = await setups[at]();
    try {
      await first?.(one);
      note(name, await one.ask(path, ask), wanted);
    } finally {
      await close();
    }
  };

  it('are tested with a call for each documented status', () =>
    deepEqual([...description.operations.keys()].sort(), [...Object.keys(calls), 'GET /v1/events'].sort()));

  for (const [name, byStatus] of Object.entries(calls)) {
    it(`to ${name} match the OpenAPI document`, async () => {
      for (const [status, each] of Object.entries(byStatus)) {
        for (const call of [each].flat() as Call[]) await make(name, call, Number(status));
      }
    });

    it(`to rejected requests for ${name} match the OpenAPI document`, async () => {
      const [{ path, ask = {} }] = [Object.values(byStatus)[0]].flat() as [Call];
      await refuse(name, path, ask);
    });
  }

  for (const [path, query] of [
    ['/v1/events', ''],
    ['/v1/routes/observation', '?endpoint=GET%20/a'],
  ]) {
    it(`to GET ${path}, a stream, match the OpenAPI document`, async () => {
      const name = `GET ${path}`;
      const { one, close } = await setups.plain();
      const port = Number(one.admin.address!.split(':')[1]);
      const stream = await openStream(port, `${path}${query}`, { authorization: `Bearer ${TOKEN}` });
      await stream.until(':');
      note(name, { status: stream.status, headers: stream.headers, text: String(stream.bytes) }, 200);
      stream.leave();
      await refuse(name, `${path}${query}`, {});
      await close();
    });
  }

  it('to POST /v1/dashboard/sessions match the OpenAPI document', async () => {
    const { one, close } = await setups.plain();
    const { body } = await one.ask('/v1/dashboard/codes', { method: 'POST' });
    const path = '/v1/dashboard/sessions';
    note(`POST ${path}`, await one.ask(path, { method: 'POST', token: body.code }), 200);
    await close();
  });

  it('to GET /live match the OpenAPI document while the event loop is blocked', () => {
    const ctx = {} as Koa.Context;
    live.handle(ctx, { operating: { loopLag: { ms: 6_000 } } } as Admin);
    const headers = { 'content-type': 'application/json' };
    note('GET /live', { status: ctx.status, headers, text: JSON.stringify(ctx.body) }, 503);
  });

  it('cover every documented status except internal errors', () => {
    for (const [name, { responses }] of description.operations) {
      const wanted = Object.keys(responses).map(Number);
      const exempt = new Set([500, ...(unreachable[name] ?? [])]);
      const results = given.get(name) ?? new Set();
      deepEqual(
        wanted.filter((status) => !exempt.has(status) && !results.has(status)),
        [],
        name,
      );
    }
  });
});
