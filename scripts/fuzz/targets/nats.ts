import { BackendError, CallError } from '#contract';
import { silentLog } from '../../../kernel/contract/internal.ts';
import { DeniedAddresses } from '../../../kernel/net/denied-addresses.ts';
import { NatsConnection } from '../../../plugins/clients/nats/connection.ts';
import { standardTls } from '../../../plugins/clients/tls/client-tls.ts';
import { natsDialect } from '../dialects.ts';
import { askOnce, hostileTarget } from '../hostile-target.ts';

/** A misbehaving NATS server. */
export const nats = hostileTarget({
  name: 'nats',
  dialect: natsDialect,
  rooms: ['plugins/clients/nats/'],
  deadlineMs: 300,
  recoveryMs: 12_000,
  drive(port) {
    const who = { user: undefined, password: undefined, token: undefined, needsTls: false, tls: standardTls() };
    const settings = { servers: [`127.0.0.1:${port}`], ...who, denied: new DeniedAddresses() };
    const connection = new NatsConnection(settings, 'a');
    connection.open(silentLog);
    return {
      ask: () =>
        askOnce(
          (call) => connection.publish('a', { payload: Buffer.from('x'), headers: [] }, call),
          BackendError,
          CallError,
        ),
      close: () => connection.close(),
    };
  },
});
