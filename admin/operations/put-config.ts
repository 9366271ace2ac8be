import { acceptedConfigs, demandConfigBody } from '../body.ts';
import { changeAnswers } from '../change.ts';
import { keepSecrets } from '../keep-secrets.ts';
import type { Operation } from '../operation.ts';
import { demandWritable, replaceConfig, replaceParameters, replaceProblems } from '../replace-config.ts';

export const putConfig: Operation = {
  method: 'PUT',
  path: '/v1/config',
  scope: 'write',
  summary: 'Replace the whole configuration. A *** where a secret stands keeps the present one.',
  parameters: replaceParameters,
  accepts: acceptedConfigs,
  answers: changeAnswers,
  problems: replaceProblems,
  changes: true,
  async handle(ctx, admin) {
    demandWritable(admin);
    const given = await demandConfigBody(ctx, admin);
    await replaceConfig(ctx, admin, given.format, () => keepSecrets(given, admin.gateway));
  },
};
