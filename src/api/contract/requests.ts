/** The request of `run`. The client resolves the configuration; the daemon checks the rest. */
export interface RunRequest {
  /** An agent's kind, or `command` for any program. */
  readonly agent: string
  /** For `command`, the program and its arguments; for an agent, arguments that it receives unchanged. */
  readonly argv: readonly string[]
  /** Base64, because a prompt may hold any bytes. Absent for commands. */
  readonly prompt?: string
  /** The task's name; generated from the prompt when absent. */
  readonly name?: string
  /** The client generated the name: the daemon adds a number while a live session has it. */
  readonly isNameMadeUp?: true
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The permissions that new files do not get. Absent: 022. */
  readonly umask?: number
  /** Absent: the agent's own default. */
  readonly mode?: 'headless' | 'tty'
  /** Milliseconds; null for no limit. */
  readonly maxTime: number | null
  /** The restart policy. The daemon fills absent fields with the defaults. */
  readonly restart?: {
    /** `failure`: oneshot also restarts a failed command. */
    readonly on?: 'crash' | 'failure'
    readonly limit?: number
    readonly window?: number
    readonly firstDelay?: number
    readonly nextDelay?: number
    readonly maxDelay?: number
  }
  /** Milliseconds; null for no limit. Absent: the default; for silence, the agent's own. */
  readonly patience?: {
    readonly silence?: number | null
    /** 0: the session does not wait for a usage limit. */
    readonly limit?: number | null
    readonly absence?: number | null
  }
  /** Bytes of memory that its processes may use together. Absent: no limit. */
  readonly memory?: number
  /** Bytes that all its attempts may write together; null for no limit. Absent: 1 GB. */
  readonly maxOutput?: number | null
  /** The checkpoint options. The daemon fills absent fields with the defaults. */
  readonly saving?: {
    readonly mode?: 'ref' | 'branch' | 'off'
    /** Milliseconds. */
    readonly interval?: number
    /** A git remote; null for none. */
    readonly push?: string | null
    /** True: oneshot also saves and pushes untracked files that look like secrets. */
    readonly pushUntracked?: boolean
    /** True: oneshot also saves other repositories in the working tree. */
    readonly nested?: boolean
  }
  /** More restarts than this within an hour send a notification. */
  readonly alertAfter?: number
  /** The actions that the agent may take without asking. Absent: full. */
  readonly autonomy?: 'full' | 'edits' | 'ask'
  /** Model and effort, by the agent's own names. */
  readonly model?: string
  readonly effort?: string
  /** The total budget of the session. Absent: no limit. */
  readonly limits?: { readonly usd?: number; readonly tokens?: number; readonly turns?: number }
  /** The agent's own id of a conversation to continue. */
  readonly thread?: string
  /** The proof that the session needs to end as done: changes that git shows, and a shell line that passes. */
  readonly verify?: { readonly git: boolean; readonly check: string | null }
  /** A program and its arguments that run after each end of the session. */
  readonly onExit?: readonly string[]
  /** The terminal of the request, for a bell. */
  readonly tty?: string
  /** False: oneshot writes no files about the session into its project. Absent: true. */
  readonly projectFiles?: boolean
  /** True: the user agrees that oneshot runs bd if the project has `.beads`. Absent: oneshot does not run it. */
  readonly beads?: boolean
  /**
   * The session that starts this one; this one ends with it. `key` is the starter's own name for it: a repeated request
   * with the same key starts no second session.
   */
  readonly parent?: { readonly id: string; readonly key: string }
}

/** The changes that a resume makes. */
export interface ResumeRequest {
  /** Variables with new values, such as a key that had expired. */
  readonly env?: Readonly<Record<string, string>>
  /** The new folder, if the user has moved the project. */
  readonly cwd?: string
}

export interface RenameRequest {
  readonly name: string
}

export interface SendRequest {
  /** The sender's own name for this message: a repeated request with the same key creates no second message. */
  readonly key: string
  /** Base64. */
  readonly text: string
}

/** Adds tasks to a session, or changes their state. */
export type TasksRequest =
  | { readonly action: 'add'; readonly titles: readonly string[] }
  | { readonly action: 'open' | 'doing' | 'done'; readonly ids: readonly string[] }

export interface CleanRequest {
  /** Ids of ended sessions to remove with all their files. */
  readonly ids: readonly string[]
  /** Also removes their checkpoints from git. */
  readonly checkpoints?: true
}

export interface NotifyTestRequest {
  /** A channel's name; absent for all channels. */
  readonly channel?: string
  /** The terminal of the request, for a bell. */
  readonly tty?: string
}

/** The destination of a restore. */
export interface RestoreRequest {
  /** The number of the checkpoint. */
  readonly checkpoint: number
  /** Restores into the working tree itself, and saves its state first. */
  readonly here?: true
  /** Otherwise, restores onto this new branch … */
  readonly branch?: string
  /** … and into a new worktree at this absolute path. */
  readonly worktree?: string
}

/** Restores a checkpoint of a session that this daemon does not know. */
export interface RestoreSavedSessionRequest extends RestoreRequest {
  /** The session's id and name in the repository. */
  readonly sessionId: string
  readonly name: string
  /** A folder in the repository. */
  readonly cwd: string
  readonly umask: number
}

/** Continues a session here of which only the checkpoints are left. */
export interface ImportRequest {
  /** The session's id and name in the repository. */
  readonly sessionId: string
  readonly name: string
  /** Only returns the preview. */
  readonly dryRun?: true
  /**
   * The remote on which to claim the session, so that no other machine continues it as well; `isTakeOver` takes it from
   * a machine that has claimed it.
   */
  readonly claim?: { readonly remote: string; readonly isTakeOver: boolean }
  /** The local options; the checkpoint record holds the rest. */
  readonly run: Omit<RunRequest, 'agent' | 'argv' | 'prompt' | 'name' | 'thread' | 'parent'>
}

export interface StopRequest {
  /** Kills the session without asking it to end first. */
  readonly now?: true
}
