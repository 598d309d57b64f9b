import * as z from 'zod/mini'
import { LONGEST_DURATION } from '../../lib/time.ts'
import { refusal } from './problems.ts'
import type {
  ImportRequest,
  CleanRequest,
  NotifyTestRequest,
  RestoreSavedSessionRequest,
  RestoreRequest,
  RenameRequest,
  ResumeRequest,
  RunRequest,
  SendRequest,
  StopRequest,
  TasksRequest,
} from './requests.ts'

const nonEmpty = z.string().check(z.minLength(1))
const count = z.int().check(z.gte(0), z.lte(1_000_000))
const duration = z.int().check(z.gte(0), z.lte(LONGEST_DURATION))

/** The daemon validates each request with these schemas when it arrives. */
const runFields = {
  cwd: nonEmpty,
  env: z.record(z.string(), z.string()),
  umask: z.exactOptional(z.int().check(z.gte(0), z.lte(0o777))),
  mode: z.exactOptional(z.enum(['headless', 'tty'])),
  maxTime: z.nullable(z.int().check(z.positive(), z.lte(LONGEST_DURATION))),
  restart: z.exactOptional(
    z.strictObject({
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
      silence: z.exactOptional(z.nullable(z.int().check(z.positive(), z.lte(LONGEST_DURATION)))),
      limit: z.exactOptional(z.nullable(duration)),
      absence: z.exactOptional(z.nullable(duration)),
    }),
  ),
  memory: z.exactOptional(z.int().check(z.positive())),
  maxOutput: z.exactOptional(z.nullable(z.int().check(z.positive()))),
  saving: z.exactOptional(
    z.strictObject({
      mode: z.exactOptional(z.enum(['ref', 'branch', 'off'])),
      interval: z.exactOptional(z.int().check(z.positive(), z.lte(LONGEST_DURATION))),
      push: z.exactOptional(z.nullable(nonEmpty)),
      pushUntracked: z.exactOptional(z.boolean()),
      nested: z.exactOptional(z.boolean()),
    }),
  ),
  alertAfter: z.exactOptional(count),
  autonomy: z.exactOptional(z.enum(['full', 'edits', 'ask'])),
  model: z.exactOptional(nonEmpty),
  effort: z.exactOptional(nonEmpty),
  limits: z.exactOptional(
    z.strictObject({
      usd: z.exactOptional(z.number().check(z.positive())),
      tokens: z.exactOptional(z.int().check(z.positive())),
      turns: z.exactOptional(z.int().check(z.positive())),
    }),
  ),
  verify: z.exactOptional(z.strictObject({ git: z.boolean(), check: z.nullable(nonEmpty) })),
  onExit: z.exactOptional(z.array(z.string()).check(z.minLength(1))),
  tty: z.exactOptional(nonEmpty),
  projectFiles: z.exactOptional(z.boolean()),
  beads: z.exactOptional(z.boolean()),
}

const runRequest: z.ZodMiniType<RunRequest> = z.strictObject({
  ...runFields,
  agent: nonEmpty,
  argv: z.array(z.string()),
  prompt: z.exactOptional(z.base64()),
  name: z.exactOptional(z.string()),
  isNameMadeUp: z.exactOptional(z.literal(true)),
  thread: z.exactOptional(nonEmpty),
  parent: z.exactOptional(z.strictObject({ id: nonEmpty, key: nonEmpty })),
})

const importRequest: z.ZodMiniType<ImportRequest> = z.strictObject({
  sessionId: nonEmpty,
  name: nonEmpty,
  dryRun: z.exactOptional(z.literal(true)),
  claim: z.exactOptional(z.strictObject({ remote: nonEmpty, isTakeOver: z.boolean() })),
  run: z.strictObject(runFields),
})

const resumeRequest: z.ZodMiniType<ResumeRequest> = z.strictObject({
  env: z.exactOptional(z.record(z.string(), z.string())),
  cwd: z.exactOptional(nonEmpty),
})

const renameRequest: z.ZodMiniType<RenameRequest> = z.strictObject({ name: nonEmpty })

const sendRequest: z.ZodMiniType<SendRequest> = z.strictObject({ key: nonEmpty, text: z.base64() })

const stopRequest: z.ZodMiniType<StopRequest> = z.strictObject({ now: z.exactOptional(z.literal(true)) })

const tasksRequest: z.ZodMiniType<TasksRequest> = z.union([
  z.strictObject({ action: z.literal('add'), titles: z.array(z.string()).check(z.minLength(1)) }),
  z.strictObject({ action: z.enum(['open', 'doing', 'done']), ids: z.array(z.string()).check(z.minLength(1)) }),
])

const cleanRequest: z.ZodMiniType<CleanRequest> = z.strictObject({
  ids: z.array(z.string()),
  checkpoints: z.exactOptional(z.literal(true)),
})

const notifyTestRequest: z.ZodMiniType<NotifyTestRequest> = z.strictObject({
  channel: z.exactOptional(nonEmpty),
  tty: z.exactOptional(nonEmpty),
})

const restoreFields = {
  checkpoint: z.int().check(z.positive()),
  here: z.exactOptional(z.literal(true)),
  branch: z.exactOptional(nonEmpty),
  worktree: z.exactOptional(nonEmpty),
}

const restoreRequest: z.ZodMiniType<RestoreRequest> = z.strictObject(restoreFields)

const restoreSavedSessionRequest: z.ZodMiniType<RestoreSavedSessionRequest> = z.strictObject({
  ...restoreFields,
  sessionId: nonEmpty,
  name: nonEmpty,
  cwd: nonEmpty,
  umask: z.int().check(z.gte(0), z.lte(0o777)),
})

export const parseImportRequest = (body: unknown): ImportRequest => parse(importRequest, body)
export const parseRestoreRequest = (body: unknown): RestoreRequest => parse(restoreRequest, body)
export const parseRestoreSavedSessionRequest = (body: unknown): RestoreSavedSessionRequest =>
  parse(restoreSavedSessionRequest, body)
export const parseRunRequest = (body: unknown): RunRequest => parse(runRequest, body)
export const parseResumeRequest = (body: unknown): ResumeRequest => parse(resumeRequest, body)
export const parseRenameRequest = (body: unknown): RenameRequest => parse(renameRequest, body)
export const parseSendRequest = (body: unknown): SendRequest => parse(sendRequest, body)
export const parseStopRequest = (body: unknown): StopRequest => parse(stopRequest, body)
export const parseTasksRequest = (body: unknown): TasksRequest => parse(tasksRequest, body)
export const parseCleanRequest = (body: unknown): CleanRequest => parse(cleanRequest, body)
export const parseNotifyTestRequest = (body: unknown): NotifyTestRequest => parse(notifyTestRequest, body)

function parse<T>(schema: z.ZodMiniType<T>, body: unknown): T {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const issues = result.error.issues.map(issue => `${issue.path.join('.') || 'it'}: ${issue.message}`)
  throw refusal('usage', `the request is not valid: ${issues.join('; ')}`)
}
