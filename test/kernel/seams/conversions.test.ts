import { deepEqual, equal } from 'node:assert/strict';
import { atEndpoint, type DataObject, definePlugin, isObject, joinPointer, type Plugin, refuse } from '#contract';
import type { Operations } from '#kernel';
import { json, startBackend, type TestBackend } from '../../support/gateway.ts';
import { refusalsOf } from '../../support/modules.ts';
import { startWith } from '../../support/plugged.ts';

/** A component that answers every request with a status. */
const present = definePlugin({
  name: 'test/answer',
  description: 'Answers by itself.',
  places: [
    atEndpoint(
      {
        type: 'object',
        required: ['status'],
        properties: { status: { type: 'integer', minimum: 200, maximum: 599, description: 'The status.' } },
      },
      ({ config: { status } }) => ({ endpoint: () => () => refuse(status) }),
    ),
  ],
});

/** The component under its name in another product. */
const old = (becomes: Plugin['becomes']) =>
  definePlugin({
    name: 'test/old-answer',
    description: 'An old form.',
    ...(becomes && { becomes }),
    convert(document, report) {
      const endpoints = Array.isArray(document['endpoints']) ? document['endpoints'] : [];
      for (const [index, endpoint] of endpoints.entries()) {
        const extra = isObject(endpoint) && endpoint['extra_config'];
        if (!isObject(extra) || !isObject(extra['test/old-answer'])) continue;
        const at = joinPointer('/endpoints', index, 'extra_config');
        extra['test/answer'] = { status: (extra['test/old-answer'] as DataObject)['code']! };
        delete extra['test/old-answer'];
        report.moved(at, 'test/answer', 'test/old-answer');
        report.moved(`${at}/test~1answer`, 'status', 'code');
        report.warn('TEST_OLD', joinPointer(at, 'test/old-answer'), 'it is old');
      }
    },
    places: [atEndpoint({ type: 'object' }, () => ({}))],
  });

describe('a component that is converted into a different component', () => {
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

  const start = (code: number, becomes: Plugin['becomes']) =>
    startWith([present, old(becomes)], {
      endpoints: [
        {
          endpoint: '/a',
          extra_config: { 'test/old-answer': { code } },
          backend: [{ host: [backend.url], url_pattern: '/' }],
        },
      ],
    });

  it("loads that component's plugin, even if the configuration does not name it", async () => {
    gateway = await start(418, ['test/answer']);
    equal((await gateway.inject('/a')).statusCode, 418);
    deepEqual(
      gateway.status.warnings.map(({ code, pointer }) => [code, pointer]),
      [['TEST_OLD', '/endpoints/0/extra_config/test~1old-answer']],
    );
  });

  it('reports errors at the place and in the form that the configuration contains', async () => {
    const errors = await refusalsOf(start(99, ['test/answer']));
    deepEqual(
      errors.map(({ code, pointer }) => [code, pointer]),
      [['SCHEMA_RANGE', '/endpoints/0/extra_config/test~1old-answer/code']],
    );
  });
});
