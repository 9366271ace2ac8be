import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { sluice } from '../kernel/cli/command.ts';
import { setEnvironment } from '../support/environment.ts';
import { startGateway } from '../support/gateway.ts';
import { followGuide } from './guide.ts';
import { ATTEMPTS, handedOver } from './handed-over.ts';

describe('the sample "sqs"', function () {
  this.timeout(180_000);
  let aws: FauxqsServer;
  let servers: Record<string, string>;
  let restore: () => void;

  before(async () => {
    aws = await startFauxqs({ port: 0, logger: false });
    restore = setEnvironment({
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 's3cret',
      AWS_EC2_METADATA_DISABLED: 'true',
    });
    const { queueUrl } = aws.createQueue('orders');
    const { host, pathname } = new URL(queueUrl);
    servers = {
      'sqs.eu-west-1.amazonaws.com/123456789012/orders': `${host}${pathname}`,
      'region=eu-west-1': `region=us-east-1&endpoint=${aws.address}`,
    };
  });
  after(async () => {
    restore();
    await aws.stop();
  });

  it('passes check without warnings', async () => {
    const { code, err } = await sluice('check', '-c', 'samples/sqs/gateway.json');
    deepEqual([code, err], [0, '']);
  });

  it('has a guide whose commands print the output that it shows', () =>
    followGuide('sqs', { servers, attempts: ATTEMPTS }));

  it('delivers an order to a request that waits for it', async () => {
    const text = readFileSync('samples/sqs/gateway.json', 'utf8');
    const placed = Object.entries(servers).reduce((all, [named, server]) => all.replaceAll(named, server), text);
    const gateway = await startGateway(JSON.parse(placed));
    deepEqual(await handedOver(gateway, '/orders', '/orders/next'), { order: { id: 7 } });
    await gateway.close();
  });
});
