import type { AuditRule } from '#contract';
import { authenticationRules } from './authentication.ts';
import { deprecatedRules } from './deprecated.ts';
import { endpointRules } from './endpoints.ts';
import { ownRules } from './own.ts';
import { securityRules } from './security.ts';
import { telemetryRules } from './telemetry.ts';
import { trafficRules } from './traffic.ts';

/** The rules of this release, in order of the ids. */
export const rules: readonly AuditRule[] = [
  ...authenticationRules,
  ...securityRules,
  ...trafficRules,
  ...telemetryRules,
  ...endpointRules,
  ...deprecatedRules,
  ...ownRules,
];
