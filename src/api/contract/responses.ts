import type { SessionId } from '../../core/session/session-id-and-name.ts'

/** CPU time and memory that the processes of a session use. */
export interface UsageView {
  readonly processes: number
  /** Processor time of the live processes. */
  readonly cpuSeconds: number
  readonly memoryBytes: number
}

/** A session as every client shows it. Times are ISO 8601. New versions add fields, and never rename or remove them. */
export interface SessionView {
  /** The tmux session's name: `<agent>-<task>`. */
  readonly name: string
  readonly id: SessionId
  readonly task: string
  /** The name that `oneshot rename` gave it; null without a rename. */
  readonly label: string | null
  readonly agent: string
  readonly mode: 'headless' | 'tty'
  readonly phase: 'starting' | 'running' | 'resting' | 'blocked' | 'stopping' | 'ended'
  /** True when its process has ended and no supervisor runs that could restart it; absent otherwise. */
  readonly isUnsupervised?: true
  readonly outcome: 'done' | 'failed' | 'stopped' | 'gave-up' | null
  /** The reason for this phase or end, one sentence with the evidence. */
  readonly reason: string | null
  /** The reason in one word, such as crash, silence, rate-limit or login; null without trouble, and when it is done. */
  readonly trouble: string | null
  /**
   * An action of the supervisor on this session that has failed at least twice in a row; the supervisor tries it again.
   * Absent otherwise.
   */
  readonly repeatedTrouble?:
    | {
        /** Names the action, such as `ending the processes of attempt 3`. */
        readonly doing: string
        readonly count: number
        /** The time of the first failure. */
        readonly since: string
        /** The reason of the last failure. */
        readonly reason: string
      }
    | undefined
  /** The prompt's first line, or the command. */
  readonly title: string
  readonly cwd: string
  /** The id of the session that started it, such as a Ralph loop; null when a person started it. */
  readonly parent: SessionId | null
  readonly attempt: number
  readonly restarts: number
  /** The agent's process; null when none is alive. */
  readonly pid: number | null
  readonly exitCode: number | null
  readonly signal: string | null
  /** The agent's own conversation id. */
  readonly thread: string | null
  readonly autonomy: 'full' | 'edits' | 'ask'
  readonly model: string | null
  /** The current activity: a running tool, or the error after which the agent tries again. */
  readonly activity: string | null
  /** Number of messages including the prompt, and number of messages that the agent has read. */
  readonly messages: { readonly accepted: number; readonly confirmed: number }
  /** The usage of all attempts together. */
  readonly spent: {
    readonly turns: number
    readonly inputTokens: number
    readonly cachedTokens: number
    readonly outputTokens: number
    readonly costUsd: number | null
  }
  /** The newest checkpoint of its work; null when there is none. */
  readonly checkpoint: {
    readonly number: number
    readonly at: string
    readonly trigger: string
    /** Omitted parts with the reason, one sentence each. */
    readonly leftOut: readonly string[]
  } | null
  /** True when oneshot saves another checkpoint now or will do so. */
  readonly isSaving: boolean
  /** The reason that the last checkpoint failed; null when it succeeded. */
  readonly checkpointTrouble: string | null
  /**
   * The remote, the newest pushed checkpoint, and the reason that no newer one is there; null when the session does not
   * push.
   */
  readonly push: {
    readonly remote: string
    readonly number: number | null
    readonly trouble: string | null
    /** The obstacle on the remote, and the other name under which oneshot pushes the checkpoints. */
    readonly note?: string
  } | null
  /** Number of its tasks. */
  readonly tasks: { readonly open: number; readonly done: number }
  readonly createdAt: string
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly lastOutputAt: string | null
  /** The time at which a resting session continues. */
  readonly until: string | null
  /** The time at which the time limit ends it. */
  readonly deadline: string | null
}

/** The findings about a session, and the effect that a resume would have. */
export interface ResumePreview {
  /** One sentence each. */
  readonly found: readonly string[]
  readonly next: string
  /** For work from elsewhere: the complete texts that the agent would read. */
  readonly texts?: {
    readonly messages: readonly string[]
    readonly lastWords: string
    readonly tasks: readonly string[]
    /** The check that would run. */
    readonly check: string | null
  }
}

/** A message for the agent. */
export interface MessageView {
  /** 1 is the prompt. */
  readonly number: number
  readonly state: 'accepted' | 'delivered' | 'confirmed'
  /** The first line of the message. */
  readonly gist: string
  readonly acceptedAt: string
  readonly deliveredAt: string | null
  readonly confirmedAt: string | null
}

/** The state of a session's working tree at one moment. */
export interface CheckpointView {
  readonly number: number
  readonly at: string
  /** start, edit, interval, restart, error, stop, end, asked or restore. */
  readonly trigger: string
  readonly attempt: number
  readonly commit: string
  /** The commit of HEAD at that moment; null in a repository without a commit. */
  readonly head: string | null
  /** Changes since the previous checkpoint. */
  readonly files: number
  readonly added: number
  readonly removed: number
  /** Omitted parts with the reason. */
  readonly leftOut: readonly string[]
}

/** The result of a restore. */
export interface RestoredView {
  readonly checkpoint: CheckpointView
  /** Null when the files are in the working tree itself. */
  readonly branch: string | null
  readonly worktree: string | null
  /** The state of the working tree before; null when the restore did not change it. */
  readonly before: CheckpointView | null
  /** Number of files in the working tree that differ from before; null when the restore did not change it. */
  readonly files: number | null
  /** Parts that oneshot could not restore, one sentence each. */
  readonly missing: readonly string[]
}

/** A task of a session. */
export interface TaskView {
  /** The id in its source: a number, a few letters, or an issue's id. */
  readonly id: string
  readonly title: string
  readonly state: 'open' | 'doing' | 'done'
  /**
   * The origin of the task: the agent's own plan, a person (or the agent) with `oneshot tasks`, or the project's task
   * tracker.
   */
  readonly source: 'agent' | 'user' | 'beads'
}

/** An event of a session. New versions add kinds and details, and never rename or remove them. */
export interface EventView {
  readonly at: string
  readonly type: string
  /** The event as a sentence. */
  readonly text: string
  readonly details: Readonly<Record<string, unknown>>
}

export interface DaemonView {
  readonly pid: number
  readonly epoch: number
  readonly version: string
  readonly startedAt: string
  readonly home: string
  readonly sessions: { readonly live: number; readonly ended: number }
}

/** A channel of the user as `notify list` shows it, without secrets. */
export interface ChannelView {
  readonly name: string
  readonly type: string
  readonly events: readonly string[]
  /** The other settings, with masked secrets. */
  readonly settings: Readonly<Record<string, string>>
  /** Number of waiting notices, and the time of the next try. */
  readonly pending: number
  readonly nextAt: string | null
  readonly deliveredAt: string | null
  /** The last failure, unless a delivery has succeeded since. */
  readonly failedAt: string | null
  readonly failure: string | null
}

/** The result of a test on a channel. */
export interface ChannelTestView {
  readonly channel: string
  readonly ok: boolean
  /** The way of the delivery, or the reason of its failure. */
  readonly remark: string
}
