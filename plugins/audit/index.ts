import type { AuditRule } from '#contract';
import { authenticationRules } from './authentication.ts';
import { deprecatedRules } from './deprecated.ts';
import { endpointRules } from './endpoints.ts';
import { ownRules } from './own.ts';
import { securityRules } from './security.ts';
import { telemetryRules } from './telemetry.ts';
import { trafficRules } from './traffic.ts';

/** Audit rules of this release, ordered by id. */
export const rules: readonly AuditRule[] = [
  ...authenticationRules,
  ...securityRules,
  ...trafficRules,
  ...telemetryRules,
  ...endpointRules,
  ...deprecatedRules,
  ...ownRules,
];
