import { ConfigText } from '#kernel';
import { applyChange, changeParameters, changeProblems, changeResponses } from '../change.ts';
import type { Operation } from '../operation.ts';
import { changeHeaders, numberInPath, pathNumber } from '../parameters.ts';
import { demandWritable } from '../replace-config.ts';
import { revisionAt } from '../revision-at.ts';

export const reload: Operation = {
  method: 'POST',
  path: '/v1/reload',
  scope: 'write',
  summary: 'Read the configuration again from its file or store, and apply it.',
  parameters: [...changeParameters, ...changeHeaders],
  responses: changeResponses,
  problems: changeProblems,
  changes: true,
  async handle(ctx, admin) {
    await applyChange(ctx, admin, { trigger: 'api' });
  },
};

export const rollback: Operation = {
  method: 'POST',
  path: '/v1/revisions/:number/rollback',
  scope: 'write',
  summary: 'Apply the configuration of an earlier revision as a new revision.',
  parameters: [numberInPath('number', 'The revision.'), ...changeParameters, ...changeHeaders],
  responses: changeResponses,
  problems: [...changeProblems, 'not-found', 'gone', 'writes-disabled'],
  changes: true,
  async handle(ctx, admin) {
    demandWritable(admin);
    const { number, text, format } = await revisionAt(admin.gateway, pathNumber(ctx, 'number'));
    const source = new ConfigText(text, format);
    await applyChange(ctx, admin, { trigger: 'rollback', source, message: `rollback to revision ${number}` });
  },
};
