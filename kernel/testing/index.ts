export { type Stand, type Surroundings, silentSinks, stand, type TestRequest } from './stand.ts';
