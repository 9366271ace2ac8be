import { deepEqual, doesNotMatch, equal, ok } from 'node:assert/strict';
import { holding, PROTOTYPE_NAMES } from '../support/prototype-names.ts';
import { config, openAdmin, type TestAdmin } from './support.ts';

for (const name of PROTOTYPE_NAMES) {
  describe(`the name ${name}, sent to the admin API`, () => {
    let admin: TestAdmin;
    before(async () => {
      const { version, endpoints } = config();
      const data = holding(name, { password: 'hunter2' });
      const proxy = { static: { strategy: 'always', data } };
      admin = await openAdmin({ version, endpoints: endpoints.map((each) => ({ ...each, extra_config: { proxy } })) });
    });
    after(() => admin.close());

    it('has no side effects as a query parameter', async () => {
      for (const path of ['/v1/config', '/v1/status', '/v1/routes', '/v1/revisions']) {
        const { status } = await admin.ask(`${path}?${name}=1`);
        ok(status < 500, `${path} ${status}`);
      }
    });

    it('is rejected as the value of a parameter', async () => {
      for (const path of [
        `/v1/config?form=${name}`,
        `/v1/config?pointer=/${name}`,
        `/v1/config?pointer=/endpoints/0/${name}`,
        `/v1/schema?component=${name}`,
        `/v1/schema/${name}`,
        `/v1/revisions/${name}`,
        `/v1/routes?method=${name}`,
        `/v1/${name}`,
        `/${name}`,
      ]) {
        const { status, text } = await admin.ask(path);
        ok(status >= 200 && status < 500, `${path} ${status} ${text}`);
        doesNotMatch(text, /native code|\[object/);
      }
    });

    it('is an ordinary key in a JSON patch', async () => {
      const current = (await admin.ask('/v1/config')).headers.etag!;
      const patch = (body: object, type: string) =>
        admin.ask('/v1/config?dry_run', {
          method: 'PATCH',
          headers: { 'Content-Type': type, 'If-Match': current },
          body: JSON.stringify(body),
        });
      for (const path of [`/${name}/x`, `/endpoints/0/${name}/x`, `/endpoints/${name}`]) {
        for (const op of ['add', 'remove', 'replace', 'test']) {
          const { status, text } = await patch([{ op, path, value: 1 }], 'application/json-patch+json');
          ok(status >= 400 && status < 500, `${op} ${path}: ${status} ${text}`);
        }
      }
      const added = await patch([{ op: 'add', path: `/${name}`, value: 1 }], 'application/json-patch+json');
      ok(added.status < 500);
      const merged = await patch(holding(name, { polluted: 1 }), 'application/merge-patch+json');
      ok(merged.status < 500);
      const op = await patch([{ op: name, path: '/a', value: 1 }], 'application/json-patch+json');
      equal(op.status, 400);
    });

    it('is an ordinary key in a masked configuration, also when that is sent back', async () => {
      for (const form of ['source', 'effective']) {
        const { text, headers } = await admin.ask(`/v1/config?form=${form}`);
        doesNotMatch(text, /hunter2/);
        deepEqual(Object.entries(JSON.parse(text).endpoints[0].extra_config.proxy.static.data), [
          [name, { password: '***' }],
        ]);
        if (form === 'effective') continue;
        const put = await admin.ask('/v1/config', {
          method: 'PUT',
          headers: { 'Content-Type': 'application/json', 'If-Match': headers.etag! },
          body: text,
        });
        equal(put.status, 200, put.text);
        const { static: kept } = admin.gateway.config.endpoints[0]!.extra_config['proxy'] as never as {
          static: { data: object };
        };
        deepEqual(Object.entries(kept.data), [[name, { password: 'hunter2' }]]);
      }
    });
  });
}
