import { deepEqual, equal } from 'node:assert/strict';
import type { DataObject } from '#contract';
import { createOrigin, createReport } from '../../../kernel/config/issues/report.ts';
import { nothingKnown } from '../../../kernel/config/normalize/known-plugins.ts';
import { checkStructure } from '../../../kernel/config/schema/structure.ts';

describe('the structure of a configuration', () => {
  it('is validated one endpoint at a time, so that requests are served in between', () => {
    const endpoints = Array.from({ length: 3 }, (_, at) => ({ endpoint: `/${at}`, methot: 'GET', backend: [] }));
    const document = { version: 3, extra_config: {}, methot: 'GET', endpoints } as unknown as DataObject;
    const report = createReport();
    const steps = checkStructure(document, createOrigin(), nothingKnown, report, () => undefined);
    const found: number[] = [];
    for (let step = steps.next(); !step.done; step = steps.next()) found.push(report.errors.length);
    deepEqual(found, [3, 5, 7]);
    equal(document['endpoints'], endpoints);
  });
});
