export { silentSinks } from '#contract';
export { type Stand, type Surroundings, stand } from './stand.ts';
export type { TestRequest } from './test-request.ts';
