/** The list of models, in a form valid for both Anthropic and OpenAI. */
export const MODELS = {
  object: 'list',
  data: [
    {
      id: 'mock-model',
      object: 'model',
      type: 'model',
      display_name: 'Mock model',
      created: 1_760_000_000,
      created_at: '2025-10-09T08:53:20Z',
      owned_by: 'oneshot',
    },
  ],
  has_more: false,
  first_id: 'mock-model',
  last_id: 'mock-model',
}
