import { type Data, isObject } from '#contract';
import { ConfigText, decodeText, parseJson } from '#kernel';
import { demandBody } from '../body.ts';
import { changeAnswers } from '../change.ts';
import { patchSchema } from '../comparing.ts';
import { demandIfMatch } from '../etag.ts';
import { keepSecrets } from '../keep-secrets.ts';
import type { Operation } from '../operation.ts';
import { jsonPatch, PatchError } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import { Problem } from '../problem.ts';
import { demandWritable, replaceConfig, replaceParameters, replaceProblems } from '../replace-config.ts';
import { documentOf } from '../schemas.ts';

const patches: Readonly<Record<string, (config: Data, patch: Data) => Data>> = {
  'application/merge-patch+json': mergePatch,
  'application/json-patch+json': jsonPatch,
};

const accepts = Object.keys(patches);

const mergePatchSchema = documentOf('MergePatch', 'Members that replace others; null takes one away (RFC 7396).');

export const patchConfig: Operation = {
  method: 'PATCH',
  path: '/v1/config',
  scope: 'write',
  summary: 'Change parts of the configuration that serves, as GET /v1/config?form=source shows it. Needs If-Match.',
  parameters: replaceParameters,
  accepts,
  bodies: { 'application/merge-patch+json': mergePatchSchema, 'application/json-patch+json': patchSchema },
  answers: changeAnswers,
  problems: [...replaceProblems, 'test-failed'],
  changes: true,
  async handle(ctx, admin) {
    demandWritable(admin);
    demandIfMatch(ctx);
    const { bytes, mediaType } = await demandBody(ctx, admin, accepts);
    const patch = parseJson(decodeText(bytes, 'patch.json'), 'patch.json');
    await replaceConfig(ctx, admin, 'json', () => {
      const config = patched(mediaType, admin.gateway.serving.snapshot.data as Data, patch);
      if (!isObject(config)) throw new Problem('bad-request', 'what is left is not an object');
      return keepSecrets(new ConfigText(`${JSON.stringify(config, null, 2)}\n`, 'json'), admin.gateway);
    });
  },
};

function patched(mediaType: string, config: Data, patch: Data): Data {
  try {
    return patches[mediaType]!(config, patch);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw new Problem(error.isTest ? 'test-failed' : 'bad-request', error.message);
  }
}
