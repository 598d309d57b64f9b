/** What an order says when a test does not care. */
export const LAUNCH_DEFAULTS = {
  attempt: 1,
  env: {},
  stdin: undefined,
  thread: null,
  memory: null,
  mergeStderr: true,
  show: 'output',
} as const
