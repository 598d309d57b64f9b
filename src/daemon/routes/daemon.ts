import { type RouteContext, type Routes, route } from './route.ts'

export const DAEMON_ROUTES: Routes = {
  'GET /v1/daemon': route({ handle: async context => context.describe(), full: 'any', confined: 'any' }),
  'POST /v1/daemon/stop': route({ handle: stopDaemon, full: 'never', confined: 'never' }),
}

async function stopDaemon(context: RouteContext): Promise<object> {
  setImmediate(context.stop) // The answer leaves first.
  return {}
}
