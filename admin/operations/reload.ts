import { applyChange, changeAnswers, changeParameters, changeProblems } from '../change.ts';
import type { Operation } from '../operation.ts';
import { changeHeaders } from '../parameters.ts';

export const reload: Operation = {
  method: 'POST',
  path: '/v1/reload',
  scope: 'write',
  summary: 'Read the configuration again from where it came from, and apply it.',
  parameters: [...changeParameters, ...changeHeaders],
  answers: changeAnswers,
  problems: changeProblems,
  changes: true,
  async handle(ctx, admin) {
    await applyChange(ctx, admin, { trigger: 'api' });
  },
};
