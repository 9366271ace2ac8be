import { deepEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import type { Gateway } from '../../../../kernel/index.ts';
import { startWith } from '../../../support/plugged.ts';

describe('security/http in a gateway', () => {
  let gateway: Gateway;
  let port: number;

  before(async () => {
    gateway = await startWith([], {
      use_h2c: true,
      extra_config: { 'security/http': { allowed_hosts: ['api.test'] } },
      endpoints: [{ endpoint: '/a', backend: [{ host: ['http://127.0.0.1:1'], url_pattern: '/' }] }],
    });
    ({ port } = await gateway.listen());
  });
  after(() => gateway.close());

  const statusOf = async (authority: string): Promise<number | undefined> => {
    const session = connect(`http://127.0.0.1:${port}`);
    try {
      const stream = session.request({ ':path': '/nowhere', ':authority': authority });
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status'?: number }];
      return headers[':status'];
    } finally {
      session.destroy();
    }
  };

  it('reads the host from the :authority of HTTP/2', async () => {
    deepEqual([await statusOf('api.test'), await statusOf('API.test'), await statusOf('other.test')], [404, 404, 500]);
  });
});
