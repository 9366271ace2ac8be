export { type AttackOptions, type AttackResult, attackConfiguration, type Finding } from './attack-configuration.ts';
export { showRequest } from './show-request.ts';
