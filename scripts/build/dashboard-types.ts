import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import openapiTypes, { astToString } from 'openapi-typescript';
import { adminOperations } from '../../admin/api.ts';
import { describeAdmin } from '../../admin/openapi/admin-api.ts';

/** Types of the admin API, as the dashboard imports them. Not committed: every type check writes them. */
const FILE = 'dist/admin-api.d.ts';

/** Writes the types of the admin API, from its description. */
export async function writeDashboardTypes(): Promise<void> {
  mkdirSync(dirname(FILE), { recursive: true });
  const unused = () => Promise.reject(new Error('the API is only described'));
  const description = describeAdmin(adminOperations(unused), 'http://127.0.0.1:9180');
  writeFileSync(FILE, astToString(await openapiTypes(JSON.parse(JSON.stringify(description)))));
}
