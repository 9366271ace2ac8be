export { silentSinks } from '../contract/internal.ts';
export { type Stand, type Surroundings, stand } from './stand.ts';
export type { TestRequest } from './test-request.ts';
