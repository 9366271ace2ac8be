import { atService, definePlugin, type Infer, type LogSink, offer, type Schema, type Site } from '#contract';
import { logWriters, type Report } from '../logging/log-writers.ts';
import { ADDRESS_PATTERN, parseAddress } from './address.ts';
import { gelfFormat, gelfPrinter } from './message.ts';
import { openTcp } from './tcp.ts';
import { openUdp } from './udp.ts';

const schema = {
  type: 'object',
  title: 'GELF',
  description: 'Graylog server that receives the logs in the Graylog Extended Log Format (GELF).',
  required: ['address', 'enable_tcp'],
  examples: [
    { address: 'graylog.internal:12201', enable_tcp: false },
    { address: '127.0.0.1:12201', enable_tcp: true },
  ],
  properties: {
    address: {
      type: 'string',
      pattern: ADDRESS_PATTERN,
      description: 'Host and port of the GELF input.',
      examples: ['graylog.internal:12201'],
    },
    enable_tcp: {
      type: 'boolean',
      description: 'Sends over TCP, with confirmed delivery. If disabled, sends compressed messages over UDP.',
    },
  },
} as const satisfies Schema;

/**
 * Sends the application log and the built-in access line as GELF 1.1 messages, in addition to the other outputs.
 * Buffers up to 1 MiB of lines while they cannot be sent; requests never wait for them. Code: `GELF_ADDRESS`.
 */
export const plugin = definePlugin({
  name: 'telemetry/gelf',
  description: 'Sends logs to Graylog.',
  requires: ['telemetry/logging'],
  leaves: ['requests', 'data'],
  offers: [logWriters],
  independent: true,
  places: [
    atService(schema, (site) => {
      const { sink, events } = openSink(site);
      return {
        logging: { outputs: [{ sink, format: gelfFormat(), fixed: true }], accessSink: accessSink(sink) },
        offers: [
          offer(logWriters, {
            reportTo(report) {
              events.report = report;
            },
          }),
        ],
      };
    }),
  ],
});

/** The connection survives reloads that do not change the address. */
function openSink(site: Site<Infer<typeof schema>>) {
  const { address, enable_tcp: isTcp } = site.config;
  if (parseAddress(address).port === 0)
    throw site.fault('GELF_ADDRESS', '/address', 'messages cannot be sent to port 0');
  site.connectsTo({ address, ...(!isTcp && { transport: 'udp' }) }, '/address');
  const sinks = site.use('sinks');
  const denied = site.use('denied');
  return site.keep(
    { address, isTcp },
    () => {
      const events: { report: Report } = { report: () => {} };
      const connection = isTcp
        ? openTcp(parseAddress(address), denied, {
            lost: (reason) => events.report('ERROR', `[GELF] cannot connect; log lines are buffered: ${reason}`),
            restored: () => events.report('INFO', '[GELF] reconnected'),
          })
        : openUdp(parseAddress(address));
      return { connection, sink: sinks.open(connection), events };
    },
    ({ connection, sink }) => {
      sink.close();
      connection.close();
    },
  );
}

/** Accepts access lines in the form the other outputs receive. */
function accessSink(sink: LogSink): LogSink {
  const print = gelfPrinter();
  return {
    terminal: false,
    get lost() {
      return sink.lost;
    },
    write: (line, level) => sink.write(print(line, level, Date.now()), level),
  };
}
