import type { Target } from '../target.ts';
import { admin } from './admin.ts';
import { cel } from './cel.ts';
import { components } from './components.ts';
import { configuration } from './configuration.ts';
import { exactJson } from './exact-json.ts';
import { httpServer } from './http-server.ts';
import { http1Responses } from './http1-responses.ts';
import { jmespath } from './jmespath.ts';
import { lua } from './lua.ts';
import { patterns } from './patterns.ts';
import { syntaxes } from './syntaxes.ts';
import { templates } from './templates.ts';

export const targets: readonly Target[] = [
  http1Responses,
  httpServer,
  exactJson,
  syntaxes,
  configuration,
  patterns,
  templates,
  cel,
  jmespath,
  lua,
  components,
  admin,
];
