import type { Vendor } from '../vendor.ts';
import { openaiV1 } from './openai-v1.ts';

/** Qwen models of Alibaba Cloud Model Studio, which has a server with OpenAI's Responses API in each region. */
export const alibabaV1: Vendor = {
  ...openaiV1,
  name: 'alibaba',
  defaultModel: 'qwen3.8-flash',
  address: () => 'https://token-plan.ap-southeast-1.maas.aliyuncs.com/compatible-mode/v1/responses',
};
