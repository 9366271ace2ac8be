import { audit, hashOfExamined, pointerOnly, positionsIn, readSnapshot, toIssues } from '#kernel';
import { acceptedConfigs, readConfigBody } from '../body.ts';
import { reachOf } from '../caller.ts';
import { guessesIn, keepSecrets } from '../keep-secrets.ts';
import type { Operation } from '../operation.ts';
import { queryFlag, queryWord } from '../parameters.ts';
import { configProblems } from '../problem.ts';
import { flag, issueSchema, jsonResponse, listOf, mapOf, objectOf, orNull, text, whole } from '../schemas.ts';
import { recommendation } from './audit.ts';

const levels = ['full', 'schema', 'syntax'] as const;

const valid = objectOf('Checked', {
  valid: flag,
  hash: orNull(text),
  endpoints: whole,
  backends: whole,
  namespaces: mapOf(whole),
  warnings: listOf(issueSchema),
  audit: listOf(recommendation),
  unread: listOf(text),
});

export const check: Operation = {
  method: 'POST',
  path: '/v1/check',
  scope: 'check',
  summary: 'Check a configuration or, without a body, the file on disk. Changes nothing.',
  parameters: [
    {
      name: 'level',
      in: 'query',
      description:
        'Depth of the check: parse only, validate without opening other files, or also read the files that the configuration names. With a token that lacks the scope "write", the check uses the plugins that are already loaded and opens no files; `unread` lists the files that were skipped.',
      schema: { type: 'string', enum: levels, default: 'full' },
    },
    {
      name: 'audit',
      in: 'query',
      description: 'Adds recommendations for improving the configuration.',
      schema: { type: 'boolean', default: false },
    },
  ],
  accepts: acceptedConfigs,
  bodyIsOptional: true,
  responses: {
    200: jsonResponse(
      'The configuration is valid. Hash and counts describe the resulting configuration. With a token that lacks the scope "write", the hash is null if it depends on files. If the token lacks "secrets" as well, the hash is also null if the body contains plaintext secrets.',
      valid,
    ),
  },
  problems: configProblems,
  async handle(ctx, admin) {
    const { gateway } = admin;
    const level = queryWord(ctx, 'level', levels);
    const isAudited = queryFlag(ctx, 'audit');
    const given = await readConfigBody(ctx, admin);
    // Masked secrets are restored, so that a configuration can be checked in the form in which the API shows it.
    const snapshot = await readSnapshot(given ? keepSecrets(given, gateway) : gateway.source, undefined, 'aside');
    const { document, data } = snapshot;
    const odd = document?.warnings ?? [];
    if (level === 'syntax') {
      const warnings = toIssues(document, odd, 'warning');
      ctx.body = {
        valid: true,
        hash: null,
        endpoints: 0,
        backends: 0,
        namespaces: {},
        warnings,
        audit: [],
        unread: [],
      };
      return;
    }
    const reach = reachOf(ctx, level === 'full');
    const examined = await gateway.examine(snapshot, reach, true);
    const isHashed = reach !== 'closed' || (examined.unread.length === 0 && !examined.registry.hasFilePlugins);
    const { config, origin, warnings } = examined;
    const position = document ? positionsIn(document) : pointerOnly;
    const available = new Set(gateway.components.names);
    const rules = isAudited ? await gateway.components.auditRules() : [];
    const { stats, recommendations } = audit({ config, document: data, origin }, rules, {
      available,
      positionOf: position,
      known: gateway.components.known,
    });
    ctx.body = {
      valid: true,
      hash: isHashed && guessesIn(ctx, given, gateway).size === 0 ? await hashOfExamined(examined) : null,
      endpoints: stats.endpoints,
      backends: stats.backends,
      namespaces: stats.components,
      warnings: toIssues(document, [...odd, ...warnings], 'warning', gateway.components.isSecret),
      audit: recommendations,
      unread: examined.unread,
    };
  },
};
