import { type ClientRequest, type DataObject, HeaderBag, Reply, type Step } from '#contract';
import { refusal } from './failure.ts';
import type { Model, Models } from './models.ts';

/** Lists all models, or describes the one named in the path. */
export function listModels(models: Models): Step<ClientRequest> {
  const list = { object: 'list', data: Array.from(models, ([id, model]) => described(id, model)) };
  return ({ params }, call) => {
    const id = params['Model'];
    if (id === undefined) return json(list);
    const model = models.get(id);
    return model ? json(described(id, model)) : refusal(call, unknownModel(id));
  };
}

export function unknownModel(id: string) {
  return {
    status: 404,
    message: `the model "${id}" does not exist`,
    type: 'invalid_request_error',
    code: 'model_not_found',
    param: 'model',
  } as const;
}

/** `created` is always 0: vendors do not report when a model was created. */
function described(id: string, { vendor }: Model): DataObject {
  return { id, object: 'model', created: 0, owned_by: vendor };
}

function json(data: DataObject): Reply {
  const reply = Reply.raw(200, new HeaderBag(['Content-Type', 'application/json']), Buffer.from(JSON.stringify(data)));
  reply.complete = null;
  return reply;
}
