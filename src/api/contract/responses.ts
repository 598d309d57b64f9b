/** CPU time and memory that the processes of a session use. */
export interface UsageView {
  readonly processes: number
  /** Processor time of those that live. */
  readonly cpuSeconds: number
  readonly memoryBytes: number
}

/** A session as every front shows it. Times are ISO 8601. Fields are added, never renamed or removed. */
export interface SessionView {
  /** The tmux session's name: `<agent>-<task>`. */
  readonly name: string
  readonly id: string
  readonly task: string
  /** The name that `oneshot rename` gave it; null unless it was renamed. */
  readonly label: string | null
  readonly agent: string
  readonly mode: 'headless' | 'tty'
  readonly phase: 'starting' | 'running' | 'resting' | 'blocked' | 'stopping' | 'ended'
  readonly outcome: 'done' | 'failed' | 'stopped' | 'gave-up' | null
  /** One sentence with the evidence: why it is in this phase or how it ended. */
  readonly reason: string | null
  /** The same in one word, such as crash, silence, rate-limit or login; null while all is well, and when it is done. */
  readonly trouble: string | null
  /** The prompt's first line, or the command. */
  readonly title: string
  readonly cwd: string
  /** The id of the session it was started by, such as a Ralph loop; null for one that a person has started. */
  readonly parent: string | null
  readonly attempt: number
  readonly restarts: number
  /** The agent's process, null when none lives. */
  readonly pid: number | null
  readonly exitCode: number | null
  readonly signal: string | null
  /** The agent's own conversation id. */
  readonly thread: string | null
  readonly autonomy: 'full' | 'edits' | 'ask'
  readonly model: string | null
  /** What it is at: a tool that runs, or what it tries again after. */
  readonly activity: string | null
  /** Messages so far, the prompt included, and how many of them the agent has read. */
  readonly messages: { readonly accepted: number; readonly confirmed: number }
  /** Used up by all attempts together. */
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
    /** What is not in it, and why: sentences. */
    readonly leftOut: readonly string[]
  } | null
  /** Whether another one is being made, or will be. */
  readonly isSaving: boolean
  /** Why the last one could not be made; null when it could. */
  readonly checkpointTrouble: string | null
  /** The remote that they are pushed to, the newest one that is there, and why no newer one is; null when none is wanted. */
  readonly push: {
    readonly remote: string
    readonly number: number | null
    readonly trouble: string | null
    /** What is in the way there, and under which name the checkpoints are pushed instead. */
    readonly note?: string
  } | null
  /** The pieces of its work. */
  readonly tasks: { readonly open: number; readonly done: number }
  readonly createdAt: string
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly lastOutputAt: string | null
  /** When a resting session goes on. */
  readonly until: string | null
  /** When the time limit ends it. */
  readonly deadline: string | null
}

/** What was found of a session, and what resuming it would do. */
export interface ResumePreview {
  /** One sentence each. */
  readonly found: readonly string[]
  readonly next: string
  /** Where the work comes from elsewhere: all that the agent would be given to read, whole. */
  readonly texts?: {
    readonly messages: readonly string[]
    readonly lastWords: string
    readonly tasks: readonly string[]
    /** The check that would be run. */
    readonly check: string | null
  }
}

/** Something for the agent to read. */
export interface MessageView {
  /** 1 is the prompt. */
  readonly number: number
  readonly state: 'accepted' | 'delivered' | 'confirmed'
  /** Its first line. */
  readonly gist: string
  readonly acceptedAt: string
  readonly deliveredAt: string | null
  readonly confirmedAt: string | null
}

/** The working tree of a session as it was at one moment. */
export interface CheckpointView {
  readonly number: number
  readonly at: string
  /** start, edit, interval, restart, error, stop, end, asked or restore. */
  readonly trigger: string
  readonly attempt: number
  readonly commit: string
  /** What HEAD was then; null in a repository without a commit. */
  readonly head: string | null
  /** Against the one before. */
  readonly files: number
  readonly added: number
  readonly removed: number
  /** What is not in it, and why. */
  readonly leftOut: readonly string[]
}

/** What became of a checkpoint that was brought back. */
export interface RestoredView {
  readonly checkpoint: CheckpointView
  /** Null when it is in the working tree itself. */
  readonly branch: string | null
  readonly worktree: string | null
  /** What was in the working tree before; null when that was not touched. */
  readonly before: CheckpointView | null
  /** How many files are different from before in the working tree; null when that was not touched. */
  readonly files: number | null
  /** What could not be brought back: sentences. */
  readonly missing: readonly string[]
}

/** A piece of a session's work. */
export interface TaskView {
  /** Of its source: a number, a few letters, or an issue's id. */
  readonly id: string
  readonly title: string
  readonly state: 'open' | 'doing' | 'done'
  /** Who named it: the agent in its own plan, a person (or the agent) by `oneshot tasks`, or the project's task tracker. */
  readonly source: 'agent' | 'user' | 'beads'
}

/** Something that became true of a session. Kinds and details are added, never renamed or removed. */
export interface EventView {
  readonly at: string
  readonly type: string
  /** The same as a sentence. */
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

/** A channel of the user's, as `notify list` tells it. Nothing secret is in it. */
export interface ChannelView {
  readonly name: string
  readonly type: string
  readonly events: readonly string[]
  /** The rest of its settings, secrets hidden. */
  readonly settings: Readonly<Record<string, string>>
  /** Notices that wait for it, and when the next is tried. */
  readonly pending: number
  readonly nextAt: string | null
  readonly deliveredAt: string | null
  /** What went wrong last, unless something went well since. */
  readonly failedAt: string | null
  readonly failure: string | null
}

/** What became of a test on a channel. */
export interface ChannelTestView {
  readonly channel: string
  readonly ok: boolean
  /** How it was told, or why it was not. */
  readonly remark: string
}
