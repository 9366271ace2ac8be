import { audit as auditConfig, severities } from '#kernel';
import type { Operation } from '../operation.ts';
import { flag, jsonResponse, listOf, mapOf, objectOf, oneOf, placeSchema, text, whole } from '../schemas.ts';
import { servedNow } from '../served.ts';

/** Schema of one recommendation. */
export const recommendation = objectOf('Recommendation', {
  rule: text,
  severity: oneOf(severities),
  message: text,
  note: flag,
  instances: listOf(placeSchema),
});

export const audit: Operation = {
  method: 'GET',
  path: '/v1/audit',
  scope: 'read',
  summary: 'Audit the active configuration: recommendations for security, performance and observability.',
  responses: {
    200: jsonResponse(
      'By rule.',
      objectOf('Audit', {
        recommendations: listOf(recommendation),
        stats: objectOf('AuditStats', { endpoints: whole, backends: whole, agents: whole, components: mapOf(whole) }),
      }),
    ),
  },
  async handle(ctx, { gateway }) {
    const { served, snapshot, origin, writtenPlace } = servedNow(gateway);
    const audited = { config: served.config, document: snapshot.data, origin };
    const { components } = gateway;
    const rules = await components.auditRules();
    ctx.body = auditConfig(audited, rules, {
      available: new Set(components.names),
      positionOf: writtenPlace,
      known: components.known,
    });
  },
};
