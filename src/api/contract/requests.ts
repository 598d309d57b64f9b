import * as z from 'zod/mini'
import { groupSupervision, type LocalRunRequest, localRunBody } from './run-request.ts'
import { type Body, nonEmpty, umask, validate } from './validate.ts'

// The daemon validates each request with these schemas. Clients import the types only, so that no command loads zod.

/** The changes that a resume makes. */
const resumeBody = z.strictObject({
  /** Variables with new values, such as a key that had expired. */
  env: z.exactOptional(z.record(z.string(), z.string())),
  /** The new folder, if the user has moved the project. */
  cwd: z.exactOptional(nonEmpty),
})
export type ResumeRequest = Body<typeof resumeBody>
export const parseResumeRequest = (body: unknown): ResumeRequest => validate(resumeBody, body)

const renameBody = z.strictObject({ name: nonEmpty })
export type RenameRequest = Body<typeof renameBody>
export const parseRenameRequest = (body: unknown): RenameRequest => validate(renameBody, body)

const sendBody = z.strictObject({
  /** The sender's own name for this message: a repeated request with the same key creates no second message. */
  key: nonEmpty,
  text: z.base64(),
})
export type SendRequest = Body<typeof sendBody>
export const parseSendRequest = (body: unknown): SendRequest => validate(sendBody, body)

const stopBody = z.strictObject({
  /** Kills the session without asking it to end first. */
  now: z.exactOptional(z.literal(true)),
})
export type StopRequest = Body<typeof stopBody>
export const parseStopRequest = (body: unknown): StopRequest => validate(stopBody, body)

/** Adds tasks to a session, or changes their state. */
const tasksBody = z.union([
  z.strictObject({ action: z.literal('add'), titles: z.array(z.string()).check(z.minLength(1)) }),
  z.strictObject({ action: z.enum(['open', 'doing', 'done']), ids: z.array(z.string()).check(z.minLength(1)) }),
])
export type TasksRequest = Body<typeof tasksBody>
export const parseTasksRequest = (body: unknown): TasksRequest => validate(tasksBody, body)

const cleanBody = z.strictObject({
  /** Ids of ended sessions to remove with all their files. */
  ids: z.array(z.string()),
  /** Also removes their checkpoints from git. */
  checkpoints: z.exactOptional(z.literal(true)),
})
export type CleanRequest = Body<typeof cleanBody>
export const parseCleanRequest = (body: unknown): CleanRequest => validate(cleanBody, body)

const notifyTestBody = z.strictObject({
  /** A channel's name; absent for all channels. */
  channel: z.exactOptional(nonEmpty),
  /** The terminal of the request, for a bell. */
  tty: z.exactOptional(nonEmpty),
})
export type NotifyTestRequest = Body<typeof notifyTestBody>
export const parseNotifyTestRequest = (body: unknown): NotifyTestRequest => validate(notifyTestBody, body)

const restoreFields = {
  /** The number of the checkpoint. */
  checkpoint: z.int().check(z.positive()),
  /** Restores into the working tree itself, and saves its state first. */
  here: z.exactOptional(z.literal(true)),
  /** Otherwise, restores onto this new branch … */
  branch: z.exactOptional(nonEmpty),
  /** … and into a new worktree at this absolute path. */
  worktree: z.exactOptional(nonEmpty),
}

const restoreBody = z.strictObject(restoreFields)
export type RestoreRequest = Body<typeof restoreBody>
export const parseRestoreRequest = (body: unknown): RestoreRequest => validate(restoreBody, body)

/** Restores a checkpoint of a session that this daemon does not know. */
const restoreSavedSessionBody = z.strictObject({
  ...restoreFields,
  /** The session's id and name in the repository. */
  sessionId: nonEmpty,
  name: nonEmpty,
  /** A folder in the repository. */
  cwd: nonEmpty,
  umask,
})
export type RestoreSavedSessionRequest = Body<typeof restoreSavedSessionBody>
export const parseRestoreSavedSessionRequest = (body: unknown): RestoreSavedSessionRequest =>
  validate(restoreSavedSessionBody, body)

/** Continues a session here of which only the checkpoints are left. */
const importBody = z.strictObject({
  /** The session's id and name in the repository. */
  sessionId: nonEmpty,
  name: nonEmpty,
  /** Only returns the preview. */
  dryRun: z.exactOptional(z.literal(true)),
  /**
   * The remote on which to claim the session, so that no other machine continues it as well; `isTakeOver` takes it from
   * a machine that has claimed it.
   */
  claim: z.exactOptional(z.strictObject({ remote: nonEmpty, isTakeOver: z.boolean() })),
  /** The local options; the checkpoint record holds the rest. */
  run: localRunBody,
})
export type ImportRequest = Omit<Body<typeof importBody>, 'run'> & { readonly run: LocalRunRequest }
export const parseImportRequest = (body: unknown): ImportRequest => {
  const request = validate(importBody, body)
  return { ...request, run: groupSupervision(request.run) }
}
