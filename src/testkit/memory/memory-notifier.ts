import type { World } from '../../engine/world.ts'
import { MemoryCheckpoints } from './memory-checkpoints.ts'
import type { Bulletin } from '../../core/bulletin.ts'
import type { HookCall } from '../../core/hooks.ts'
import { NOTICE_KINDS, type NoticeKind } from '../../core/notice-kinds.ts'
import type { Hooks, Notifier } from '../../ports/notifier.ts'
import { MemoryBeads, memoryTracker } from './memory-tracker.ts'
import { memoryWitness, NOTHING_DONE } from './memory-witness.ts'

/** People who hear of things, and hooks that are run. They outlive the supervisors that tell them. */
export class Audience {
  channels: { readonly name: string; readonly events: readonly NoticeKind[] }[] = [
    { name: 'phone', events: NOTICE_KINDS },
  ]
  /** `channel id`, in the order they were heard. */
  readonly heard: string[] = []
  readonly bulletins: Bulletin[] = []
  readonly ran: string[] = []
  /** Stands in the way of a delivery, where somebody put something there. */
  obstacle: (channel: string) => Promise<void> | void = () => undefined
  hook: (call: HookCall, signal: AbortSignal) => Promise<{ ok: boolean; reason: string }> = async () => {
    return { ok: true, reason: 'exit code 0' }
  }
}

export function memoryNotifier(audience: Audience): Notifier {
  return {
    channels: async () => audience.channels,
    deliver: async (channel, bulletin) => {
      await audience.obstacle(channel)
      audience.heard.push(`${channel} ${bulletin.id}`)
      audience.bulletins.push(bulletin)
      return 'heard'
    },
  }
}

export function memoryHooks(audience: Audience): Hooks {
  return {
    run: async (call, signal) => {
      audience.ran.push(call.id)
      return await audience.hook(call, signal)
    },
  }
}

/** For an engine whose notices, checkpoints and tasks are of no interest. */
export function nobody(): Pick<World, 'notifier' | 'hooks' | 'checkpoints' | 'tracker' | 'witness' | 'say'> {
  const audience = new Audience()
  audience.channels = []
  return {
    notifier: memoryNotifier(audience),
    hooks: memoryHooks(audience),
    checkpoints: new MemoryCheckpoints({ repository: null }),
    tracker: memoryTracker(new MemoryBeads()),
    witness: memoryWitness(() => NOTHING_DONE),
    say: () => undefined,
  }
}
