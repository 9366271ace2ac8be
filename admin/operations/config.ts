import type Koa from 'koa';
import { type Data, isObject } from '#contract';
import { ConfigText, canonicalData, decodeText, type Operations, parseJson, parsePointer } from '#kernel';
import { acceptedConfigs, demandBody, demandConfigBody } from '../body.ts';
import { changeResponses } from '../change.ts';
import { patchSchema } from '../comparing.ts';
import { currentEtag, demandIfMatch, hasCurrent } from '../etag.ts';
import { isRevealing, keepSecrets, shown } from '../keep-secrets.ts';
import type { Operation } from '../operation.ts';
import { queryText, queryWord, revealParameter } from '../parameters.ts';
import { jsonPatch, PatchError } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import { Problem } from '../problem.ts';
import { demandWritable, replaceConfig, replaceParameters, replaceProblems } from '../replace-config.ts';
import { documentOf, named, text } from '../schemas.ts';

/** The value at a pointer may be of any type. */
const section = named('ConfigurationPart', { description: 'A configuration, or the value at a JSON pointer in it.' });

const forms = ['effective', 'source', 'rendered'] as const;

const printers: Readonly<Record<string, (data: Data) => string | Promise<string>>> = {
  'application/json': (data) => JSON.stringify(data),
  'application/yaml': async (data) => (await import('../print-yaml.ts')).printYaml(data),
};

export const getConfig: Operation = {
  method: 'GET',
  path: '/v1/config',
  scope: 'read',
  summary: 'Show the active configuration, with secrets masked.',
  parameters: [
    {
      name: 'form',
      in: 'query',
      description:
        'View of the configuration: as written, as rendered from its template, or with the defaults of all fields except the fields of components.',
      schema: { type: 'string', enum: forms, default: 'effective' },
    },
    {
      name: 'pointer',
      in: 'query',
      description: 'JSON pointer of the part to return.',
      schema: { type: 'string', default: '' },
    },
    revealParameter,
    {
      name: 'If-None-Match',
      in: 'header',
      description:
        'ETag of a revision that the client has already. The response is 304 if that revision is still active.',
      schema: text,
    },
  ],
  responses: {
    200: { description: 'The configuration.', content: { 'application/json': section, 'application/yaml': section } },
    304: { description: 'The revision named by If-None-Match is still active.' },
  },
  problems: ['not-found'],
  async handle(ctx, { gateway }) {
    const mediaType = ctx.accepts(...Object.keys(printers)) || 'application/json';
    const form = queryWord(ctx, 'form', forms);
    const pointer = queryText(ctx, 'pointer') ?? '';
    const isWhole = isRevealing(ctx) && pointer === '';
    ctx.vary('Accept');
    ctx.set('ETag', currentEtag(gateway));
    if (hasCurrent(ctx, gateway)) {
      ctx.status = 304;
      return;
    }
    ctx.set('Content-Type', mediaType);
    const written = isWhole && form === 'source' ? asWritten(gateway, mediaType) : undefined;
    ctx.body = written ?? (await printedSection(ctx, gateway, form, pointer, mediaType));
  },
};

/** The original text of the configuration, including comments; undefined if it was written in a format other than the requested one. */
function asWritten({ serving }: Operations, mediaType: string): string | undefined {
  const { format, text: written } = serving.snapshot;
  return mediaType === `application/${format}` ? written : undefined;
}

function printedSection(
  ctx: Koa.Context,
  gateway: Operations,
  form: string,
  pointer: string,
  mediaType: string,
): string | Promise<string> {
  const data = form === 'effective' ? canonicalData(gateway.config) : (gateway.serving.snapshot.data as Data);
  if (pointer !== '' && !pointer.startsWith('/')) throw new Problem('bad-request', 'pointer must begin with a slash');
  const steps = parsePointer(pointer);
  const holder = steps.length === 0 ? undefined : valueAt(data, pointer, steps.slice(0, -1));
  return printers[mediaType]!(shown(ctx, gateway, valueAt(data, pointer, steps), pointer, holder));
}

/** @throws Problem not-found when the path does not exist. */
function valueAt(data: Data, pointer: string, steps: readonly string[]): Data {
  let value = data;
  for (const step of steps) {
    const holds = (Array.isArray(value) || isObject(value)) && step !== 'length' && Object.hasOwn(value, step);
    if (!holds) throw new Problem('not-found', `the configuration has no value at ${pointer}`);
    value = (value as Record<string, Data>)[step]!;
  }
  return value;
}

export const putConfig: Operation = {
  method: 'PUT',
  path: '/v1/config',
  scope: 'write',
  summary: 'Replace the whole configuration. `***` in place of a secret keeps the current value.',
  parameters: replaceParameters,
  accepts: acceptedConfigs,
  responses: changeResponses,
  problems: replaceProblems,
  changes: true,
  async handle(ctx, admin) {
    demandWritable(admin);
    const given = await demandConfigBody(ctx, admin);
    await replaceConfig(ctx, admin, given.format, 'text', () => keepSecrets(given, admin.gateway));
  },
};

const patches: Readonly<Record<string, (config: Data, patch: Data) => Data>> = {
  'application/merge-patch+json': mergePatch,
  'application/json-patch+json': jsonPatch,
};

const accepts = Object.keys(patches);

const mergePatchSchema = documentOf(
  'MergePatch',
  'JSON merge patch (RFC 7396): members to set; null removes a member.',
);

export const patchConfig: Operation = {
  method: 'PATCH',
  path: '/v1/config',
  scope: 'write',
  summary: 'Change parts of the active configuration, as shown by GET /v1/config?form=source. Requires If-Match.',
  parameters: replaceParameters,
  accepts,
  bodies: { 'application/merge-patch+json': mergePatchSchema, 'application/json-patch+json': patchSchema },
  responses: changeResponses,
  problems: [...replaceProblems, 'test-failed'],
  changes: true,
  async handle(ctx, admin) {
    demandWritable(admin);
    demandIfMatch(ctx);
    const { bytes, mediaType } = await demandBody(ctx, admin, accepts);
    const patch = parseJson(decodeText(bytes, 'patch.json'), 'patch.json');
    await replaceConfig(ctx, admin, 'json', 'edits', () => {
      const config = patched(mediaType, admin.gateway.serving.snapshot.data as Data, patch);
      if (!isObject(config)) throw new Problem('bad-request', 'the patched configuration is not an object');
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
