import type Koa from 'koa';
import type { Admin } from './operation.ts';
import { inQuery, queryText, queryWord } from './parameters.ts';
import { Problem } from './problem.ts';

const modes = ['strict'] as const;

/** Parameter that holds a change to contracts. */
export const contractsParameter = inQuery(
  'contracts',
  '`strict` rejects the change with 422 if it breaks a contract of the folder that `contracts` of admin/api names. The responses to the latest 200 requests that telemetry/recorder keeps in memory are compared with the contracts. No backend is called.',
  { type: 'string', enum: modes },
);

/** Folder of the contracts that a request holds the change to; undefined without one. @throws Problem bad-request. */
export function contractsOf(ctx: Koa.Context, { gateway, settings }: Admin): string | undefined {
  if (queryText(ctx, 'contracts') === undefined) return undefined;
  queryWord(ctx, 'contracts', modes);
  if (settings.contracts === undefined) {
    throw new Problem('bad-request', 'contracts=strict requires the setting "contracts" in admin/api');
  }
  if (gateway.recordings(1) === null) {
    throw new Problem('bad-request', 'contracts=strict requires recorded requests: configure telemetry/recorder');
  }
  return settings.contracts;
}
