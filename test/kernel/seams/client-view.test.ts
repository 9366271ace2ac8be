import { deepEqual, equal } from 'node:assert/strict';
import { atEndpoint, CallError, type ClientView, definePlugin, refuse } from '#contract';
import type { Operations } from '#kernel';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { startWith } from '../../support/plugged.ts';

/** A component that rejects every request, with a response body for the client. */
const refusing = (view: ClientView) =>
  definePlugin({
    name: 'test/refusing',
    description: 'Refuses requests.',
    places: [
      atEndpoint({ type: 'object' }, () => ({
        endpoint: () => () => refuse(view.status ?? 500, { error: new CallError('TEST', 'for the log', { view }) }),
      })),
    ],
  });

describe("the client's view of a failed call", () => {
  let backend: TestBackend;
  let gateway: Operations | undefined;

  before(async () => {
    backend = await startBackend(json({ ok: true }));
  });
  after(() => backend.close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });

  const shown = async (view: ClientView, returnsMessages: boolean) => {
    gateway = await startWith([refusing(view)], {
      extra_config: { router: { return_error_msg: returnsMessages } },
      endpoints: [
        {
          endpoint: '/a',
          extra_config: { 'test/refusing': {} },
          backend: [{ host: [backend.url], url_pattern: '/' }],
        },
      ],
    });
    const { statusCode, headers, body } = await gateway.inject('/a');
    await gateway.close();
    gateway = undefined;
    return [statusCode, headers['content-type'], body];
  };
  const view = { status: 422, body: '{"why":"so"}', contentType: 'application/json' } as const;

  it('has the body of the component with "always", regardless of return_error_msg', async () => {
    const always = { ...view, always: true } as const;
    const expected = [422, 'application/json', view.body];
    deepEqual(await shown(always, false), expected);
    deepEqual(await shown(always, true), expected);
  });

  it('otherwise has an empty body, unless return_error_msg is set', async () => {
    deepEqual((await shown(view, false)).slice(0, 3), [422, undefined, '']);
    deepEqual(await shown(view, true), [422, 'application/json', view.body]);
  });

  it('never contains the log message without return_error_msg', async () => {
    equal((await shown({ status: 500, always: true }, false))[2], '');
    equal((await shown({ status: 500 }, true))[2], 'for the log');
  });
});
