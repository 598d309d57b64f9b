import * as z from 'zod/mini'
import { MAX_STOP_GRACE, type SupervisionRequest } from '../../core/session/supervision-options.ts'
import { LONGEST_DURATION } from '../../lib/time.ts'
import { type Body, nonEmpty, umask, validate } from './validate.ts'

const count = z.int().check(z.gte(0), z.lte(1_000_000))
const duration = z.int().check(z.gte(0), z.lte(LONGEST_DURATION))
const positiveDuration = z.int().check(z.positive(), z.lte(LONGEST_DURATION))
const positive = z.int().check(z.positive())

/** Durations are milliseconds, sizes are bytes, null means no limit, and absent fields get the defaults. */
const supervisionFields = {
  maxTime: z.nullable(positiveDuration),
  /** The total budget of the session. */
  limits: z.exactOptional(
    z.strictObject({
      usd: z.exactOptional(z.nullable(z.number().check(z.positive()))),
      tokens: z.exactOptional(z.nullable(positive)),
      turns: z.exactOptional(z.nullable(positive)),
    }),
  ),
  restart: z.exactOptional(
    z.strictObject({
      /** `failure`: oneshot also restarts a failed command. */
      on: z.exactOptional(z.enum(['crash', 'failure'])),
      limit: z.exactOptional(count),
      window: z.exactOptional(duration),
      firstDelay: z.exactOptional(duration),
      nextDelay: z.exactOptional(duration),
      maxDelay: z.exactOptional(duration),
    }),
  ),
  patience: z.exactOptional(
    z.strictObject({
      /** Absent: the agent's own limit. */
      silence: z.exactOptional(z.nullable(positiveDuration)),
      /** 0: the session does not wait for a usage limit. */
      limit: z.exactOptional(z.nullable(duration)),
      absence: z.exactOptional(z.nullable(duration)),
    }),
  ),
  /** The time between SIGINT and SIGTERM at a stop. */
  stopGrace: z.exactOptional(z.int().check(z.gte(0), z.lte(MAX_STOP_GRACE))),
  memory: z.exactOptional(z.nullable(positive)),
  maxOutput: z.exactOptional(z.nullable(positive)),
  /** The checkpoint options. */
  saving: z.exactOptional(
    z.strictObject({
      mode: z.exactOptional(z.enum(['ref', 'branch', 'off'])),
      interval: z.exactOptional(positiveDuration),
      /** A git remote; null for none. */
      push: z.exactOptional(z.nullable(nonEmpty)),
      /** True: oneshot also saves and pushes untracked files that look like secrets. */
      pushUntracked: z.exactOptional(z.boolean()),
      /** True: oneshot also saves other repositories in the working tree. */
      nested: z.exactOptional(z.boolean()),
    }),
  ),
  alertAfter: z.exactOptional(count),
  verify: z.exactOptional(z.strictObject({ git: z.boolean(), check: z.nullable(nonEmpty) })),
  onExit: z.exactOptional(z.array(z.string()).check(z.minLength(1))),
  projectFiles: z.exactOptional(z.boolean()),
  beads: z.exactOptional(z.boolean()),
} satisfies { readonly [K in keyof Required<SupervisionRequest>]: z.ZodMiniType<SupervisionRequest[K]> }

/** The local circumstances of a run. */
const localFields = {
  cwd: nonEmpty,
  env: z.record(z.string(), z.string()),
  /** The permissions that new files do not get. Absent: 022. */
  umask: z.exactOptional(umask),
  /** Absent: the agent's own default. */
  mode: z.exactOptional(z.enum(['headless', 'tty'])),
  /** The actions that the agent may take without asking. Absent: full. */
  autonomy: z.exactOptional(z.enum(['full', 'edits', 'ask'])),
  /** Model and effort, by the agent's own names. */
  model: z.exactOptional(nonEmpty),
  effort: z.exactOptional(nonEmpty),
  /** The terminal of the request, for a bell. */
  tty: z.exactOptional(nonEmpty),
}

const workFields = {
  /** An agent's kind, or `command` for any program. */
  agent: nonEmpty,
  /** For `command`, the program and its arguments; for an agent, arguments that it receives unchanged. */
  argv: z.array(z.string()),
  /** Base64, because a prompt may hold any bytes. Absent for commands. */
  prompt: z.exactOptional(z.base64()),
  /** The task's name; generated from the prompt when absent. */
  name: z.exactOptional(z.string()),
  /** The client generated the name: the daemon adds a number while a live session has it. */
  isNameMadeUp: z.exactOptional(z.literal(true)),
  /** The agent's own id of a conversation to continue. */
  thread: z.exactOptional(nonEmpty),
  /**
   * The session that starts this one; this one ends with it. `key` is the starter's own name for it: a repeated request
   * with the same key starts no second session.
   */
  parent: z.exactOptional(z.strictObject({ id: nonEmpty, key: nonEmpty })),
}

const local = z.object(localFields)
const work = z.object(workFields)
const supervision = z.object(supervisionFields)

/** The part of a request that a user gives for a session that began elsewhere. */
export type LocalRunRequest = Body<typeof local> & { readonly supervision: Body<typeof supervision> }

/** The request of `run`. The client resolves the configuration; the daemon checks the rest. */
export type RunRequest = Body<typeof work> & LocalRunRequest

/** On the wire the supervision fields stand beside the others: loops of older versions send them so. */
const runBody = z.strictObject({ ...workFields, ...localFields, ...supervisionFields })
export const localRunBody = z.strictObject({ ...localFields, ...supervisionFields })

export function parseRunRequest(body: unknown): RunRequest {
  return groupSupervision(validate(runBody, body))
}

/** Moves the supervision fields of a validated body into their group. */
export function groupSupervision<T extends Body<typeof supervision>>(
  body: T,
): Omit<T, keyof SupervisionRequest> & { readonly supervision: Body<typeof supervision> } {
  const isSupervision = ([name]: [string, unknown]): boolean => Object.hasOwn(supervisionFields, name)
  const entries = Object.entries(body)
  return {
    ...Object.fromEntries(entries.filter(entry => !isSupervision(entry))),
    supervision: Object.fromEntries(entries.filter(isSupervision)),
  } as Omit<T, keyof SupervisionRequest> & { readonly supervision: Body<typeof supervision> }
}
