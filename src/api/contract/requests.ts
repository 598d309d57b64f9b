/** What `run` asks for. The front resolves configuration; the daemon checks the rest. */
export interface RunRequest {
  /** An agent's kind, or `command` for any program. */
  readonly agent: string
  /** For `command` the program and its arguments; for an agent, arguments handed to it unchanged. */
  readonly argv: readonly string[]
  /** Base64, because a prompt may hold any bytes. Absent for commands. */
  readonly prompt?: string
  /** The task's name; made up from the prompt when absent. */
  readonly name?: string
  /** Nobody chose that name: while a live session has it, it gets a number. */
  readonly isNameMadeUp?: true
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The permissions that files made by the work do not get. Absent: the usual 022. */
  readonly umask?: number
  /** Absent: the agent's own default. */
  readonly mode?: 'headless' | 'tty'
  /** Milliseconds; null for no limit. */
  readonly maxTime: number | null
  /** How a dead attempt is followed by another. Absent, in whole or in part: the usual. */
  readonly restart?: {
    /** `failure`: a command that fails is started again, too. */
    readonly on?: 'crash' | 'failure'
    readonly limit?: number
    readonly window?: number
    readonly firstDelay?: number
    readonly nextDelay?: number
    readonly maxDelay?: number
  }
  /** Milliseconds; null for ever. Absent: the usual, for silence the agent's own. */
  readonly patience?: {
    readonly silence?: number | null
    /** 0: a usage limit is not waited for. */
    readonly limit?: number | null
    readonly absence?: number | null
  }
  /** Bytes that its processes may use together. Absent: no limit. */
  readonly memory?: number
  /** Bytes that all its attempts may write together; null for no limit. Absent: 1 GB. */
  readonly maxOutput?: number | null
  /** How its work is saved. Absent, in whole or in part: the usual. */
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
  /** More restarts than this within an hour are told to the owner. */
  readonly alertAfter?: number
  /** How much the agent may do without asking. Absent: full. */
  readonly autonomy?: 'full' | 'edits' | 'ask'
  /** The agent's own names for these. */
  readonly model?: string
  readonly effort?: string
  /** What the session may use up in all. Absent: no limit. */
  readonly limits?: { readonly usd?: number; readonly tokens?: number; readonly turns?: number }
  /** A conversation of the agent's to go on with, by its own id. */
  readonly thread?: string
  /** What must be shown before the work is called done: that git shows some, that a line for a shell passes. */
  readonly verify?: { readonly git: boolean; readonly check: string | null }
  /** A program and its arguments, to be run whenever the session has ended. */
  readonly onExit?: readonly string[]
  /** The terminal it is asked for on, for a bell. */
  readonly tty?: string
  /** False: no files about it in its project. Absent: there are. */
  readonly projectFiles?: boolean
  /** True: its user agrees that bd is run where its project has `.beads`. Absent: it is not run. */
  readonly beads?: boolean
  /**
   * The session it is started by, which it does not outlive. `key` is the starter's own name for it: the same one again is not a
   * second session.
   */
  readonly parent?: { readonly id: string; readonly key: string }
}

/** How a session is taken up again. */
export interface ResumeRequest {
  /** Variables that are different from now on, such as a key that had expired. */
  readonly env?: Readonly<Record<string, string>>
  /** Where its project is by now, when it was moved. */
  readonly cwd?: string
}

export interface RenameRequest {
  readonly name: string
}

export interface SendRequest {
  /** The sender's own name for this message: the same one again is not a second message. */
  readonly key: string
  /** Base64. */
  readonly text: string
}

/** Names pieces of a session's work, or says how they stand. */
export type TasksRequest =
  | { readonly action: 'add'; readonly titles: readonly string[] }
  | { readonly action: 'open' | 'doing' | 'done'; readonly ids: readonly string[] }

export interface CleanRequest {
  /** Ids of ended sessions to remove with all their files. */
  readonly ids: readonly string[]
  /** Their checkpoints go from git as well. */
  readonly checkpoints?: true
}

export interface NotifyTestRequest {
  /** A channel's name; absent for all of them. */
  readonly channel?: string
  /** The terminal it is asked for on, for a bell. */
  readonly tty?: string
}

/** Where a checkpoint is brought back to. */
export interface RestoreRequest {
  /** Its number. */
  readonly checkpoint: number
  /** Into the working tree itself, in the place of what is there, which is saved first. */
  readonly here?: true
  /** Else onto this new branch … */
  readonly branch?: string
  /** … and into a new worktree at this absolute path. */
  readonly worktree?: string
}

/** Brings back what was kept of a session that nobody here knows of. */
export interface RestoreSavedSessionRequest extends RestoreRequest {
  /** Whose, as they are named in the repository. */
  readonly sessionId: string
  readonly name: string
  /** In the repository of this folder. */
  readonly cwd: string
  readonly umask: number
}

/** Goes on here with a session of which only its checkpoints are left. */
export interface ImportRequest {
  /** Whose, as they are named in the repository. */
  readonly sessionId: string
  readonly name: string
  /** Only tell what would be done. */
  readonly dryRun?: true
  /** The remote that it is claimed on, so that no other machine continues it as well; also from one that has claimed it. */
  readonly claim?: { readonly remote: string; readonly isTakeOver: boolean }
  /** The rest was written down with them. */
  readonly run: Omit<RunRequest, 'agent' | 'argv' | 'prompt' | 'name' | 'thread' | 'parent'>
}

export interface StopRequest {
  /** Kill it without asking it first. */
  readonly now?: true
}
