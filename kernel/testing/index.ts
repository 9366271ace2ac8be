export { silentSinks } from '#contract';
export { type Stand, type Surroundings, stand, type TestRequest } from './stand.ts';
