import type { EngineContext } from '../../src/engine/context.ts'
import { InMemoryCheckpoints } from './checkpoints.ts'
import type { Notification } from '../../src/core/notify/notification.ts'
import type { HookCall } from '../../src/core/notify/notice.ts'
import { NOTICE_KINDS, type NoticeKind } from '../../src/core/notify/notice.ts'
import type { HookRunner, Notifier } from '../../src/ports/notifications.ts'
import { InMemoryBeads, inMemoryTracker } from './tracker.ts'
import { inMemoryWorkInspector, NO_WORK } from './work-inspector.ts'

/** Records deliveries and hook runs. It outlives the supervisors. */
export class NotificationLog {
  channels: { readonly name: string; readonly events: readonly NoticeKind[] }[] = [
    { name: 'phone', events: NOTICE_KINDS },
  ]
  /** Entries of the form `channel id`, in the order of delivery. */
  readonly delivered: string[] = []
  readonly notifications: Notification[] = []
  readonly hookRuns: string[] = []
  /** A test sets this function to delay or fail a delivery. */
  obstacle: (channel: string) => Promise<void> | void = () => undefined
  hook: (call: HookCall, signal: AbortSignal) => Promise<{ ok: boolean; reason: string }> = async () => {
    return { ok: true, reason: 'exit code 0' }
  }
}

export function inMemoryNotifier(log: NotificationLog): Notifier {
  return {
    channels: async () => log.channels,
    deliver: async (channel, notification) => {
      await log.obstacle(channel)
      log.delivered.push(`${channel} ${notification.id}`)
      log.notifications.push(notification)
      return 'heard'
    },
  }
}

export function inMemoryHookRunner(log: NotificationLog): HookRunner {
  return {
    run: async (call, signal) => {
      log.hookRuns.push(call.id)
      return await log.hook(call, signal)
    },
  }
}

/** Returns services for an engine in a test that ignores notices, checkpoints and tasks. */
export function noServices(): Pick<
  EngineContext,
  'notifier' | 'hooks' | 'checkpoints' | 'tracker' | 'workInspector' | 'log'
> {
  const audience = new NotificationLog()
  audience.channels = []
  return {
    notifier: inMemoryNotifier(audience),
    hooks: inMemoryHookRunner(audience),
    checkpoints: new InMemoryCheckpoints({ repository: null }),
    tracker: inMemoryTracker(new InMemoryBeads()),
    workInspector: inMemoryWorkInspector(() => NO_WORK),
    log: () => undefined,
  }
}
