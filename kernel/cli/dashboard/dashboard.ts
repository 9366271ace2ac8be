import { Writable } from 'node:stream';
import type { Flags } from '#contract';
import { readArguments, UsageError } from '../arguments.ts';
import { adminVariables, type Command } from '../command.ts';
import { DEFAULT_ADDRESS, parseAddress } from '../remote/address.ts';
import { exitCodes, isRefusal } from '../remote/client.ts';
import { converse, remoteFlags } from '../remote/connect.ts';
import { printRefusal, readBody } from '../remote/show.ts';
import { showLink } from './show-link.ts';

const { json: _, ...connecting } = remoteFlags;

const flags = {
  print: { type: 'boolean', default: false, about: 'Print the link instead of opening it.' },
  demo: {
    type: 'boolean',
    default: false,
    about: 'Start a gateway with sample traffic, a slow and a failing backend and a reload every 30 seconds.',
  },
  ...connecting,
} as const satisfies Flags;

/** Opens the dashboard of a running gateway in the browser, signed in. */
export const dashboard: Command = {
  usage: '',
  flags,
  variables: adminVariables,
  summary: 'Open the dashboard of a running gateway in the browser.',
  details:
    'The link is valid for one minute and for a single use. It signs the browser in with the scopes of the token, for 12 hours.',
  async run(args, context) {
    const { values } = readArguments(args, flags, false);
    if (values.demo) {
      const { runDemo } = await import('./demo.ts');
      // The first attempts may fail because the gateway does not listen yet, so their errors are not shown.
      const stderr = new Writable({ write: (_chunk, _encoding, done) => done() });
      const printing = values.print ? ['--print'] : [];
      return runDemo(context, (admin, state) => {
        return dashboard.run(['--admin', admin, '--state-dir', state, ...printing], { ...context, stderr });
      });
    }
    const address = parseAddress(values.admin || context.env.GATEWAY_ADMIN_LISTEN || DEFAULT_ADDRESS);
    if (address.listen.startsWith('unix:')) {
      throw new UsageError('browsers cannot connect to a Unix socket: set the listen address of the admin port');
    }
    return converse({ ...values, json: false }, context, async (client) => {
      const response = await client.ask({ method: 'POST', path: '/v1/dashboard/codes' });
      const code = isRefusal(response.status) ? undefined : readBody<{ readonly code?: string }>(response)?.code;
      if (typeof code !== 'string') {
        printRefusal(context, response);
        return exitCodes.refused;
      }
      await showLink(context, `${address.base}/#code=${code}`, values.print);
      return exitCodes.ok;
    });
  },
};
