/** Fields of a launch spec that a test does not care about. */
export const LAUNCH_DEFAULTS = {
  attempt: 1,
  env: {},
  stdin: undefined,
  thread: null,
  memory: null,
  mergeStderr: true,
  show: 'output',
} as const
