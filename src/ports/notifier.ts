import type { Bulletin } from '../core/bulletin.ts'
import type { HookCall } from '../core/hooks.ts'
import type { NoticeKind } from '../core/notice-kinds.ts'
import type { Duration } from '../lib/time.ts'
import { Trouble } from '../lib/trouble.ts'

/** A channel did not take a bulletin, and says when to come again. */
export class Busy extends Trouble {
  readonly wait: Duration

  constructor(doing: string, why: string, wait: Duration) {
    super(doing, why)
    this.wait = wait
  }
}

/** Where notices are told to people. It knows the user's configuration as it is at the moment of each call. */
export interface Notifier {
  /** Refuses when the configuration cannot be understood. */
  channels(): Promise<readonly { readonly name: string; readonly events: readonly NoticeKind[] }[]>
  /**
   * Tells it, once per call, and answers with a few words on how. Throws Trouble, without any secret in it; one that says
   * that a retry cannot help is not tried again. After a crash the same bulletin may come again, under the same id.
   */
  deliver(channel: string, bulletin: Bulletin, signal: AbortSignal): Promise<string>
}

/** Runs what the user wants run at the end of a session. */
export interface Hooks {
  /**
   * Runs it to its end and says how that was; it never throws. Everything it needs of the session is read before this
   * returns its promise. When the signal comes, all of it is killed.
   */
  run(call: HookCall, signal: AbortSignal): Promise<{ readonly ok: boolean; readonly reason: string }>
}
